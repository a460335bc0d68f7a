package judge

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/venn-p2p/venn/testnet/holdings"
)

// four peers and six keys; peer 3 holds nothing in common with peer 2.
var small = [][]uint32{{0, 1, 2, 3}, {2, 3}, {0, 1, 5}, {4}}

func truthOf(t interface{ Fatal(...any) }, keys int, sets [][]uint32, grace time.Duration) *Truth[int32] {
	start, err := holdings.New[int32](keys, sets)
	if err != nil {
		t.Fatal(err)
	}
	return New(start, grace)
}

// Key 1 is held by peers 0 and 2; peer 1 takes it in at 10 s, peer 2 drops it at 20 s.
func TestMark(t *testing.T) {
	const s = time.Second
	truth := truthOf(t, 6, small, 5*s)
	truth.Note(10*s, 1, 1, true)
	truth.Note(20*s, 2, 1, false)
	for _, q := range []struct {
		asker    int32
		key      uint32
		from, to time.Duration
		named    []int32
		all      bool
		want     Mark
	}{
		{3, 1, 1 * s, 2 * s, []int32{0, 2}, true, Mark{2, 2, 0}},
		{3, 1, 1 * s, 2 * s, []int32{1, 9, -1}, true, Mark{0, 2, 3}},
		{3, 1, 9 * s, 11 * s, []int32{0, 1}, true, Mark{1, 2, 0}}, // 1 is changing
		{3, 1, 14 * s, 14 * s, []int32{1}, true, Mark{0, 2, 0}},
		{3, 1, 16 * s, 17 * s, []int32{1}, true, Mark{1, 3, 0}},
		{3, 1, 24 * s, 24 * s, []int32{0, 1, 2}, true, Mark{2, 2, 0}}, // 2 dropped it within the grace
		{3, 1, 26 * s, 26 * s, []int32{0, 1, 2}, true, Mark{2, 2, 1}},
		{3, 1, 14 * s, 14 * s, []int32{1}, false, Mark{1, 1, 0}}, // any holder will do
		{3, 1, 26 * s, 26 * s, []int32{2}, false, Mark{0, 1, 1}},
		{1, 0, 0, 0, []int32{0}, false, Mark{1, 1, 0}},
		{1, 5, 0, 0, nil, false, Mark{0, 1, 0}},
		{0, 1, 0, 0, []int32{0, 2}, true, Mark{1, 1, 0}},          // the asker holds it itself
		{3, 1, 0, 0, []int32{1, 3, 99, -1}, false, Mark{0, 1, 3}}, // three lies, and the asker itself
		{3, 0, 0, 0, []int32{2, 2, 0}, true, Mark{2, 2, 0}},       // one twice
		{3, 2, 0, 0, []int32{0, 99, 99, -1}, true, Mark{1, 2, 2}}, // a lie twice
	} {
		if got := truth.Mark(q.asker, q.key, q.all, q.named, q.from, q.to); got != q.want {
			t.Errorf("peer %d asks for %d from %v to %v, is told of %v: %+v, want %+v", q.asker, q.key, q.from, q.to, q.named, got, q.want)
		}
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

// A peer is steady if it holds the key at every instant that counts, and unknown if at none.
func TestChangesAgainstPlainSearch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		keys, sets := collections(t)
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "changes"), 0))
		grace := time.Duration(rng.IntN(10))
		truth := truthOf(t, keys, sets, grace)
		var log []func(at time.Duration, held []bool)
		for at := time.Duration(1); at < 50; at++ {
			if p, held := rng.IntN(len(sets)), rng.IntN(2) == 0; rng.IntN(3) == 0 {
				truth.Note(at, int32(p), 0, held)
				log = append(log, func(now time.Duration, state []bool) {
					if now >= at {
						state[p] = held
					}
				})
			}
		}
		from := time.Duration(rng.IntN(50))
		to := from + time.Duration(rng.IntN(10))
		always, ever := make([]bool, len(sets)), make([]bool, len(sets))
		for now := from - grace; now <= to; now++ {
			for p := range sets {
				state := make([]bool, len(sets))
				state[p] = slices.Contains(sets[p], 0)
				for _, apply := range log {
					apply(now, state)
				}
				always[p] = state[p] && (always[p] || now == from-grace)
				ever[p] = ever[p] || state[p]
			}
		}
		got := truth.during(0, from, to)
		for p := range sets {
			steady, held := got[int32(p)]
			if held && !ever[p] && !touched(truth, int32(p), from-grace, to) || ever[p] && !held || steady && !always[p] {
				t.Fatalf("peer %d from %d to %d, grace %d: held %v, steady %v, want %v, %v", p, from, to, grace, held, steady, ever[p], always[p])
			}
		}
	})
}

// touched says whether a change of the peer was noted after one instant until another, even one that changed nothing.
func touched(truth *Truth[int32], peer int32, after, to time.Duration) bool {
	return slices.ContainsFunc(truth.log[0], func(ch change[int32]) bool { return ch.peer == peer && ch.at > after && ch.at <= to })
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
		got, want := Chosen(keys, sets, chosen), slowNeighbours(sets, chosen)
		near := func(a, b float64) bool { return math.Abs(a-b) < 1e-9 }
		if got.Peers != want.Peers || !near(got.Mean, want.Mean) || !near(got.Random, want.Random) || !near(got.Best, want.Best) {
			t.Fatalf("%+v, want %+v", got, want)
		}
	})
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
	b.ReportAllocs()
	for b.Loop() {
		Chosen(keys, sets, chosen)
	}
}
