package routing

import (
	"time"

	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/routing/frequency"
	"github.com/venn-p2p/venn/routing/match"
	"github.com/venn-p2p/venn/summary"
)

const (
	demandHalved = 10 * time.Second // time between halvings of the counts
	// demandError is the highest overestimate of a count, as a share of all counts. A peer is refused for what others
	// asked only if all together cost fifty times what one may.
	demandError = 0.02
	demandDelta = 0.02
	// forDemand is the part of the places for searches of others that is kept for keys in demand.
	forDemand = 4
)

// demand counts in count-min sketches (Kirsch and Mitzenmacher, section 9) what each peer has cost and how often others
// asked for each key. Old counts fade: they are halved every ten seconds. No peer can fill memory with names or keys.
// Each sketch takes 4 KiB, from the first ask on; its seed is the node's secret.
type demand struct {
	seed        uint64
	peers, keys *frequency.Sketch
	halved      time.Duration
}

// fade halves the counts when it is time.
func (d *demand) fade(now time.Duration) {
	if d.peers == nil {
		d.peers, d.keys, d.halved = newCounts(d.seed), newCounts(d.seed+1), now
	}
	for range min((now-d.halved)/demandHalved, 32) {
		d.peers.Halve()
		d.keys.Halve()
	}
	d.halved = now - (now-d.halved)%demandHalved
}

func newCounts(seed uint64) *frequency.Sketch {
	p, err := frequency.ParamsForError(demandError, demandDelta)
	if err != nil {
		panic(err) // constants
	}
	p.Seed = seed
	s, err := frequency.New(p)
	if err != nil {
		panic(err)
	}
	return s
}

// asked counts a question for a key, and reports whether the key is in demand: asked for more than once, and more often
// than the sketch's error explains. So questions for other keys cannot raise it.
func (d *demand) asked(f summary.Fingerprint) bool {
	d.keys.Add(uint64(f), 1)
	return float64(d.keys.Estimate(uint64(f))) > 1+float64(demandError*float64(d.keys.Total()))
}

// charge counts messages that were spent for a peer.
func (d *demand) charge(p wire.PeerID, messages int) {
	d.peers.Add(match.Tie(d.seed, string(p)), uint32(max(messages, 0)))
}

// over reports whether a peer has cost more than a rate of messages a second allows. A steady rate shows between one
// and two times its count, depending on the last halving. So twice the rate is allowed, and a burst of the same size.
func (d *demand) over(p wire.PeerID, rate int) bool {
	return float64(d.peers.Estimate(match.Tie(d.seed, string(p)))) >= 2*float64(rate)*demandHalved.Seconds()
}
