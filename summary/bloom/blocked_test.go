package bloom

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// slowBlocked is the plain meaning of a Blocked: the positions of each key, in a map.
type slowBlocked map[[2]uint64]bool

func (s slowBlocked) positions(f *Blocked, h Hash) (at [][2]uint64) {
	line := mulHigh(h.B, uint64(len(f.lines)))
	x := h.A
	for i := range f.hashes {
		if i > 0 && i%7 == 0 {
			x = again(x, h)
		}
		at = append(at, [2]uint64{line, x % 512})
		x /= 512
	}
	return at
}

func (s slowBlocked) contains(f *Blocked, key []byte) bool {
	return !slices.ContainsFunc(s.positions(f, f.seed.Hash(key)), func(at [2]uint64) bool { return !s[at] })
}

func mulHigh(a, b uint64) uint64 { // schoolbook, in halves
	a1, a0, b1, b0 := a>>32, a&math.MaxUint32, b>>32, b&math.MaxUint32
	mid := a1*b0 + a0*b0>>32
	low := mid&math.MaxUint32 + a0*b1
	return a1*b1 + mid>>32 + low>>32
}

// FuzzBlocked compares every answer with the plain meaning, and what is decoded with what was encoded.
func FuzzBlocked(f *testing.F) {
	for seed := range uint64(8) {
		f.Add(seed, uint8(7*seed+1), uint16(100*seed))
		f.Add(2*seed+1, uint8(seed), uint16(64_000+seed)) // beyond the caches
	}
	f.Fuzz(func(t *testing.T, seed uint64, hashes uint8, bits uint16) {
		k := int(hashes)%maxLineHashes + 1
		size := uint64(bits) + 1
		if seed%2 == 1 {
			size *= 64
		}
		b := must(NewBlocked(size, k, Hasher{seed, 1}))
		slow := slowBlocked{}
		rng := rand.New(rand.NewPCG(seed, 8))
		for range 40 {
			key := binary.LittleEndian.AppendUint64(nil, rng.Uint64N(60))
			there := slow.contains(b, key)
			if b.Contains(key) != there {
				t.Fatalf("%d hash functions: Contains is not %v", k, there)
			}
			if rng.IntN(2) == 0 {
				if b.TestAndAdd(key) != there {
					t.Fatalf("TestAndAdd is not %v", there)
				}
				for _, at := range slow.positions(b, b.seed.Hash(key)) {
					slow[at] = true
				}
			}
		}
		var keys [][]byte
		for range rng.IntN(600) {
			keys = append(keys, binary.LittleEndian.AppendUint64(nil, rng.Uint64N(80)))
		}
		found := make([]bool, len(keys))
		b.ContainsAll(keys, found)
		for i, key := range keys {
			if there := slow.contains(b, key); found[i] != there {
				t.Fatalf("%d hash functions, %d lines: ContainsAll is not %v", k, len(b.lines), there)
			}
		}
		data, _ := b.MarshalBinary()
		var got Blocked
		if err := got.UnmarshalBinary(data); err != nil || len(data) != cap(data) {
			t.Fatal(err)
		}
		again, _ := got.MarshalBinary()
		if !bytes.Equal(data, again) {
			t.Fatal("another filter came back")
		}
	})
}

// TestBlockedRate measures false positives beside the formula, for hashes of the seed and ready-made ones.
func TestBlockedRate(t *testing.T) {
	const n, probes = 20_000, 400_000
	for _, rate := range []float64{0.1, 0.01, 0.001} {
		for _, ready := range []bool{false, true} {
			f := must(NewBlockedForRate(n, rate))
			hash := func(i uint64) Hash {
				if ready {
					return Hash64(mix64(i))
				}
				return f.seed.Hash(binary.LittleEndian.AppendUint64(nil, i))
			}
			got, want := measuredRate(f, n, probes, hash), blockedRate(float64(len(f.lines))*lineBits/n, f.hashes)
			if bits := f.FalsePositiveRate(); math.Abs(bits/want-1) > 0.03 {
				t.Errorf("planned for %v: rate from bits %v, formula %v", rate, bits, want)
			}
			if want > rate || want < rate*0.9 || f.hashes > 12 {
				t.Errorf("planned for %v: formula %v", rate, want)
			}
			if sigma := math.Sqrt(want / probes); math.Abs(got-want) > 5*sigma {
				t.Errorf("rate %v, ready-made %v: measured %v, formula %v", rate, ready, got, want)
			}
			plain, _ := paramsForRate(n, rate)
			t.Logf("rate %v: %.2f bits a key, %.2f of a standard filter's", rate, 8*float64(f.SizeBytes())/n, 8*float64(f.SizeBytes())/float64(plain.Bits()))
		}
	}
}

func TestBlockedMistakes(t *testing.T) {
	for _, err := range []error{
		second(NewBlocked(0, 3, Hasher{})), second(NewBlocked(100, 0, Hasher{})), second(NewBlocked(100, 65, Hasher{})),
		second(NewBlocked(maxBits+1, 3, Hasher{})), second(NewBlockedForRate(-1, .1)), second(NewBlockedForRate(1, 0)),
		second(NewBlockedForRate(1, math.NaN())), second(NewBlockedForRate(math.MaxInt, .01)), second(NewBlockedForRate(1, 1e-300)),
	} {
		if !errors.Is(err, errParams) {
			t.Errorf("error %v", err)
		}
	}
	a, _ := NewBlocked(1000, 3, Hasher{})
	for _, other := range []struct {
		bits   uint64
		hashes int
		seed   Hasher
	}{{2000, 3, Hasher{}}, {1000, 4, Hasher{}}, {1000, 3, Hasher{K0: 1}}} {
		b, _ := NewBlocked(other.bits, other.hashes, other.seed)
		if err := a.Merge(b); !errors.Is(err, ErrMismatch) {
			t.Errorf("%+v: %v", other, err)
		}
	}
	b, _ := NewBlocked(1000, 3, Hasher{})
	a.Add([]byte("a"))
	b.Add([]byte("b"))
	if err := a.Merge(b); err != nil || !a.Contains([]byte("a")) || !a.Contains([]byte("b")) {
		t.Errorf("merged: %v", err)
	}
	if a.Reset(); a.Contains([]byte("a")) {
		t.Error("reset")
	}
}

// measuredRate adds n keys to a set and asks for others; hash returns the hash of a key by its number.
func measuredRate(f Set, n, probes uint64, hash func(uint64) Hash) float64 {
	for i := range n {
		f.AddHash(hash(i))
	}
	hits := 0
	for i := range probes {
		if f.ContainsHash(hash(n + i)) {
			hits++
		}
	}
	return float64(hits) / float64(probes)
}

// TestHash64Rate measures false positives of a standard filter under ready-made hashes that count up, mixed once.
func TestHash64Rate(t *testing.T) {
	const n, probes = 20_000, 400_000
	f := must(NewForRate(n, 0.01))
	got := measuredRate(f, n, probes, func(i uint64) Hash { return Hash64(mix64(i)) })
	if want := f.FalsePositiveRate(); math.Abs(got-want) > 5*math.Sqrt(want/probes) {
		t.Errorf("measured %v, expected %v", got, want)
	}
}
