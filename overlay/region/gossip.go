package region

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/venn-p2p/venn/overlay/agenda"
	"github.com/venn-p2p/venn/overlay/bound"
	"github.com/venn-p2p/venn/overlay/directory"
	"github.com/venn-p2p/venn/overlay/space"
	"github.com/venn-p2p/venn/overlay/wire"
)

const (
	// strangerEvery is the period, in rounds of gossip, of asking a stranger: similar peers often know only each other.
	// After as many rounds in a row that bring nothing, the time between them doubles with each.
	strangerEvery = bound.Handful
	// lastRound is the longest time between rounds that bring nothing.
	lastRound = agenda.Longest
)

// Gossip paces the rounds in which a peer asks others for peers that resemble it. The zero Gossip is at its first
// round.
type Gossip struct {
	round int
	vain  int // rounds in a row that brought nothing
}

// Stranger reports whether this round's question goes to a peer drawn from all, in place of a similar one.
func (g *Gossip) Stranger() bool { return g.round%strangerEvery == strangerEvery-1 }

// Near reports whether this round's question goes to a peer of our range, while peers of that range are wanted. It does
// in every other round, so that similar peers learn of us in between.
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
	return agenda.Doubled(agenda.Beat, g.vain-strangerEvery, lastRound)
}

// Bar returns the least overlap that is worth fetching, given the best overlap known: half of it, and a quarter after a
// round that brought no peer. So dissimilar peers are not fetched, whatever room there is.
func (g *Gossip) Bar(best float64) float64 { return math.Ldexp(best, -1-min(g.vain, 1)) }

// Learned records that a round brought a new peer.
func (g *Gossip) Learned() { g.vain = 0 }

// likeness is a peer's resemblance to an asker.
type likeness struct {
	place   space.Place
	overlap float64          // share of the asker's collection that it holds, by estimate
	entry   *directory.Entry // nil: it is a visitor
	visitor *visitor
}

// mostAlike sorts all in place and returns the most similar first, as many as an answer names; nearness to the asker
// decides between equals.
func mostAlike(asker space.Place, all []likeness) []likeness {
	slices.SortFunc(all, func(a, b likeness) int {
		return cmp.Or(cmp.Compare(b.overlap, a.overlap), cmp.Compare(asker.Distance(a.place), asker.Distance(b.place)))
	})
	return all[:min(len(all), wire.MaxIntroduced)]
}
