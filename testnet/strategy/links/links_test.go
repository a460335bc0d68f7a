package links_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/venn-p2p/venn/testnet/strategy"
	"github.com/venn-p2p/venn/testnet/strategy/links"
)

// Links are those of a plain set, in order, whatever is done to them.
func TestLinks(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var l links.Links
	open, dialing := map[strategy.ID]bool{}, map[strategy.ID]bool{}
	for range 5000 {
		p := strategy.ID(rng.IntN(20))
		switch rng.IntN(4) {
		case 0:
			if got, want := l.Dial(p), !open[p] && !dialing[p]; got != want {
				t.Fatalf("dial %d: %v, want %v", p, got, want)
			}
			dialing[p] = dialing[p] || !open[p]
		case 1:
			l.Dialled(p)
			delete(dialing, p)
		case 2:
			if !open[p] {
				if at := l.Add(p); l.Open()[at] != p {
					t.Fatalf("%d does not stand at %d of %v", p, at, l.Open())
				}
				open[p] = true
			}
		case 3:
			if _, got := l.Remove(p); got != open[p] {
				t.Fatalf("remove %d: %v, want %v", p, got, open[p])
			}
			delete(open, p)
		}
		if len(l.Open()) != len(open) || !slices.IsSorted(l.Open()) {
			t.Fatalf("%v, want %v", l.Open(), open)
		}
		want := max(0, 4-len(open)-len(dialing))
		if got := (links.Rules{Degree: 8}).Missing(&l); got != want {
			t.Fatalf("%d links missing, want %d", got, want)
		}
	}
}

// Peers that are away, linked, or the one that draws are never drawn.
func TestDraw(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	w := strategy.World{Peers: 4, Online: func(p strategy.ID) bool { return p != 2 }}
	linked := func(p strategy.ID) bool { return p == 1 }
	for range 200 {
		if p, ok := links.Draw(rng, 0, &w, linked); ok && p != 3 {
			t.Fatalf("%d is drawn", p)
		}
	}
}

// Where all are there, the links of the topology open. Where few are, each has as many as one that comes, and none
// leads to a peer that is away.
func TestStart(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const peers = 60
	var topology [][2]strategy.ID
	for i := range strategy.ID(peers) {
		topology = append(topology, [2]strategy.ID{i, (i + 1) % peers}, [2]strategy.ID{i, (i + 2) % peers})
	}
	rules := links.Rules{Degree: 4}
	if got := rules.Start(topology, peers, func(strategy.ID) bool { return true }, rng); !slices.Equal(got, topology) {
		t.Errorf("%v, want %v", got, topology)
	}
	few := func(p strategy.ID) bool { return p%7 == 0 }
	has := map[strategy.ID]int{}
	for _, l := range rules.Start(topology, peers, few, rng) {
		if !few(l[0]) || !few(l[1]) {
			t.Errorf("a link from %d to %d", l[0], l[1])
		}
		has[l[0]]++
		has[l[1]]++
	}
	for p := range strategy.ID(peers) {
		if few(p) && has[p] < 2 {
			t.Errorf("%d has %d links", p, has[p])
		}
	}
}
