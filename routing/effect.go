package routing

import (
	"fmt"
	"time"

	"github.com/venn-p2p/venn/overlay/wire"
)

// Confirm asks a peer whether it holds the key; it dials when need be, by the record's certified addresses. A record
// without an envelope is of a peer that the driver may or may not be able to reach.
type Confirm struct {
	ID  QueryID
	To  wire.Record
	Key []byte
}

// Ask puts a query to a peer. It asks who may hold the key: the peer is dialled by its record then, and linked if that
// has no envelope. Or it hands the search on to a linked peer, which may spend Budget messages on it besides its own
// first answer: then the driver fills in Within.
type Ask struct {
	ID QueryID
	To wire.Record
	wire.Query
	Deadline time.Duration // of a search
}

// Found streams a confirmed provider to the caller; each one once.
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

// Answer answers an [Asked]. Messages is what the request has cost here so far in all, this answer not included when it
// is the first. AsOf is the age of the oldest knowledge on which it relied so far, see [Stats].
type Answer struct {
	Request uint64
	wire.Answer
}

func (e Confirm) String() string { return fmt.Sprintf("Confirm %s %s %q", e.ID, e.To.Peer, e.Key) }

func (e Ask) String() string {
	if e.Kind == wire.Candidates {
		return fmt.Sprintf("AskCandidates %s %s %q %s", e.ID, e.To.Peer, e.Key, e.Mode)
	}
	return fmt.Sprintf("Forward %s %s %q %s want=%d budget=%d origin=%s nonce=%x deadline=%v hops=%d%s",
		e.ID, e.To.Peer, e.Key, e.Mode, e.Want, e.Budget, e.Origin, e.Nonce, e.Deadline, e.Hops, unlessZero(" fresh=", e.Fresh))
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

func (e Answer) String() string {
	return fmt.Sprintf("Answer #%d %s messages=%d%s%s", e.Request, peers(e.Records), e.Messages, unlessZero(" as of ", e.AsOf), final(e.Final))
}
