package judge

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// four peers and six keys; peer 3 holds nothing in common with peer 2.
var small = [][]uint32{{0, 1, 2, 3}, {2, 3}, {0, 1, 5}, {4}}

func TestTruth(t *testing.T) {
	truth := New(6, small)
	if got, want := truth.Holders(1), []int32{0, 2}; !slices.Equal(got, want) {
		t.Errorf("holders of 1: %v, want %v", got, want)
	}
	if n := truth.Findable(0, 1); n != 1 {
		t.Errorf("peer 0 can find %d others with key 1, want 1", n)
	}
	if n := truth.Findable(3, 1); n != 2 {
		t.Errorf("peer 3 can find %d with key 1, want 2", n)
	}
	if s := truth.Share(0, 1); s != 0.5 {
		t.Errorf("peer 1 holds %v of peer 0's, want 0.5", s)
	}
	if s := truth.Share(1, 0); s != 1 {
		t.Errorf("peer 0 holds %v of peer 1's, want 1", s)
	}
}

// collections draws sets of keys for a few peers.
func collections(t *rapid.T) (keys int, sets [][]uint32) {
	keys = rapid.IntRange(1, 200).Draw(t, "keys")
	peers := rapid.IntRange(1, 12).Draw(t, "peers")
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
	sets = make([][]uint32, peers)
	for p := range sets {
		density := rng.Float64()
		for k := range uint32(keys) {
			if rng.Float64() < density {
				sets[p] = append(sets[p], k)
			}
		}
	}
	return keys, sets
}

func TestTruthAgainstPlainSearch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		keys, sets := collections(t)
		truth := New(keys, sets)
		for k := range uint32(keys) {
			var holders []int32
			for p := range sets {
				has := slices.Contains(sets[p], k)
				if has {
					holders = append(holders, int32(p))
				}
				if truth.Has(p, k) != has {
					t.Fatalf("peer %d, key %d: %v", p, k, !has)
				}
			}
			if !slices.Equal(truth.Holders(k), holders) {
				t.Fatalf("key %d: holders %v, want %v", k, truth.Holders(k), holders)
			}
		}
	})
}

// slowNeighbours is Neighbours in plain loops over the lists of keys.
func slowNeighbours(sets [][]uint32, chosen [][]int) Neighbours {
	share := func(a, b int) float64 {
		if len(sets[a]) == 0 {
			return 0
		}
		n := 0
		for _, k := range sets[a] {
			if slices.Contains(sets[b], k) {
				n++
			}
		}
		return float64(n) / float64(len(sets[a]))
	}
	var n Neighbours
	for p, c := range chosen {
		if len(c) == 0 {
			continue
		}
		n.Peers++
		for _, q := range c {
			n.Mean += share(p, q) / float64(len(c))
		}
		var all []float64
		for q := range sets {
			if q != p {
				all = append(all, share(p, q))
				n.Random += share(p, q) / float64(len(sets)-1)
			}
		}
		slices.Sort(all)
		for i := range c {
			n.Best += all[len(all)-1-i] / float64(len(c))
		}
	}
	count := float64(max(1, n.Peers))
	return Neighbours{n.Peers, n.Mean / count, n.Random / count, n.Best / count}
}

func TestNeighboursAgainstPlainLoops(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		keys, sets := collections(t)
		chosen := make([][]int, len(sets))
		for p := range chosen {
			others := rand.New(rand.NewPCG(uint64(p), 1)).Perm(len(sets))
			others = slices.DeleteFunc(others, func(q int) bool { return q == p })
			chosen[p] = others[:rapid.IntRange(0, len(others)).Draw(t, "chosen")]
		}
		got, want := New(keys, sets).Neighbours(chosen), slowNeighbours(sets, chosen)
		near := func(a, b float64) bool { return math.Abs(a-b) < 1e-9 }
		if got.Peers != want.Peers || !near(got.Mean, want.Mean) || !near(got.Random, want.Random) || !near(got.Best, want.Best) {
			t.Fatalf("%+v, want %+v", got, want)
		}
	})
}

func TestScore(t *testing.T) {
	truth := New(6, small)
	var s Score
	for _, a := range []Answer{
		{Asker: 1, Key: 0, Found: []int{0}, Cost: Cost{Probes: 2, FalseProbes: 1, Messages: 4}, Latency: 10 * time.Millisecond},
		{Asker: 1, Key: 5, Found: nil, Latency: 40 * time.Millisecond},
		{Asker: 3, Key: 1, Found: []int{1, 3, 99, -1}, Latency: 30 * time.Millisecond},                                           // three lies, and the asker itself
		{Asker: 3, Key: 0, All: true, Found: []int{2, 2, 0}, Cost: Cost{Probes: 2, Messages: 4}, Latency: 20 * time.Millisecond}, // one twice
		{Asker: 3, Key: 2, All: true, Found: []int{0}, Latency: 20 * time.Millisecond},
	} {
		s.Add(truth, a)
	}
	if want := (Tally{Queries: 3, Answered: 1, Found: 1, Findable: 3}); s.FindOne != want {
		t.Errorf("find one: %+v, want %+v", s.FindOne, want)
	}
	if want := (Tally{Queries: 2, Answered: 2, Found: 3, Findable: 4}); s.FindAll != want || want.Recall() != 0.75 {
		t.Errorf("find all: %+v, want %+v", s.FindAll, want)
	}
	if s.Wrong != 3 {
		t.Errorf("%d wrong answers, want 3", s.Wrong)
	}
	if got := s.PerQuery(s.Probes); got != 0.8 {
		t.Errorf("%v probes a query, want 0.8", got)
	}
	for q, want := range map[float64]time.Duration{0: 10, 0.2: 10, 0.5: 20, 0.8: 30, 0.99: 40, 1: 40} {
		if got := s.Latency(q); got != want*time.Millisecond {
			t.Errorf("latency at %v: %v, want %d ms", q, got, want)
		}
	}
}

func TestScoreOfNothing(t *testing.T) {
	var s Score
	if s.PerQuery(0) != 0 || s.Latency(0.5) != 0 || s.FindOne.Recall() != 1 {
		t.Errorf("%+v", s)
	}
}

func BenchmarkNeighbours(b *testing.B) {
	const peers, keys = 121, 424_000
	rng := rand.New(rand.NewPCG(1, 0))
	sets, chosen := make([][]uint32, peers), make([][]int, peers)
	for p := range sets {
		for k := range uint32(keys) {
			if rng.IntN(22) == 0 {
				sets[p] = append(sets[p], k)
			}
		}
		chosen[p] = []int{(p + 1) % peers, (p + 2) % peers}
	}
	truth := New(keys, sets)
	b.ReportAllocs()
	for b.Loop() {
		truth.Neighbours(chosen)
	}
}
