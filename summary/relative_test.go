package summary

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/venn-p2p/venn/summary/internal/trie"
)

// changed is keys after some were removed and as many added.
func changed(seed uint64, keys []Fingerprint, removed, added int) []Fingerprint {
	return append(slices.Clone(keys[removed:]), someKeys(seed+1e9, added)...)
}

// epochs builds two epochs in one shape.
func epochs(t testing.TB, before, after []Fingerprint, s Shape) (old, next *Prefix) {
	t.Helper()
	old = mustBuild(t, before, s)
	h := old.Header()
	h.Epoch.Sequence++
	next = must(Build(after, h))
	return old, next
}

// related codes the first parts of a prefix given all of a base.
func related(t testing.TB, p *Prefix, parts int, base *Prefix) Relative {
	t.Helper()
	return must(p.RunRelative(0, parts, base, base.Parts()))
}

// samePrefix reports an error if two prefixes do not have the same parts, chain and rate.
func samePrefix(t testing.TB, got, want *Prefix) {
	t.Helper()
	if !slices.EqualFunc(got.parts, want.parts, slices.Equal) || !slices.Equal(got.chain, want.chain) || got.FalsePositiveRate() != want.FalsePositiveRate() {
		t.Fatalf("%d parts, not the %d of the origin", got.Parts(), want.Parts())
	}
}

// TestChangesSize codes a collection after a hundredth and a thousandth of 100,000 keys were exchanged, given its
// earlier epoch, at about 8 bits a key.
func TestChangesSize(t *testing.T) {
	const n, envelope = 100_000, 240 // the signed header
	keys := someKeys(1, n)
	for _, c := range []struct {
		changed int
		most    float64
	}{{1000, 0.28}, {100, 0.06}} {
		old, next := epochs(t, keys, changed(1, keys, c.changed, c.changed), Shape{})
		parts := old.plan.partsWithin(n)
		old = old.Truncate(parts)
		r := related(t, next, parts, old)
		got := float64(8*(len(r.Bytes)+envelope)) / n
		t.Logf("%d changed at %.2f bits a key: with header %.4f bits a key", c.changed, 8*float64(old.EncodedBytes())/n, got)
		if got > c.most {
			t.Errorf("%d changed: %.4f bits a key, at most %v", c.changed, got, c.most)
		}
		q := must(next.Truncate(0).ExtendRelative(old, r))
		samePrefix(t, q, next.Truncate(parts))
	}
}

// entropy of n things of which k are of one kind, in bytes.
func entropyBytes(n, k float64) float64 {
	if k <= 0 || k >= n {
		return 0
	}
	return (k*math.Log2(n/k) + (n-k)*math.Log2(n/(n-k))) / 8
}

// TestRelativeSize holds the code to 1.05 of the entropy of the nodes given those of the base, and that of a collection
// which has nothing in common with the base to 1.01 of the plain parts.
func TestRelativeSize(t *testing.T) {
	for _, n := range []int{500, 1500, 5000, 30_000, 100_000} {
		keys := someKeys(1, n)
		for _, percent := range []int{5, 20, 30, 50, 100} {
			m := n * percent / 100
			base, next := epochs(t, keys, changed(1, keys, m, m), Shape{})
			code, plain := float64(len(related(t, next, next.Parts(), base).Code)), float64(next.EncodedBytes())
			level := int(next.Header().Shape.Levels[0])
			had, has := base.tries[0].AppendNodes(nil, 0, 1<<next.plan.blocks[0].start, level), next.tries[0].AppendNodes(nil, 0, 1<<next.plan.blocks[0].start, level)
			both := float64(len(had) + len(has) - len(trie.Merge(nil, had, has)))
			least := entropyBytes(float64(len(had)), both) + entropyBytes(math.Ldexp(1, level)-float64(len(had)), float64(len(has))-both)
			t.Logf("%d keys, %d %% exchanged: %.3f of the entropy, %.3f of the plain parts", n, percent, code/least, code/plain)
			if code > 1.05*least+4 {
				t.Errorf("%d keys, %d %% exchanged: %.0f bytes, entropy %.0f", n, percent, code, least)
			}
			if percent == 100 && code > 1.01*plain {
				t.Errorf("%d keys, nothing in common: %.0f bytes, %.0f plain", n, code, plain)
			}
		}
	}
}

