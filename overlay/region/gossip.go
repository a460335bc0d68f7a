package region

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/venn-p2p/venn/overlay/space"
)

const (
	// strangerEvery is the period, in rounds of gossip, of asking a stranger: similar peers often know only each other.
	strangerEvery = 4
	// firstRound is the time between rounds of gossip while they bring something, lastRound the longest between rounds
	// that bring nothing.
	firstRound = time.Second
	lastRound  = 2 * time.Hour
	// patientRounds is the number of rounds in a row that may bring nothing before the time between them doubles with
	// each.
	patientRounds = 4
)

// Gossip paces the rounds in which a peer asks others for peers that resemble it. The zero Gossip is at its first
// round.
type Gossip struct {
	round int
	vain  int // rounds in a row that brought nothing
}

// Stranger reports whether this round's question goes to a peer drawn from all, in place of a similar one.
func (g *Gossip) Stranger() bool { return g.round%strangerEvery == strangerEvery-1 }

// Near reports whether this round's question goes to a peer of our range, while peers of that range are wanted. Every
// other round does, so that similar peers learn of this one meanwhile.
func (g *Gossip) Near() bool { return g.round%2 == 0 }

// Pick draws the index of the peer to ask this round, of n similar peers in order, the most similar first. More similar
// peers are likelier. n is positive.
func (g *Gossip) Pick(n int, rng *rand.Rand) int {
	return min(int(rng.ExpFloat64()*float64(n)/4), n-1)
}

// Asked ends a round and returns the time until the next.
func (g *Gossip) Asked() time.Duration {
	g.round++
	g.vain++
	wait := firstRound
	for range g.vain - patientRounds {
		if wait = min(2*wait, lastRound); wait == lastRound {
			break
		}
	}
	return wait
}

// Bar returns the least overlap that is worth fetching, given the best overlap known: half of it, and a quarter after a
// round that brought no peer. So dissimilar peers are not fetched, whatever room there is.
func (g *Gossip) Bar(best float64) float64 { return math.Ldexp(best, -1-min(g.vain, 1)) }

// Learned records that a round brought a new peer.
func (g *Gossip) Learned() { g.vain = 0 }

// Likeness is a peer's resemblance to an asker.
type Likeness struct {
	Place   space.Place
	Overlap float64 // share of the asker's collection that it holds, by estimate
}

// Named is the most peers that an answer names.
const Named = 8

// Introduce chooses the peers to name to an asker that looks for similar peers. They are unknown to the asker and hold
// more of its collection than the least similar peer that it keeps. The most similar come first, at most [Named];
// nearness to the asker decides between equals. It sorts all in place and returns a part of it.
func Introduce(asker space.Place, least float64, known func(space.Place) bool, all []Likeness) []Likeness {
	slices.SortFunc(all, func(a, b Likeness) int {
		switch {
		case a.Overlap != b.Overlap && a.Overlap > b.Overlap:
			return -1
		case a.Overlap != b.Overlap:
			return 1
		case asker.Distance(a.Place) < asker.Distance(b.Place):
			return -1
		case a.Place != b.Place:
			return 1
		}
		return 0
	})
	out := all[:0]
	for _, l := range all {
		if len(out) == Named || l.Overlap <= least {
			break
		}
		if l.Place != asker && !known(l.Place) {
			out = append(out, l)
		}
	}
	return out
}
