package exchange

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/venn-p2p/venn/summary"
)

// stream is one origin's plan in a knapsack: what each depth costs and what it leaves of false matches.
type stream struct {
	bytes []int
	rate  []float64
}

func someStreams(t *testing.T, rng *rand.Rand, n int) []stream {
	t.Helper()
	var out []stream
	for range n {
		keys := 200 + rng.IntN(4000)
		plan, err := summary.NewPlan(keys, summary.Shape{})
		if err != nil {
			t.Fatal(err)
		}
		var s stream
		for parts := range plan.Parts() + 1 {
			s.bytes = append(s.bytes, plan.EncodedBytes(parts))
			s.rate = append(s.rate, plan.ExpectedRate(parts))
		}
		out = append(out, s)
	}
	return out
}

// greedyLeft is the sum of false-positive rates left when the planner's rule spends a budget. It takes samples first,
// in the order that they come, then always the part of most value per byte that still fits.
func greedyLeft(streams []stream, budget int) float64 {
	depth := make([]int, len(streams))
	for {
		best, most := -1, 0.0
		for i, s := range streams {
			d := depth[i]
			if d+1 >= len(s.bytes) || s.bytes[d+1]-s.bytes[d] > budget {
				continue
			}
			v := (s.rate[d] - s.rate[d+1]) / float64(max(1, s.bytes[d+1]-s.bytes[d]))
			if d == 0 {
				v = math.Inf(1)
			}
			if best < 0 || v > most {
				best, most = i, v
			}
		}
		if best < 0 {
			break
		}
		d := depth[best]
		budget -= streams[best].bytes[d+1] - streams[best].bytes[d]
		depth[best]++
	}
	return left(streams, depth)
}

// leastLeft tries every choice of depths.
func leastLeft(streams []stream, depth []int, budget int) float64 {
	if len(depth) == len(streams) {
		return left(streams, depth)
	}
	least := 1e9
	s := streams[len(depth)]
	for d := range s.bytes {
		if s.bytes[d] <= budget {
			least = min(least, leastLeft(streams, append(slices.Clone(depth), d), budget-s.bytes[d]))
		}
	}
	return least
}

func left(streams []stream, depth []int) (sum float64) {
	for i, s := range streams {
		sum += s.rate[depth[i]]
	}
	return sum
}

// TestGreedyIsNearlyBest compares the planner's rule with the best of all choices, for four origins and budgets from
// one sample each to nearly everything.
func TestGreedyIsNearlyBest(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	var ratios []float64
	for range 60 {
		streams := someStreams(t, rng, 4)
		samples, all := 0, 0
		for _, s := range streams {
			samples += s.bytes[1]
			all += s.bytes[len(s.bytes)-1]
		}
		budget := samples + rng.IntN(max(1, all-samples))
		greedy, best := greedyLeft(streams, budget), leastLeft(streams, nil, budget)
		if greedy < best-1e-9 {
			t.Fatalf("greedy leaves %v, less than the best, %v", greedy, best)
		}
		ratios = append(ratios, greedy/best)
	}
	slices.SortFunc(ratios, cmp.Compare[float64])
	t.Logf("greedy leaves %.3f times the best in the median, %.3f at 90 %%, %.3f at most", ratios[30], ratios[54], ratios[59])
	if ratios[30] > 1.05 || ratios[54] > 1.25 {
		t.Errorf("greedy leaves %.3f times what the best choice leaves in the median, %.3f at 90 %%: want 1.05 and 1.25", ratios[30], ratios[54])
	}
}
