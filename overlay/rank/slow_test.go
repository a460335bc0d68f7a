package rank_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay/rank"
	"github.com/venn-p2p/venn/summary/estimate"
)

// Neighbours are those that a comparison of every pair would choose.
func TestRankAgainstSlowTwin(t *testing.T) {
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 7))
		draw := func(n, from int) (out []rank.Candidate) {
			for i := range n {
				v := float64(rng.IntN(10)) / 10
				c := rank.Candidate{Index: from + i, Known: rng.IntN(4) > 0, RTT: time.Duration(rng.IntN(4))}
				c.Overlap = estimate.Interval{Value: v, Low: v - float64(rng.IntN(3))/10, High: v + float64(rng.IntN(3))/10}
				out = append(out, c)
			}
			return out
		}
		cands, n := draw(rng.IntN(12), 1), rng.IntN(6)
		better := func(a, b rank.Candidate) bool {
			return a.Overlap.Value > b.Overlap.Value || a.Overlap.Value == b.Overlap.Value && a.Index < b.Index
		}
		chosen := rank.Similar(cands, n)
		for _, c := range cands {
			above := 0
			for _, d := range cands {
				if d.Known && better(d, c) {
					above++
				}
			}
			in := false
			for _, d := range chosen {
				in = in || d.Index == c.Index
			}
			if want := c.Known && above < n; in != want {
				t.Fatalf("seed %d: %+v chosen: %v, want %v", seed, c, in, want)
			}
		}
		old := draw(rng.IntN(4), 100)
		out, in, ok := rank.Swap(old, cands)
		can := false
		for _, a := range old {
			for _, c := range cands {
				can = can || c.Known && c.Overlap.Low > a.Overlap.High
			}
		}
		if ok != can {
			t.Fatalf("seed %d: swap %v, want %v", seed, ok, can)
		}
		if ok && !(in.Overlap.Low > out.Overlap.High) {
			t.Fatalf("seed %d: %+v for %+v", seed, in, out)
		}
	}
}
