package routing

import (
	"fmt"

	"github.com/venn-p2p/venn/overlay/wire"
)

// Found hands a confirmed provider to the caller; each provider once.
type Found struct {
	ID       QueryID
	Provider wire.Record
}

// Done ends a query. Err is empty unless Stats.End is Refused.
type Done struct {
	ID    QueryID
	Stats Stats
	Err   string
}

func (e Found) String() string { return fmt.Sprintf("Found %s %s", e.ID, e.Provider.Peer) }

func (e Done) String() string {
	s := e.Stats
	out := fmt.Sprintf("Done %s %s found=%d probes=%d false=%d messages=%d elapsed=%v",
		e.ID, s.End, s.Found, s.Probes, s.FalseProbes, s.Messages, s.Elapsed)
	if e.Err != "" {
		out += " err=" + e.Err
	}
	return out
}
