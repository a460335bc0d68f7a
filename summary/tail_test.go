package summary

import (
	"bytes"
	"crypto/ed25519"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// tailKey is the key of the test origin.
var tailKey = ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, ed25519.SeedSize))

func signTail(message []byte) ([]byte, error) { return ed25519.Sign(tailKey, message), nil }

func verifyTail(_ string, message, signature []byte) error {
	if !ed25519.Verify(tailKey.Public().(ed25519.PublicKey), message, signature) {
		return errors.New("bad signature")
	}
	return nil
}

// signed is the signed form of t for h.
func signed(tb testing.TB, t *Tail, h *Header) []byte {
	tb.Helper()
	s, err := t.Sign(h, signTail)
	if err != nil {
		tb.Fatal(err)
	}
	return s.AppendSigned(nil)
}

// FuzzParseTail accepts only what AppendBinary writes.
func FuzzParseTail(f *testing.F) {
	for _, n := range []int{0, 1, 2, 50, 150} {
		keys := someKeys(uint64(n), n)
		f.Add(NewTail(uint32(n)+1, uint32(n)/2, keys[:n/3], keys[n/3:]).AppendBinary(nil))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		tail, err := ParseTail(b)
		if err != nil {
			if tail != nil {
				t.Fatal("a tail and an error")
			}
			return
		}
		again := NewTail(tail.Number(), tail.From(), slices.Collect(tail.Added()), slices.Collect(tail.Removed()))
		if got := again.AppendBinary(nil); !bytes.Equal(got, b) || again.EncodedBytes() != len(b) {
			t.Fatalf("%x became %x", b, got)
		}
	})
}

// FuzzOpenTail is an origin that signs whatever it likes, and a stranger that sends it.
func FuzzOpenTail(f *testing.F) {
	h := mustBuild(f, someKeys(1, 100), Shape{}).Header()
	f.Add(signed(f, NewTail(1, 0, someKeys(1, 10), someKeys(2, 10)), h))
	f.Fuzz(func(t *testing.T, b []byte) {
		tail, err := OpenTail(b, h, func(string, []byte, []byte) error { return nil })
		if err != nil {
			return
		}
		if got := tail.AppendSigned(nil); !bytes.Equal(got, b) || len(got) > MaxTail {
			t.Fatalf("%x became %x", b, got)
		}
	})
}

// TestTailAnyByte changes every byte of signed tails, cuts them and adds to them.
func TestTailAnyByte(t *testing.T) {
	h := mustBuild(t, someKeys(1, 100), Shape{}).Header()
	for _, n := range []int{0, 1, 160} {
		keys := someKeys(2, n)
		b := signed(t, NewTail(3, 1, keys[:n/2], keys[n/2:]), h)
		if _, err := OpenTail(b, h, verifyTail); err != nil {
			t.Fatal(err)
		}
		for i := range b {
			for _, x := range []byte{1, 0x10, 0x80, 0xff} {
				b[i] ^= x
				if _, err := OpenTail(b, h, verifyTail); err == nil {
					t.Fatalf("%d changes, byte %d changed by %#x: accepted", n, i, x)
				}
				b[i] ^= x
			}
			if _, err := OpenTail(b[:i], h, verifyTail); err == nil {
				t.Fatalf("%d changes, cut to %d bytes: accepted", n, i)
			}
		}
		if _, err := OpenTail(append(b, 0), h, verifyTail); err == nil {
			t.Fatal("a byte more: accepted")
		}
	}
}

