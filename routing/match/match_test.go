package match_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/venn-p2p/venn/routing/match"
)

// wait is the expected time until one of the entries, asked in this order, has the key (or all have been asked).
func wait(order []match.Entry) float64 {
	open, sum := 1.0, 0.0
	for _, e := range order {
		sum += open * e.Cost
		open *= 1 - e.Probability
	}
	return sum
}

// bestWait is the slow twin of Rank: the least wait of all orders.
func bestWait(entries []match.Entry) float64 {
	best := math.Inf(1)
	var try func(k int)
	try = func(k int) {
		if k == len(entries) {
			best = min(best, wait(entries))
			return
		}
		for i := k; i < len(entries); i++ {
			entries[k], entries[i] = entries[i], entries[k]
			try(k + 1)
			entries[k], entries[i] = entries[i], entries[k]
		}
	}
	try(0)
	return best
}

func entries(maxLen int) *rapid.Generator[[]match.Entry] {
	return rapid.Custom(func(t *rapid.T) []match.Entry {
		out := make([]match.Entry, rapid.IntRange(0, maxLen).Draw(t, "n"))
		for i := range out {
			out[i] = match.Entry{
				Index:       i,
				Probability: rapid.SampledFrom([]float64{0, 0.01, 0.05, 0.5, 0.9, 0.999, 1}).Draw(t, "p"),
				Cost:        rapid.Float64Range(0.01, 1).Draw(t, "cost"),
				Tie:         rapid.Uint64Range(0, 3).Draw(t, "tie"),
			}
		}
		return out
	})
}

func TestRankEndsSoonest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		es := entries(6).Draw(t, "entries")
		want := bestWait(slices.Clone(es))
		match.Rank(es)
		if got := wait(es); got > want*(1+1e-9)+1e-12 {
			t.Fatalf("ranked order waits %g, the best order %g", got, want)
		}
	})
}

// TestRankAgainstSelection compares Rank with repeated selection of the best that is left.
func TestRankAgainstSelection(t *testing.T) {
	before := func(a, b match.Entry) bool {
		if a.Value() != b.Value() {
			return a.Value() > b.Value()
		}
		if a.Tie != b.Tie {
			return a.Tie < b.Tie
		}
		return a.Index < b.Index
	}
	rapid.Check(t, func(t *rapid.T) {
		es := entries(40).Draw(t, "entries")
		left, want := slices.Clone(es), []match.Entry{}
		for len(left) > 0 {
			best := 0
			for i := range left {
				if before(left[i], left[best]) {
					best = i
				}
			}
			want = append(want, left[best])
			left = slices.Delete(left, best, best+1)
		}
		match.Rank(es)
		if !slices.Equal(es, want) {
			t.Fatalf("got %v, want %v", es, want)
		}
	})
}

// TestPosteriorIsAFrequency draws peers that hold a key with the prior and match falsely with the rate.
func TestPosteriorIsAFrequency(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct{ prior, rate float64 }{{0.045, 1}, {0.045, 0.05}, {0.3, 0.2}, {0.01, 0.001}} {
		const draws = 400_000
		matches, holders := 0, 0
		for range draws {
			holds := rng.Float64() < c.prior
			if holds || rng.Float64() < c.rate {
				matches++
				if holds {
					holders++
				}
			}
		}
		got, want := match.Posterior(c.prior, c.rate), float64(holders)/float64(matches)
		if sd := math.Sqrt(want * (1 - want) / float64(matches)); math.Abs(got-want) > 5*sd+1e-9 {
			t.Errorf("prior %g, rate %g: Posterior %g, share drawn %g ± %g", c.prior, c.rate, got, want, sd)
		}
	}
	if match.Posterior(0, 0) != 0 || match.Posterior(1, 1) != 1 || match.Posterior(0.1, 0) != 1 {
		t.Error("Posterior is wrong at its ends")
	}
}

func TestPriorFindsTheShare(t *testing.T) {
	for _, share := range []float64{0.01, 0.045, 0.2} {
		rng := rand.New(rand.NewPCG(3, 4))
		p := match.NewPrior(0.1)
		sum, n := 0.0, 0
		for i := range 40_000 {
			rate := []float64{1, 0.3, 0.05, 0.001}[rng.IntN(4)]
			holds := rng.Float64() < share
			if holds || rng.Float64() < rate {
				p.Learn(rate, holds)
			}
			if i > 10_000 {
				sum, n = sum+p.Share(), n+1
			}
		}
		if got := sum / float64(n); got < 0.8*share || got > 1.25*share {
			t.Errorf("share %g: learnt %g", share, got)
		}
	}
}

