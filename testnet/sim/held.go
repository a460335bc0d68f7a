package sim

import (
	"github.com/venn-p2p/venn/summary"
	"github.com/venn-p2p/venn/testnet/holdings"
	"github.com/venn-p2p/venn/testnet/strategy"
)

// Held is who holds what while collections change: at first what Data says. It is not safe for concurrent use while it
// changes.
type Held struct {
	*holdings.Now[strategy.ID]
	data *Data
}

// NewHeld begins with what Data says.
func NewHeld(d *Data) *Held { return &Held{holdings.NewNow(d.Table), d} }

// Fingerprints are those of a peer's collection now, in a new slice.
func (h *Held) Fingerprints(p strategy.ID) []summary.Fingerprint {
	return h.data.fingerprintsOf(h.Collection(p))
}

// Change takes in a change; false: there was nothing to change.
func (h *Held) Change(c Change) bool { return h.Now.Change(c.Peer, c.Key, c.Held) }
