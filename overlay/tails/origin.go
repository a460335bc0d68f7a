package tails

import (
	"time"

	"github.com/venn-p2p/venn/overlay/bound"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

const (
	// maxChain is the most changes that the tails of an epoch carry, maxSegments the most tails in force at a time.
	maxChain    = bound.Many
	maxSegments = wire.MaxItemTails
	// tailBurst is the number of tails of one origin that are accepted after a pause; then one each tickEvery. An origin
	// makes no more.
	tailBurst = bound.Few
)

// origin holds what is known of one peer's tails, all of one epoch. For most origins chain is empty.
type origin struct {
	peer  wire.PeerID
	tag   uint64
	epoch summary.Epoch

	chain   []*Tail                      // tails in force: each starts where the one before ends, the first at state 0
	held    int                          // number of fingerprints in chain
	state   map[summary.Fingerprint]bool // sum of chain, see fold
	told    time.Duration                // when this node last told links that it cannot reach the origin
	lost    bool                         // links were told so, and not yet that it is back
	recent  float64                      // tails that came, less one for each tickEvery since
	counted time.Duration                // when recent was last brought up to date
	waits   time.Duration                // its tails are refused before then

	feeder wire.PeerID // the link that sends us each tail; "": the origin itself, or nobody
	left   bool        // the origin has announced that it leaves: it holds nothing
	moved  bool        // its tails now come from another link than the latest did
}

// group returns the group that names the origin's epoch.
func (o *origin) group() wire.GroupID { return wire.NewGroup(o.tag, o.epoch) }

// number returns the number of the state that the chain leads to.
func (o *origin) number() uint32 {
	if len(o.chain) == 0 {
		return 0
	}
	return o.chain[len(o.chain)-1].Number()
}

// changes returns the numbers of fingerprints that the tails add and remove.
func (o *origin) changes() (added, removed int) {
	for _, a := range o.state {
		if a {
			added++
		} else {
			removed++
		}
	}
	return added, removed
}

// before returns the number of tails of the chain that lead to a state; ok is false if none of them ends there.
func (o *origin) before(state uint32) (n int, ok bool) {
	if state == 0 {
		return 0, true
	}
	for i, t := range o.chain {
		if t.Number() == state {
			return i + 1, true
		}
	}
	return 0, false
}

// since returns the signed tails that lead a peer on from a state. If no tail of the chain ends there, the result
// follows the last tail that the peer certainly has in force, too. The caller must not change the tails.
func (o *origin) since(state uint32) (out [][]byte) {
	n, ok := o.before(state)
	if !ok {
		n = o.common(state)
	}
	out = make([][]byte, 0, len(o.chain)-n)
	for _, t := range o.chain[n:] {
		out = append(out, t.signed)
	}
	return out
}

// common returns the number of tails of the chain that are also in force at a peer whose state the chain skips. The
// peer's tails must cover the ranges that covers returns.
func (o *origin) common(state uint32) int {
	for ; state > 0; state -= covers(state) {
		if n, ok := o.before(state); ok {
			return n
		}
	}
	return 0
}

// base is the base of the ranges that tails cover. A greater base repeats fewer changes, and keeps more tails in force.
const base = 8

// covers returns the number of states that the tail to a state covers, if they fit: the largest power of base that
// divides it.
func covers(state uint32) uint32 {
	n := uint32(1)
	for ; state%base == 0 && state > 0; state /= base {
		n *= base
	}
	return n
}

// allow counts a tail that came, and reports whether it is within the rate.
func (o *origin) allow(now time.Duration) bool {
	o.recent = max(0, o.recent-float64(now-o.counted)/float64(tickEvery))
	o.counted = now
	if o.recent > tailBurst-1 {
		return false
	}
	o.recent++
	return true
}

// extend appends a tail to the chain, in place of all after its start. It returns false if t does not start where a
// tail in force ends.
func (o *origin) extend(t *Tail) bool {
	n, ok := o.before(t.From())
	if !ok {
		return false
	}
	o.chain, o.held = append(o.chain[:n:n], t), 0
	for _, t := range o.chain {
		o.held += t.Len()
	}
	return true
}

// fold returns the sum of the chain: true for fingerprints last added, false for fingerprints last removed.
func fold(chain []*Tail) map[summary.Fingerprint]bool {
	out := map[summary.Fingerprint]bool{}
	for _, t := range chain {
		for f := range t.Added() {
			out[f] = true
		}
		for f := range t.Removed() {
			out[f] = false
		}
	}
	return out
}
