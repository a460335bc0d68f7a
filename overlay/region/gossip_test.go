package region

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay/agenda"
	"github.com/venn-p2p/venn/overlay/space"
	"github.com/venn-p2p/venn/overlay/wire"
)

// TestGossipFinds plays rounds among peers of interests: all find their like, at a few peers named a round.
func TestGossipFinds(t *testing.T) {
	const peers, interests, kept = 1000, 50, 16
	rng := rand.New(rand.NewPCG(1, 1))
	alike := func(a, b int) float64 {
		if a%interests == b%interests {
			return 0.5
		}
		return 0.01 * float64(1+(a*7+b*7)%5)
	}
	similar := make([][]int, peers) // most similar first
	add := func(p, q int) bool {
		if p == q {
			return false
		}
		at := 0
		for ; at < len(similar[p]) && alike(p, similar[p][at]) >= alike(p, q); at++ {
			if similar[p][at] == q {
				return false
			}
		}
		similar[p] = append(similar[p], 0)
		copy(similar[p][at+1:], similar[p][at:])
		similar[p][at] = q
		similar[p] = similar[p][:min(len(similar[p]), kept)]
		return at < kept
	}
	group := func(p int) (out []int) { // what everybody knows besides: a range
		for q := p / 20 * 20; q < p/20*20+20; q++ {
			out = append(out, q*37%peers)
		}
		return out
	}
	for p := range peers {
		for _, q := range group(p) {
			add(p, q)
		}
	}
	gossips := make([]Gossip, peers)
	for range 40 {
		for p := range peers {
			g := &gossips[p]
			q := rng.IntN(peers)
			if !g.Stranger() {
				q = similar[p][g.Pick(len(similar[p]), rng)]
			}
			g.Asked()
			least := 0.0
			if len(similar[p]) == kept {
				least = alike(p, similar[p][kept-1])
			}
			var all []likeness
			holds := append(group(q), similar[q]...)
			slices.Sort(holds)
			for _, x := range slices.Compact(holds) {
				if l := (likeness{place: space.Place(x), overlap: alike(p, x)}); x != p && l.overlap > least && !slices.Contains(similar[p], x) {
					all = append(all, l)
				}
			}
			named := mostAlike(space.Place(p), all)
			if len(named) > wire.MaxIntroduced {
				t.Fatalf("%d named", len(named))
			}
			for _, l := range named {
				if add(p, int(l.place)) {
					g.Learned()
				}
			}
			add(q, p)
		}
	}
	right := 0
	for p := range peers {
		for _, q := range similar[p] {
			if alike(p, q) == 0.5 {
				right++
			}
		}
	}
	if share := float64(right) / (peers * kept); share < 0.95 {
		t.Errorf("%.3f of the similar are alike", share)
	}
}

// TestGossipPace: rounds that bring nothing come ever later, and soon again after one that brings somebody.
func TestGossipPace(t *testing.T) {
	var g Gossip
	for range strangerEvery {
		if wait := g.Asked(); wait != agenda.Beat {
			t.Fatalf("wait %v", wait)
		}
	}
	last := agenda.Beat
	for range 40 {
		wait := g.Asked()
		if wait < last || wait > lastRound {
			t.Fatalf("wait %v after %v", wait, last)
		}
		last = wait
	}
	if last != lastRound || last < time.Minute {
		t.Errorf("wait %v at last", last)
	}
	g.Learned()
	if wait := g.Asked(); wait != agenda.Beat {
		t.Errorf("wait %v after somebody was learned of", wait)
	}
	strangers := 0
	for range 100 {
		if g.Stranger() {
			strangers++
		}
		g.Asked()
	}
	if strangers != 25 {
		t.Errorf("%d strangers of 100", strangers)
	}
}

// TestPick: the more similar the likelier, and never out of bounds.
func TestPick(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	var g Gossip
	counts := make([]int, 48)
	for range 48000 {
		counts[g.Pick(48, rng)]++
	}
	if counts[0] < 2*counts[12] || counts[12] < 2*counts[30] || g.Pick(1, rng) != 0 {
		t.Errorf("counts %v", counts)
	}
}