// TestRelativeSlices codes a collection in many messages, each of which goes on where the one before ended. Even when
// each brings one level of a few cells, it takes at most a fifth more than one message.
func TestRelativeSlices(t *testing.T) {
	const n = 20_000
	keys := someKeys(1, n)
	base, next := epochs(t, keys, changed(1, keys, n/3, n/3), Shape{})
	whole := len(related(t, next, next.Parts(), base).Code)
	p, all := next.Truncate(0), 0
	for p.Parts() < next.Parts() {
		r, err := next.RunRelative(p.Parts(), p.Parts()+1, base, base.Parts())
		if err != nil {
			t.Fatal(err)
		}
		if p, err = p.ExtendRelative(base, r); err != nil {
			t.Fatal(err)
		}
		all += len(r.Code)
	}
	samePrefix(t, p, next)
	t.Logf("%d bytes in %d messages, %d in one", all, next.Parts(), whole)
	if all > whole*6/5 {
		t.Errorf("%d bytes in %d messages, %d in one", all, next.Parts(), whole)
	}
}

// someRelation returns a collection and one that has some keys in common with it, as prefixes of any shape and depth,
// and the number of parts of the second that the base of a relative run has.
func someRelation(t testing.TB, rng *rand.Rand, seed uint64) (next, base *Prefix, baseParts int) {
	n := 1 + rng.IntN(4000)
	keys := someKeys(seed, n)
	shape := someShape(rng, n)
	other := changed(seed, keys, rng.IntN(n+1), rng.IntN(2*n+1))
	shape2 := shape
	if rng.IntN(2) == 0 || shape2.normal(len(other)).check(len(other)) != nil {
		shape2 = someShape(rng, len(other))
	}
	next, base = mustBuild(t, keys, shape), mustBuild(t, other, shape2)
	base = base.Truncate(1 + rng.IntN(base.Parts()))
	return next, base, 1 + rng.IntN(base.Parts())
}

// FuzzRelative codes parts given another collection of any shape and depth, whole and with bytes changed. What is held
// beyond the parts named makes no difference.
func FuzzRelative(f *testing.F) {
	for seed := range uint64(60) {
		f.Add(seed, uint16(seed*97), byte(seed))
	}
	f.Fuzz(func(t *testing.T, seed uint64, where uint16, flip byte) {
		rng := rand.New(rand.NewPCG(seed, 5))
		next, base, baseParts := someRelation(t, rng, seed)
		end := 1 + rng.IntN(next.Parts())
		first := rng.IntN(end)
		r, err := next.RunRelative(first, end, base, baseParts)
		if err != nil {
			t.Fatal(err)
		}
		cut, err := next.Truncate(end).Compact().RunRelative(first, end, base.Truncate(baseParts).Compact(), baseParts)
		if err != nil || !slices.Equal(cut.Bytes, r.Bytes) {
			t.Fatalf("another code where less is held: %v", err)
		}
		b := r.Bytes
		if r, err = ParseRelative(b); err != nil {
			t.Fatal(err)
		}
		held := next.Truncate(first + rng.IntN(end-first))
		q, err := held.ExtendRelative(base, r)
		if err != nil {
			t.Fatalf("%v given %v, parts %d to %d given %d: %v", next.plan.shape, base.plan.shape, first, end-1, baseParts, err)
		}
		samePrefix(t, q, next.Truncate(end))
		if flip == 0 {
			return
		}
		b[int(where)%len(b)] ^= flip
		if r, err = ParseRelative(b); err == nil && r.end() > held.Parts() {
			if q, err := held.ExtendRelative(base, r); err == nil && (q.Parts() != r.end() || r.Base != base.Header().group()) {
				t.Fatalf("byte %d changed: accepted, %d parts", int(where)%len(b), q.Parts())
			} else if err == nil {
				samePrefix(t, q, next.Truncate(r.end()))
			}
		}
	})
}

