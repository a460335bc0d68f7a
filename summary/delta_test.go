package summary

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
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
	st, err := Build(after, h)
	if err != nil {
		t.Fatal(err)
	}
	return old, st
}

// TestDeltaSize is what a hundredth and a thousandth of 100,000 keys exchanged cost at about 8 bits a key.
func TestDeltaSize(t *testing.T) {
	const n, envelope = 100_000, 240 // the signed header
	keys := someKeys(1, n)
	for _, c := range []struct {
		changed int
		most    float64
	}{{1000, 0.28}, {100, 0.06}} {
		old, next := epochs(t, keys, changed(1, keys, c.changed, c.changed), Shape{})
		parts := old.plan.PartsWithin(n)
		old = old.Truncate(parts)
		d, err := EncodeDelta(old, next, maxParts)
		if err != nil {
			t.Fatal(err)
		}
		got := float64(8*(len(d)+envelope)) / n
		t.Logf("%d changed at %.2f bits a key: %d bytes, with header %.4f bits a key", c.changed, 8*float64(old.EncodedBytes())/n, len(d), got)
		if got > c.most {
			t.Errorf("%d changed: %.4f bits a key, at most %v", c.changed, got, c.most)
		}
		q, err := ApplyDelta(old, next.Header(), d)
		if err != nil {
			t.Fatal(err)
		}
		if want := next.Truncate(parts); !slices.EqualFunc(q.parts, want.parts, slices.Equal) || q.FalsePositiveRate() != want.FalsePositiveRate() || !slices.Equal(q.chain, want.chain) {
			t.Errorf("%d changed: not the parts of the next epoch", c.changed)
		}
	}
}

// FuzzDelta applies deltas between random collections, shapes and depths, whole and with bytes changed.
func FuzzDelta(f *testing.F) {
	for seed := range uint64(40) {
		f.Add(seed, uint16(seed*97), byte(seed))
	}
	f.Fuzz(func(t *testing.T, seed uint64, where uint16, flip byte) {
		rng := rand.New(rand.NewPCG(seed, 5))
		n := 1 + rng.IntN(4000)
		keys := someKeys(seed, n)
		shape := someShape(rng, n)
		removed, added := rng.IntN(n/10+1), rng.IntN(n/10+1)
		old, next := epochs(t, keys, changed(seed, keys, removed, added), shape)
		oldParts, newParts := 1+rng.IntN(old.Parts()), 1+rng.IntN(next.Parts())
		d, err := EncodeDelta(old.Truncate(oldParts), next.Truncate(newParts), maxParts)
		if err != nil {
			if !errors.Is(err, ErrNoDelta) {
				t.Fatal(err)
			}
			return
		}
		old = old.Truncate(oldParts + rng.IntN(3))
		want := next.Truncate(min(oldParts, newParts))
		q, err := ApplyDelta(old, next.Header(), d)
		if err != nil {
			t.Fatalf("%d keys, -%d +%d, shape %v, parts %d of %d: %v", n, removed, added, shape, min(oldParts, newParts), next.Parts(), err)
		}
		if !slices.EqualFunc(q.parts, want.parts, slices.Equal) || !slices.Equal(q.chain, want.chain) || q.FalsePositiveRate() != want.FalsePositiveRate() {
			t.Fatal("not the parts of the next epoch")
		}
		if flip == 0 {
			return
		}
		d[int(where)%len(d)] ^= flip
		if q, err := ApplyDelta(old, next.Header(), d); err == nil {
			t.Fatalf("byte %d of a delta changed: accepted, %d parts", int(where)%len(d), q.Parts())
		}
	})
}

func TestDeltaAnyByte(t *testing.T) {
	keys := someKeys(3, 2000)
	old, next := epochs(t, keys, changed(3, keys, 20, 25), Shape{})
	d, err := EncodeDelta(old, next, maxParts)
	if err != nil {
		t.Fatal(err)
	}
	for i := range d {
		for _, x := range []byte{1, 0x80, 0xff} {
			d[i] ^= x
			if _, err := ApplyDelta(old, next.Header(), d); err == nil {
				t.Fatalf("byte %d changed by %#x: accepted", i, x)
			}
			d[i] ^= x
		}
	}
	if _, err := ApplyDelta(old, next.Header(), append(d, 0)); err == nil {
		t.Fatal("a byte too many: accepted")
	}
	if _, err := ApplyDelta(next, next.Header(), d); !errors.Is(err, ErrNoDelta) {
		t.Fatal(err)
	}
	if _, err := ApplyDelta(old.Truncate(2), next.Header(), d); !errors.Is(err, ErrNoDelta) {
		t.Fatal(err)
	}
}

func TestNoDelta(t *testing.T) {
	keys := someKeys(4, 2000)
	old, next := epochs(t, keys, someKeys(5, 2000), Shape{})
	if _, err := EncodeDelta(old, next, maxParts); !errors.Is(err, ErrNoDelta) {
		t.Error(err)
	}
	other := mustBuild(t, keys, Shape{Levels: []uint8{20}})
	if _, err := EncodeDelta(old, other, maxParts); !errors.Is(err, ErrNoDelta) {
		t.Error(err)
	}
	if _, err := EncodeDelta(old.Truncate(0), next, maxParts); !errors.Is(err, ErrNoDelta) {
		t.Error(err)
	}
}

func BenchmarkDelta(b *testing.B) {
	keys := someKeys(1, 100_000)
	old, next := epochs(b, keys, changed(1, keys, 1000, 1000), Shape{})
	var d []byte
	b.Run("encode", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			d, _ = EncodeDelta(old, next, maxParts)
		}
	})
	b.Run("apply", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := ApplyDelta(old, next.Header(), d); err != nil {
				b.Fatal(err)
			}
		}
	})
}
