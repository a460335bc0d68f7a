package judge

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

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
	if s := truth.shares(0)[1]; s != 0.5 {
		t.Errorf("peer 1 holds %v of peer 0's, want 0.5", s)
	}
	if s := truth.shares(1)[0]; s != 1 {
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

func TestMark(t *testing.T) {
	truth := New(6, small)
	for _, c := range []struct {
		asker int
		key   uint32
		all   bool
		named []int
		want  Mark
	}{
		{1, 0, false, []int{0}, Mark{Found: 1, Findable: 1}},
		{1, 5, false, nil, Mark{Findable: 1}},
		{3, 1, false, []int{1, 3, 99, -1}, Mark{Findable: 1, Wrong: 3}}, // three lies, and the asker itself
		{3, 0, true, []int{2, 2, 0}, Mark{Found: 2, Findable: 2}},       // one twice
		{3, 2, true, []int{0}, Mark{Found: 1, Findable: 2}},
	} {
		if got := truth.Mark(c.asker, c.key, c.all, c.named); got != c.want {
			t.Errorf("peer %d asks for %d, is told of %v: %+v, want %+v", c.asker, c.key, c.named, got, c.want)
		}
	}
}

func TestQuantile(t *testing.T) {
	for q, want := range map[float64]int{0: 10, 0.2: 10, 0.5: 20, 0.8: 30, 0.99: 40, 1: 40} {
		if got := Quantile([]int{10, 40, 30, 20, 20}, q); got != want {
			t.Errorf("at %v: %v, want %d", q, got, want)
		}
	}
	if Quantile([]int(nil), 0.5) != 0 {
		t.Error("of nothing")
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
