package rank_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay/rank"
	"github.com/venn-p2p/venn/summary/estimate"
)

// draw returns candidates, the first with index from. Of every fourth there is no estimate and no round trip.
func draw(rng *rand.Rand, n, from int) (out []rank.Candidate) {
	for i := range n {
		v := float64(rng.IntN(10)) / 10
		c := rank.Candidate{Index: from + i, Known: rng.IntN(4) > 0, RTT: time.Duration(rng.IntN(4))}
		c.Overlap = estimate.Interval{Value: v, Low: v - float64(rng.IntN(3))/10, High: v + float64(rng.IntN(3))/10}
		out = append(out, c)
	}
	return out
}

// slowBest is the plain meaning of the rules: n times the best that is left.
func slowBest(cands []rank.Candidate, n int, known func(rank.Candidate) bool, value func(rank.Candidate) float64) (out []int) {
	used := map[int]bool{}
	for range n {
		best := -1
		for i, c := range cands {
			if !used[i] && known(c) && (best < 0 || value(c) > value(cands[best])) {
				best = i
			}
		}
		if best < 0 {
			break
		}
		used[best] = true
		out = append(out, best)
	}
	return out
}

func indexes(cands []rank.Candidate) (out []int) {
	for _, c := range cands {
		out = append(out, c.Index)
	}
	return out
}

// TestRulesAgainstSlowTwin: the first of equals are chosen, and somebody is swapped if any pair may be.
func TestRulesAgainstSlowTwin(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 300 {
		cands, n := draw(rng, rng.IntN(12), 0), rng.IntN(6)
		known := func(c rank.Candidate) bool { return c.Known }
		for name, pair := range map[string][2][]int{
			"similar": {indexes(rank.Similar(cands, n)), slowBest(cands, n, known, func(c rank.Candidate) float64 { return c.Overlap.Value })},
			"near":    {indexes(rank.Near(cands, n)), slowBest(cands, n, func(c rank.Candidate) bool { return c.RTT > 0 }, func(c rank.Candidate) float64 { return -float64(c.RTT) })},
		} {
			if !slices.Equal(pair[0], pair[1]) {
				t.Fatalf("%s: %v, want %v", name, pair[0], pair[1])
			}
		}
		old := draw(rng, rng.IntN(4), 100)
		out, in, ok := rank.Swap(old, cands)
		can := false
		for _, a := range old {
			for _, c := range cands {
				can = can || c.Known && c.Overlap.Low > a.Overlap.High
			}
		}
		if ok != can || ok && !(in.Overlap.Low > out.Overlap.High) {
			t.Fatalf("%+v for %+v: %v, want %v", in, out, ok, can)
		}
	}
}

func TestSwapNeedsSeparateIntervals(t *testing.T) {
	at := func(i int, low, high float64) rank.Candidate {
		return rank.Candidate{Index: i, Known: true, Overlap: estimate.Interval{Value: (low + high) / 2, Low: low, High: high}}
	}
	incumbents := []rank.Candidate{at(0, 0.3, 0.5), at(1, 0.1, 0.4)}
	if _, _, ok := rank.Swap(incumbents, []rank.Candidate{at(2, 0.39, 0.9)}); ok {
		t.Error("swapped although the intervals overlap")
	}
	out, in, ok := rank.Swap(incumbents, []rank.Candidate{at(2, 0.41, 0.5), at(3, 0.45, 0.5), {Index: 4}})
	if !ok || out.Index != 1 || in.Index != 3 {
		t.Errorf("swapped %d for %d (%v), want 1 for 3", out.Index, in.Index, ok)
	}
	if _, _, ok := rank.Swap(nil, incumbents); ok {
		t.Error("swapped nobody")
	}
}

func TestAudit(t *testing.T) {
	for _, c := range []struct {
		audit   rank.Audit
		refuted bool
	}{
		{rank.Audit{}, false},
		{rank.Audit{Asked: 5, Expected: 0.9}, false},
		{rank.Audit{Asked: 6, Expected: 0.9}, true},
		{rank.Audit{Asked: 20, Confirmed: 18, Expected: 0.9}, false},
		{rank.Audit{Asked: 20, Confirmed: 12, Expected: 0.9}, false},
		{rank.Audit{Asked: 20, Confirmed: 5, Expected: 0.9}, true},
		{rank.Audit{Asked: 100000, Confirmed: 90000, Expected: 0.9}, false},
		{rank.Audit{Asked: 100000, Confirmed: 50000, Expected: 0.9}, true},
	} {
		if got := c.audit.Refuted(); got != c.refuted {
			t.Errorf("%+v: refuted %v", c.audit, got)
		}
	}
	// Honest peers pass.
	rng := rand.New(rand.NewPCG(3, 3))
	for range 20000 {
		a := rank.Audit{Asked: 20, Expected: 0.9}
		for range a.Asked {
			if rng.Float64() < 0.9 {
				a.Confirmed++
			}
		}
		if a.Refuted() {
			t.Fatalf("%+v of an honest peer is refuted", a)
		}
	}
}

func ExampleAudit() {
	a := rank.Audit{Asked: 20, Confirmed: 3, Expected: 0.95}
	fmt.Println(a.Refuted())
	// Output: true
}

func ExampleSwap() {
	poor := rank.Candidate{Index: 1, Known: true, Overlap: estimate.Interval{Value: 0.2, Low: 0.1, High: 0.3}}
	rich := rank.Candidate{Index: 2, Known: true, Overlap: estimate.Interval{Value: 0.5, Low: 0.4, High: 0.6}}
	out, in, ok := rank.Swap([]rank.Candidate{poor}, []rank.Candidate{rich})
	fmt.Println(out.Index, in.Index, ok)
	// Output: 1 2 true
}