// TestTailReplay sends a tail with the header of another epoch, of the same keys and so of the same h_0: a signature of
// h_0 and the tail alone would verify.
func TestTailReplay(t *testing.T) {
	keys := someKeys(1, 100)
	old := mustBuild(t, keys, Shape{}).Header()
	b := signed(t, NewTail(1, 0, someKeys(2, 3), nil), old)
	changes := map[string]func(*Header){
		"epoch":    func(h *Header) { h.Epoch.Sequence++ },
		"seed":     func(h *Header) { h.Seed.Number++ },
		"origin":   func(h *Header) { h.Origin = "other" },
		"lifetime": func(h *Header) { h.Lifetime *= 2 },
	}
	for name, change := range changes {
		h := *old
		change(&h)
		st, err := Build(keys, h)
		if err != nil {
			t.Fatal(err)
		}
		if st.Header().Chain != old.Chain {
			t.Fatalf("%s: another h_0", name)
		}
		if _, err := OpenTail(b, st.Header(), verifyTail); !errors.Is(err, ErrSigner) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestTailSize holds tails to 12 bytes a change and 120 a tail, and says how many changes fit.
func TestTailSize(t *testing.T) {
	h := mustBuild(t, someKeys(1, 100), Shape{}).Header()
	most := 0
	for n := 0; ; n++ {
		keys := someKeys(uint64(n), n)
		s, err := NewTail(1<<20, 1<<20-1, keys[:n/2], keys[n/2:]).Sign(h, signTail)
		if err != nil {
			if !errors.Is(err, ErrLimit) {
				t.Fatal(err)
			}
			break
		}
		if got := len(s.AppendSigned(nil)); got > 120+12*n {
			t.Errorf("%d changes take %d bytes", n, got)
		}
		most = n
	}
	if most < 175 {
		t.Errorf("a signed tail holds only %d changes", most)
	}
}

// TestTailMistakes are those of the caller.
func TestTailMistakes(t *testing.T) {
	for name, f := range map[string]func(){
		"number":   func() { NewTail(2, 2, nil, nil) },
		"both":     func() { NewTail(1, 0, []Fingerprint{1, 2}, []Fingerprint{2}) },
		"bits":     func() { NewTail(1, 0, []Fingerprint{1 << FingerprintBits}, nil) },
		"many":     func() { NewTail(1, 0, someKeys(1, MaxTailChange+1), nil) },
		"unsigned": func() { NewTail(1, 0, nil, nil).AppendSigned(nil) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}

// FuzzChanges follows a collection by tails that continue or replace others, get lost, come twice and in any order, beside
// plain sets.
func FuzzChanges(f *testing.F) {
	for seed := range uint64(20) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		rng := rand.New(rand.NewPCG(seed, 5))
		universe := someKeys(seed, 40)
		epoch := setOf(universe[:20])
		states := []map[Fingerprint]bool{epoch} // by number
		tails := []*Tail{nil}
		var c *Changes
		for range 30 {
			now := setOf(nil)
			for k := range states[len(states)-1] {
				now[k] = true
			}
			for range rng.IntN(6) {
				if k := universe[rng.IntN(len(universe))]; now[k] {
					delete(now, k)
				} else {
					now[k] = true
				}
			}
			from := rng.IntN(len(states))
			added, removed := difference(states[from], now)
			states = append(states, now)
			tails = append(tails, NewTail(uint32(len(tails)), uint32(from), added, removed))
			for range rng.IntN(3) {
				tail := tails[1+rng.IntN(len(tails)-1)]
				next, err := c.Apply(tail)
				switch {
				case err == nil && tail.Number() <= c.Number():
					if next != c {
						t.Fatal("an old tail changed something")
					}
				case err == nil && next.Number() != tail.Number():
					t.Fatalf("state %d after tail %d", next.Number(), tail.Number())
				case err != nil && (!errors.Is(err, ErrBase) || next != nil):
					t.Fatal(err)
				}
				if err == nil {
					c = next
				}
				checkChanges(t, c, epoch, states[c.Number()], universe)
			}
		}
		// Whoever gets the tails that led there gets there.
		var again *Changes
		for tail := range c.Tails() {
			next, err := again.Apply(tail)
			if err != nil {
				t.Fatal(err)
			}
			again = next
		}
		if again.Number() != c.Number() || c.Number() > 0 && !slices.Equal(again.added, c.added) {
			t.Fatal("the tails lead elsewhere")
		}
	})
}

func setOf(fps []Fingerprint) map[Fingerprint]bool {
	set := map[Fingerprint]bool{}
	for _, f := range fps {
		set[f] = true
	}
	return set
}

// difference is what makes one set of another.
func difference(from, to map[Fingerprint]bool) (added, removed []Fingerprint) {
	for f := range to {
		if !from[f] {
			added = append(added, f)
		}
	}
	for f := range from {
		if !to[f] {
			removed = append(removed, f)
		}
	}
	return added, removed
}

func checkChanges(t *testing.T, c *Changes, epoch, now map[Fingerprint]bool, universe []Fingerprint) {
	t.Helper()
	added, removed := difference(epoch, now)
	if !slices.Equal(slices.Collect(c.Added()), sorted(added)) || !slices.Equal(slices.Collect(c.Removed()), sorted(removed)) {
		t.Fatalf("state %d: added %v, removed %v", c.Number(), slices.Collect(c.Added()), slices.Collect(c.Removed()))
	}
	if c.Len() != len(added)+len(removed) || len(epoch)+c.Growth() != len(now) {
		t.Fatalf("state %d: %d changes, growth %d", c.Number(), c.Len(), c.Growth())
	}
	for _, f := range universe {
		if c.Match(epoch[f], f) != now[f] {
			t.Fatalf("state %d: %x: %v, want %v", c.Number(), f, c.Match(epoch[f], f), now[f])
		}
	}
}

// TestChangesLimits is an origin that sends tails without end.
func TestChangesLimits(t *testing.T) {
	var c *Changes
	var err error
	for i := uint32(1); err == nil; i++ {
		var next *Changes
		if next, err = c.Apply(NewTail(i, i-1, nil, nil)); err == nil {
			c = next
		}
	}
	if !errors.Is(err, ErrLimit) || c.Number() != MaxTails {
		t.Errorf("%d empty tails: %v", c.Number(), err)
	}
	c, err = nil, nil
	keys := someKeys(1, MaxChanges+MaxTailChange)
	for i := uint32(1); err == nil; i++ {
		var next *Changes
		if next, err = c.Apply(NewTail(i, i-1, keys[:MaxTailChange], nil)); err == nil {
			c, keys = next, keys[MaxTailChange:]
		}
	}
	if !errors.Is(err, ErrLimit) || c.Len() != MaxChanges {
		t.Errorf("%d changes: %v", c.Len(), err)
	}
	if c.SizeBytes() < 8*MaxChanges {
		t.Errorf("%d changes take %d bytes", c.Len(), c.SizeBytes())
	}
}

// TestOverlapWithChanges estimates the overlap of epochs, corrects it by tails, and compares with the truth.
func TestOverlapWithChanges(t *testing.T) {
	const n, both, change = 4000, 1000, 300
	sum, truth := 0.0, 0
	for seed := range uint64(10) {
		keys := someKeys(seed, 2*n)
		x, y := keys[:n], keys[n-both:2*n-both]
		// a gains some of b's keys and loses some it shares; b gains some of a's, and what neither has.
		ca := NewTail(1, 0, y[both:both+change], x[n-both:n-both+change/2])
		cb := NewTail(1, 0, append(slices.Clone(x[:change]), keys[2*n-both:2*n-both+change]...), y[both:both+change/3])
		now := func(keys []Fingerprint, c *Tail) map[Fingerprint]bool {
			set := setOf(keys)
			for f := range c.Removed() {
				delete(set, f)
			}
			for f := range c.Added() {
				set[f] = true
			}
			return set
		}
		a, b := mustBuild(t, x, Shape{}).Prefix(), mustBuild(t, y, Shape{}).Prefix()
		ga, _ := (*Changes)(nil).Apply(ca)
		gb, _ := (*Changes)(nil).Apply(cb)
		o, err := EstimateOverlap(a, b, .95)
		if err != nil {
			t.Fatal(err)
		}
		o = o.WithChanges(a, ga, b, gb)
		nowA, nowB := now(x, ca), now(y, cb)
		want := 0
		for f := range nowA {
			if nowB[f] {
				want++
			}
		}
		if o.N1 != float64(len(nowA)) || o.N2 != float64(len(nowB)) {
			t.Fatalf("%v and %v keys, not %d and %d", o.N1, o.N2, len(nowA), len(nowB))
		}
		sum, truth = sum+o.Intersection.Value, truth+want
	}
	if off := sum/float64(truth) - 1; off > .01 || off < -.01 {
		t.Errorf("estimates are %.2f %% off", 100*off)
	}
}

// tailLines are the goldens: number, from, changes, and the signed bytes.
func tailLines(t *testing.T) string {
	var out strings.Builder
	h := mustBuild(t, congruential(300), Shape{}).Header()
	for _, n := range []int{0, 1, 2, 10, 165} {
		keys := congruential(n)
		tail := NewTail(uint32(n+1), uint32(n/2), keys[:n/3], keys[n/3:])
		fmt.Fprintf(&out, "%d %d +%d -%d %s\n", tail.Number(), tail.From(), n/3, n-n/3, hex.EncodeToString(signed(t, tail, h)))
	}
	return out.String()
}

// TestTailGolden holds signed tails to the bytes they had before.
func TestTailGolden(t *testing.T) {
	head := "# Signed tails of the epoch of 300 fingerprints of streams.golden's generator, signed by Ed25519 with the seed 0707…07:\n" +
		"# number, from, fingerprints added and removed (of the generator, the first third added), bytes.\n"
	golden(t, "testdata/tails.golden", []byte(head+tailLines(t)))
}

func BenchmarkTail(b *testing.B) {
	keys := someKeys(1, 165)
	tail := NewTail(2, 1, keys[:80], keys[80:])
	encoded := tail.AppendBinary(nil)
	b.Run("encode", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			tail.AppendBinary(nil)
		}
	})
	b.Run("decode", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := ParseTail(encoded); err != nil {
				b.Fatal(err)
			}
		}
	})
	c, _ := (*Changes)(nil).Apply(NewTail(1, 0, someKeys(2, 1000), nil))
	b.Run("apply", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := c.Apply(tail); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("match", func(b *testing.B) {
		for b.Loop() {
			c.Match(false, keys[7])
		}
	})
}