func TestPriorStaysInBounds(t *testing.T) {
	p := match.NewPrior(2)
	for range 1000 {
		p.Learn(0, true)
	}
	if p.Share() > 0.5 {
		t.Errorf("after hits: %g", p.Share())
	}
	for range 100_000 {
		p.Learn(1, false)
	}
	if p.Share() < 0.99e-4 {
		t.Errorf("after misses: %g", p.Share())
	}
}

func TestTrust(t *testing.T) {
	if match.Trust(0, 0) != 1 {
		t.Error("a peer without a record must be trusted in full")
	}
	if got := match.Trust(0, 5); got < match.MinTrust {
		t.Errorf("after five misses %g, already below %g", got, match.MinTrust)
	}
	if got := match.Trust(0, 6); got >= match.MinTrust {
		t.Errorf("after six misses %g, not below %g", got, match.MinTrust)
	}
	if match.Trust(100, 6) < 0.9 {
		t.Error("a peer that proved useful must survive six misses")
	}
}

func TestCut(t *testing.T) {
	for _, c := range []struct {
		rates     []float64
		allowance float64
		limit     int
		want      int
	}{
		{nil, 4, 10, 0},
		{[]float64{0.1, 0.2, 1, 1, 1}, 4, 10, 5},
		{[]float64{0.1, 0.2, 1, 1, 1}, 2.4, 10, 4},
		{[]float64{1, 1, 1}, 0.5, 10, 0},
		{[]float64{0, 0, 0}, 4, 2, 2},
	} {
		if got := match.Cut(c.rates, c.allowance, c.limit); got != c.want {
			t.Errorf("Cut(%v, %g, %d) = %d, want %d", c.rates, c.allowance, c.limit, got, c.want)
		}
	}
}

func TestTieSpreads(t *testing.T) {
	first := map[int]int{}
	for key := range uint64(2000) {
		best := 0
		for p := 1; p < 20; p++ {
			if match.Tie(key, fmt.Sprint("peer", p)) < match.Tie(key, fmt.Sprint("peer", best)) {
				best = p
			}
		}
		first[best]++
	}
	for p := range 20 {
		if n := first[p]; n < 50 || n > 170 {
			t.Errorf("peer %d comes first for %d of 2000 keys, want about 100", p, n)
		}
	}
}

func ExampleRank() {
	prior := 0.045 // of 121 peers, five or six hold a wanted key
	near, far := match.Cost(5*time.Millisecond, true, 0), match.Cost(80*time.Millisecond, false, 0)
	es := []match.Entry{
		{Index: 0, Probability: match.Posterior(prior, 0.001), Cost: far},
		{Index: 1, Probability: match.Posterior(prior, 0.05), Cost: near},
		{Index: 2, Probability: match.Posterior(prior, 1), Cost: near},
		{Index: 3, Probability: match.Posterior(prior, 0.001) * match.Trust(0, 6), Cost: far},
	}
	match.Rank(es)
	for _, e := range es {
		fmt.Printf("%d: holds it with probability %.2f, costs %.0f ms\n", e.Index, e.Probability, 1000*e.Cost)
	}
	// Output:
	// 1: holds it with probability 0.49, costs 55 ms
	// 0: holds it with probability 0.98, costs 290 ms
	// 2: holds it with probability 0.04, costs 55 ms
	// 3: holds it with probability 0.14, costs 290 ms
}

func ExamplePrior() {
	p := match.NewPrior(0.05)
	for range 30 {
		p.Learn(1, false) // thirty unknown peers did not have it
	}
	fmt.Printf("%.3f\n", p.Share())
	// Output: 0.047
}

// TestSized: who has twice as many keys is twice as likely to hold a wanted one, up to even odds.
func TestSized(t *testing.T) {
	for _, c := range []struct {
		n          int
		mean, want float64
	}{{100, 100, 0.05}, {200, 100, 0.1}, {50, 100, 0.025}, {0, 100, 0}, {5000, 100, 0.5}, {7, 0, 0.05}} {
		if got := match.Sized(0.05, c.n, c.mean); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%d of %v keys on average: %v, want %v", c.n, c.mean, got, c.want)
		}
	}
}
