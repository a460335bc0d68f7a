package index

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/venn-p2p/venn/summary"
)

// keys are n random fingerprints.
func keys(rng *rand.Rand, n int) []summary.Fingerprint {
	out := make([]summary.Fingerprint, n)
	for i := range out {
		out[i] = summary.Fingerprint(rng.Uint64() >> (64 - summary.FingerprintBits))
	}
	return out
}

var sequence uint32

// build is the full prefix of some keys; every one is of another epoch.
func build(t testing.TB, fps []summary.Fingerprint, s summary.Shape) *summary.Prefix {
	t.Helper()
	sequence++
	st, err := summary.Build(fps, summary.Header{
		Origin: "origin", Epoch: summary.Epoch{Generation: 1, Sequence: sequence}, Lifetime: time.Hour, Shape: s,
	})
	if err != nil {
		t.Fatal(err)
	}
	return st.Prefix()
}

// loop is the plain twin: every prefix is asked.
func loop(prefixes []*summary.Prefix, f summary.Fingerprint) (peers []int) {
	for i, p := range prefixes {
		if p != nil && p.Blocks() > 0 && p.Contains(f) {
			peers = append(peers, i)
		}
	}
	return peers
}

// shapeOf is a shape for n keys: the default one, the two corners of the design space, or something between.
func shapeOf(rng *rand.Rand, n int) summary.Shape {
	log := 0
	for 1<<log < n {
		log++
	}
	switch rng.IntN(4) {
	case 0: // a block-partitioned filter
		s := summary.Shape{Keys: n}
		for range 1 + rng.IntN(12) {
			s.Levels = append(s.Levels, uint8(log+1))
		}
		return s
	case 1:
		return summary.Shape{Keys: n, SampleBytes: 1 + rng.IntN(200), SampleLevel: uint8(log + rng.IntN(8)), Levels: []uint8{uint8(log + 2 + rng.IntN(6)), uint8(1 + rng.IntN(log+3))}}
	}
	return summary.Shape{}
}

// FuzzIndex sets, replaces, cuts, changes and removes peers at random, and compares with the loop.
func FuzzIndex(f *testing.F) {
	for seed := range uint64(12) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var x Index
		peers := 1 + rng.IntN(90)
		prefixes := make([]*summary.Prefix, peers)
		held := make([][]summary.Fingerprint, peers)
		size := 1 + rng.IntN(400)
		for range 2 * peers {
			i := rng.IntN(peers)
			switch p := prefixes[i]; {
			case p == nil || rng.IntN(4) == 0: // another collection
				held[i] = keys(rng, size+rng.IntN(2))
				prefixes[i] = build(t, held[i], shapeOf(rng, len(held[i])))
			case rng.IntN(8) == 0:
				prefixes[i] = nil
			case rng.IntN(2) == 0: // cut
				prefixes[i] = p.Truncate(rng.IntN(p.Parts() + 1))
			default: // an epoch on
				held[i] = append(slices.Clone(held[i][rng.IntN(1+len(held[i])/20):]), keys(rng, rng.IntN(3))...)
				s := p.Header().Shape
				if !s.Fits(len(held[i])) {
					s = summary.Shape{}
				}
				prefixes[i] = build(t, held[i], s)
			}
			x.Set(i, prefixes[i])
		}
		for range 40 {
			fp := keys(rng, 1)[0]
			if i := rng.IntN(peers); rng.IntN(2) == 0 && len(held[i]) > 0 {
				fp = held[i][rng.IntN(len(held[i]))]
			}
			if got, want := x.Candidates(nil, fp), loop(prefixes, fp); !slices.Equal(got, want) {
				t.Fatalf("seed %d: candidates %v, want %v", seed, got, want)
			}
		}
		x.verify(t)
	})
}

// verify checks what must hold of the index's books.
func (x *Index) verify(t *testing.T) {
	t.Helper()
	seen := 0
	for _, g := range x.order {
		if x.groups[g.class] != g || len(g.loose)+len(g.stripes) == 0 {
			t.Errorf("group %+v is empty or unknown", g.class)
		}
		for col, peer := range g.loose {
			if e := x.entries[peer]; e.stripe != nil || e.col != col || e.group != g {
				t.Errorf("loose peer %d: %+v", peer, e)
			}
		}
		seen += len(g.loose)
		for _, s := range g.stripes {
			used := 0
			for col, peer := range s.peers {
				if s.live[col/64]>>(col%64)&1 == 1 {
					used++
					if e := x.entries[peer]; e.stripe != s || e.col != col || e.group != g {
						t.Errorf("peer %d in column %d: %+v", peer, col, e)
					}
				}
			}
			if used != s.used || used == 0 {
				t.Errorf("%d columns in use, %d counted", used, s.used)
			}
			seen += used
		}
	}
	for _, e := range x.entries {
		if e.prefix != nil {
			seen--
		}
	}
	if seen != 0 {
		t.Errorf("%d peers more in groups than have prefixes", seen)
	}
}