// TestRelativeGolden holds the relative runs of random relations to the bytes they had before: their number and SHA-256.
func TestRelativeGolden(t *testing.T) {
	var b bytes.Buffer
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 6))
		next, base, baseParts := someRelation(t, rng, seed)
		end := 1 + rng.IntN(next.Parts())
		r := must(next.RunRelative(rng.IntN(end), end, base, baseParts))
		fmt.Fprintf(&b, "%d: %d %x\n", seed, len(r.Bytes), sha256.Sum256(r.Bytes))
	}
	golden(t, "testdata/relative.golden", b.Bytes())
}

func TestRelativeAnyByte(t *testing.T) {
	keys := someKeys(3, 2000)
	old, next := epochs(t, keys, changed(3, keys, 20, 25), Shape{})
	none := next.Truncate(0)
	b := related(t, next, next.Parts(), old).Bytes
	refusesChanges(t, b, func(b []byte) bool {
		r, err := ParseRelative(b)
		if err == nil {
			_, err = none.ExtendRelative(old, r)
		}
		return err == nil
	})
}

// TestRelativeBase gives what is refused for the base: another one, one that was cut, one of another seed. A run given
// itself is the only circle that there can be, as bases are held in plain form; it brings nothing.
func TestRelativeBase(t *testing.T) {
	keys := someKeys(4, 2000)
	old, next := epochs(t, keys, changed(4, keys, 20, 25), Shape{})
	none, r := next.Truncate(0), related(t, next, next.Parts(), old)
	lie := r
	lie.Base = next.Header().group()
	for name, c := range map[string]struct {
		base *Prefix
		r    Relative
		want error
	}{
		"another":      {next, r, ErrLimit},
		"cut":          {old.Truncate(1), r, ErrLimit},
		"a lie":        {next, lie, ErrMalformed},
		"other parts":  {next, Relative{Base: lie.Base, BaseParts: 1, First: 1, Parts: 1}, ErrLimit},
		"no parts":     {old, Relative{Base: r.Base, BaseParts: 1}, ErrLimit},
		"too many":     {old, Relative{Base: r.Base, BaseParts: 1, Parts: next.Parts() + 1}, ErrLimit},
		"more follows": {old, Relative{Base: r.Base, BaseParts: r.BaseParts, Parts: r.Parts, Next: digest{1}, Code: r.Code}, ErrChain},
		"another end":  {old, Relative{Base: r.Base, BaseParts: r.BaseParts, Parts: r.Parts - 1, Next: digest{1}, Code: r.Code}, ErrMalformed},
	} {
		if _, err := none.ExtendRelative(c.base, c.r); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	h := testHeader(Shape{})
	h.Seed.Number++
	seeded := must(Build(keys, h))
	if _, err := next.RunRelative(0, 1, seeded, 1); !errors.Is(err, ErrSeed) {
		t.Error(err)
	}
	foreign := r
	foreign.Base = seeded.Header().group()
	if _, err := none.ExtendRelative(seeded, foreign); !errors.Is(err, ErrSeed) {
		t.Error(err)
	}
	itself := must(next.RunRelative(0, next.Parts(), next, next.Parts()))
	if q, err := next.ExtendRelative(next, itself); q != next || err != nil {
		t.Error(err)
	}
}

// TestRelativeBomb: a few bytes that promise many cells or nodes are refused before memory is taken for them.
func TestRelativeBomb(t *testing.T) {
	small := mustBuild(t, someKeys(1, 10), Shape{})
	h := testHeader(Shape{Levels: []uint8{30}})
	h.N, h.Shape.Keys = maxKeys, maxKeys
	none := must(NewPrefix(h))
	r := Relative{Base: small.Header().group(), BaseParts: 1, Parts: none.plan.parts, Code: make([]byte, 100)}
	taken := testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := none.ExtendRelative(small, r); !errors.Is(err, ErrMalformed) {
				t.Error(err)
			}
		}
	}).AllocedBytesPerOp()
	if taken > 1<<16 {
		t.Errorf("%d bytes of memory for 100", taken)
	}
}
