// Package links holds the state of the links of a strategy's peers, and the rules by which an engine opens links.
// The simulator and package drive both use it, so that a strategy has the same links in both.
package links

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/venn-p2p/venn/testnet/strategy"
)

// GiveUp is the time after which a message or a dial to an absent peer counts as failed.
const GiveUp = 3 * time.Second

// Links are the links of one peer. The zero value has none.
type Links struct {
	open    []strategy.ID // ascending
	dialing []strategy.ID // peers to which a link is asked for
}

// Open returns the peers with a link, ascending. The slice is valid until the next change and must not be changed.
func (l *Links) Open() []strategy.ID { return l.open }

// Index returns the index of a peer in Open.
func (l *Links) Index(p strategy.ID) (at int, linked bool) { return slices.BinarySearch(l.open, p) }

// Dial notes that a link to a peer is asked for. It returns false if the link is open, or was asked for already.
func (l *Links) Dial(p strategy.ID) bool {
	if _, linked := l.Index(p); linked || slices.Contains(l.dialing, p) {
		return false
	}
	l.dialing = append(l.dialing, p)
	return true
}

// Dialled notes that a dial has ended, whether it succeeded or failed.
func (l *Links) Dialled(p strategy.ID) {
	if i := slices.Index(l.dialing, p); i >= 0 {
		l.dialing = slices.Delete(l.dialing, i, i+1)
	}
}

// Add adds a link that was not open, and returns its index in Open.
func (l *Links) Add(p strategy.ID) int {
	at, _ := l.Index(p)
	l.open = slices.Insert(l.open, at, p)
	return at
}

// Remove removes a link, and returns its index in Open before. linked is false if there was none.
func (l *Links) Remove(p strategy.ID) (at int, linked bool) {
	if at, linked = l.Index(p); linked {
		l.open = slices.Delete(l.open, at, at+1)
	}
	return at, linked
}

// Draw draws an online peer to open a link to; false: eight draws gave none. linked reports whether there is a link
// to a peer already.
func Draw(rng *rand.Rand, self strategy.ID, w *strategy.World, linked func(strategy.ID) bool) (strategy.ID, bool) {
	return draw(rng, self, w, linked, 8)
}

func draw(rng *rand.Rand, self strategy.ID, w *strategy.World, linked func(strategy.ID) bool, tries int) (strategy.ID, bool) {
	for range tries {
		if p := strategy.ID(rng.IntN(w.Peers)); w.Online(p) && p != self && !linked(p) {
			return p, true
		}
	}
	return 0, false
}

// Rules set the number of links that a peer opens.
type Rules struct {
	Degree   int  // links of a peer in the topology, on average
	Connects bool // the strategy opens links itself
}

// bootstrap is the number of links that the engine opens for a peer when it comes online, if its strategy then opens
// links itself.
const bootstrap = 2

// Of returns the rules for a strategy in a topology of a mean degree. A strategy that opens links itself begins with
// few.
func Of(s *strategy.Strategy, degree int) Rules {
	if s.Connects {
		return Rules{2 * bootstrap, true}
	}
	return Rules{degree, false}
}

// Coming returns the number of links that a peer opens when it comes online. They lead to peers drawn at random, in
// place of addresses kept from before.
func (r Rules) Coming() int { return max(1, r.Degree/2) }

// Start returns the links that open at the start: those of the topology between peers that are there. A peer that
// lacks links because others are away opens links to random peers in their place, up to the number that a newcomer
// opens.
func (r Rules) Start(topology [][2]strategy.ID, peers int, there func(strategy.ID) bool, rng *rand.Rand) (open [][2]strategy.ID) {
	all, has := make([]int, peers), make([]int, peers)
	pairs := map[[2]strategy.ID]bool{}
	add := func(a, b strategy.ID) {
		open = append(open, [2]strategy.ID{a, b})
		pairs[[2]strategy.ID{min(a, b), max(a, b)}] = true
		has[a], has[b] = has[a]+1, has[b]+1
	}
	for _, e := range topology {
		all[e[0]], all[e[1]] = all[e[0]]+1, all[e[1]]+1
		if there(e[0]) && there(e[1]) {
			add(e[0], e[1])
		}
	}
	w := &strategy.World{Peers: peers, Online: there}
	for i := range all {
		p := strategy.ID(i)
		if !there(p) {
			continue
		}
		for range max(0, min(r.Coming(), all[i])-has[i]) {
			to, ok := draw(rng, p, w, func(q strategy.ID) bool { return pairs[[2]strategy.ID{min(p, q), max(p, q)}] }, peers)
			if ok {
				add(p, to)
			}
		}
	}
	return open
}

// Least returns the least number of links of a peer. With fewer, a link to a peer drawn at random replaces a lost
// one.
func (r Rules) Least() int {
	if r.Connects {
		return 1
	}
	return r.Coming()
}

// Missing returns the number of links to open now, beyond those that are being opened.
func (r Rules) Missing(l *Links) int { return max(0, r.Least()-len(l.open)-len(l.dialing)) }
