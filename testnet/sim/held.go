package sim

import (
	"github.com/venn-p2p/venn/summary"
	"github.com/venn-p2p/venn/testnet/holdings"
	"github.com/venn-p2p/venn/testnet/strategy"
)

// Held has the collections as they change, beginning with those of Data. It is not safe for concurrent use while
// it changes.
type Held struct {
	*holdings.Now[strategy.ID]
	data *Data
}

// NewHeld begins with the collections of Data.
func NewHeld(d *Data) *Held { return &Held{holdings.NewNow(d.Table), d} }

// Fingerprints returns the fingerprints of a peer's collection now, in a new slice.
func (h *Held) Fingerprints(p strategy.ID) []summary.Fingerprint {
	return h.data.fingerprintsOf(h.Collection(p))
}

// Change makes a change. It returns false if the peer holds the key already, or lacks it already.
func (h *Held) Change(c Change) bool { return h.Now.Change(c.Peer, c.Key, c.Held) }
