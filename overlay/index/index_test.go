package index

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay/overlaylab/plain"
	"github.com/venn-p2p/venn/summary"
)

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
	return st
}

// loop is the plain twin: every prefix is asked.
func loop(prefixes []*summary.Prefix, f summary.Fingerprint) (peers []int) {
	for i, p := range prefixes {
		if p != nil && p.Parts() > 0 && p.Contains(f) {
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
		return summary.Shape{Keys: n, SampleBytes: 1 + rng.IntN(200), SampleLevel: uint8(max(1, log+rng.IntN(8))), Levels: []uint8{uint8(log + 2 + rng.IntN(6)), uint8(1 + rng.IntN(log+3))}}
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
		if seed%3 == 0 {
			peers += 600 // as many as stripes need
		}
		prefixes := make([]*summary.Prefix, peers)
		held := make([][]summary.Fingerprint, peers)
		size := 1 + rng.IntN(400)
		shape := func(n int) summary.Shape {
			if seed%3 == 0 && rng.IntN(10) > 0 {
				return summary.Shape{}
			}
			return shapeOf(rng, n)
		}
		for range 2 * peers {
			i := rng.IntN(peers)
			switch p := prefixes[i]; {
			case p == nil || rng.IntN(4) == 0: // another collection
				held[i] = plain.Keys(rng, size+rng.IntN(2))
				prefixes[i] = build(t, held[i], shape(len(held[i])))
			case rng.IntN(8) == 0:
				prefixes[i] = nil
			case rng.IntN(2) == 0: // cut
				prefixes[i] = p.Truncate(rng.IntN(p.Parts() + 1))
			default: // an epoch on
				held[i] = append(slices.Clone(held[i][rng.IntN(1+len(held[i])/20):]), plain.Keys(rng, rng.IntN(3))...)
				s := p.Header().Shape
				if !s.Fits(len(held[i])) {
					s = summary.Shape{}
				}
				prefixes[i] = build(t, held[i], s)
			}
			x.Set(i, prefixes[i])
		}
		for range 40 {
			fp := plain.Keys(rng, 1)[0]
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
		if x.groups[g.layout] != g || len(g.loose.peers)+len(g.stripes) == 0 {
			t.Errorf("group %+v is empty or unknown", g.layout)
		}
		for col, peer := range g.loose.peers {
			if e := x.entries[peer]; e.stripe != &g.loose || int(e.col) != col || g.loose.group != g {
				t.Errorf("loose peer %d: %+v", peer, e)
			}
		}
		seen += len(g.loose.peers)
		for _, s := range g.stripes {
			used := 0
			for col, peer := range s.peers {
				if s.live[col/64]>>(col%64)&1 == 1 {
					used++
					if e := x.entries[peer]; e.stripe != s || int(e.col) != col || s.group != g {
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

// TestCosts holds the bits a key and the prefixes asked in vain to what the documentation says: ten rows, and six of
// large prefixes.
func TestCosts(t *testing.T) {
	for _, c := range []struct {
		peers, n            int
		leastVain, mostVain float64
		leastBits, mostBits float64
	}{
		{600, 1000, 0.0005, 0.002, 12.5, 17.5},
		{64, largeKeys * 5 / 4, 0.008, 0.03, 7.5, 10.5},
	} {
		rng := rand.New(rand.NewPCG(7, 7))
		var x Index
		inVain, queries := 0, 4000
		for i := range c.peers {
			x.Set(i, build(t, plain.Keys(rng, c.n), summary.Shape{}))
		}
		for _, f := range plain.Keys(rng, queries) {
			inVain += x.Matches(f) - len(x.Candidates(nil, f))
		}
		vain := float64(inVain) / float64(queries) / float64(c.peers)
		if vain < c.leastVain || vain > c.mostVain {
			t.Errorf("%d keys: %.5f of the peers asked in vain, want %v to %v", c.n, vain, c.leastVain, c.mostVain)
		}
		columns := 0
		for _, s := range x.order[0].stripes {
			columns += len(s.peers)
		}
		bits := 8 * float64(x.order[0].stripes[0].bytes()) / float64(len(x.order[0].stripes[0].peers)) / float64(c.n)
		if len(x.order) != 1 || columns < c.peers || bits < c.leastBits || bits > c.mostBits {
			t.Errorf("%d keys: %d groups, %d columns, %.1f bits a key of a column; want 1, at least %d, %v to %v",
				c.n, len(x.order), columns, bits, c.peers, c.leastBits, c.mostBits)
		}
		x.verify(t)
	}
}

// TestStripesComeAndGo fills stripes, which are joined as they fill, and empties them again.
func TestStripesComeAndGo(t *testing.T) {
	for _, c := range []struct {
		peers, keys, stripes, columns int // at most
	}{{300, 20000, 2, 256}, {1500, 1000, 3, 1536}} {
		rng := rand.New(rand.NewPCG(8, 8))
		var x Index
		held := plain.Keys(rng, c.keys)
		p := build(t, held, summary.Shape{})
		for i := range c.peers {
			x.Set(i, p)
		}
		columns, bytes := 0, 0
		for _, s := range x.order[0].stripes {
			columns += len(s.peers)
			bytes += s.bytes()
		}
		if n := len(x.order[0].stripes); n > c.stripes || columns > c.columns || bytes != x.bytes {
			t.Errorf("%d stripes of %d columns for %d peers, want %d of %d; %d bytes, %d counted",
				n, columns, c.peers, c.stripes, c.columns, bytes, x.bytes)
		}
		x.verify(t)
		if got := x.Candidates(nil, held[0]); len(got) != c.peers {
			t.Errorf("%d of %d peers have a key of all", len(got), c.peers)
		}
		for left, i := range rng.Perm(c.peers) {
			x.Set(i, nil)
			x.verify(t)
			if left = c.peers - left - 1; left == c.peers/16 { // of those that become nearly empty, few stay
				columns = 0
				for _, s := range x.order[0].stripes {
					columns += len(s.peers)
				}
				if columns > 12*left {
					t.Errorf("%d columns for the last %d peers", columns, left)
				}
			}
		}
		if len(x.order) != 0 || x.bytes != 0 {
			t.Errorf("%d groups and %d bytes left of nobody", len(x.order), x.bytes)
		}
		if got := x.Candidates(nil, 1); len(got) != 0 {
			t.Errorf("candidates %v of nobody", got)
		}
	}
}

// TestColumnsFollow: a column is written anew once its prefix rules out four times as many keys, so that few prefixes are
// asked in vain.
func TestColumnsFollow(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	var x Index
	follow, p := 0, build(t, plain.Keys(rng, 3000), summary.Shape{})
	for n := 1; n <= p.Parts(); n++ {
		q := p.Truncate(n)
		for peer := range 100 {
			x.Set(peer, q)
			if e := x.entries[peer]; !e.loose() {
				follow++
				if float64(e.rate) > 4*q.FalsePositiveRate() {
					t.Fatalf("peer %d: a column of rate %v for a prefix of rate %v", peer, e.rate, q.FalsePositiveRate())
				}
			}
		}
	}
	if follow < 500 {
		t.Errorf("only %d columns", follow)
	}
}

// BenchmarkChange sets another epoch of a peer.
func BenchmarkChange(b *testing.B) {
	const n = 5000
	rng := rand.New(rand.NewPCG(2, 2))
	shape := summary.DefaultShape(n)
	held := plain.Keys(rng, n)
	var epochs []*summary.Prefix
	for range 8 {
		epochs = append(epochs, build(b, held, shape))
		held = append(held[n/100:], plain.Keys(rng, n/100)...)
	}
	var x Index
	for i := range 500 {
		x.Set(i, epochs[0])
	}
	for i := 0; b.Loop(); i++ {
		x.Set(i%500, epochs[1+i/500%7])
	}
}
