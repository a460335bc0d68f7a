package counting

import (
	"bytes"
	"encoding/hex"
	"errors"
	"flag"
	"maps"
	"math"
	"math/bits"
	"math/rand/v2"
	"os"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "write the golden files anew")

// fixtures are one small filter of each form, with the name of its golden file.
func fixtures(t testing.TB) map[string]*DLeft {
	words := must(NewDLeft(Params{Buckets: 2, RemainderBits: 14, Seed: 11}))
	packed := must(NewDLeft(Params{Subtables: 3, Buckets: 4, Cells: 3, RemainderBits: 16, CounterBits: 3, Seed: 12}))
	all := map[string]*DLeft{"words": words, "packed": packed}
	for _, f := range all {
		for i := range uint64(9) {
			noErr(t, f.Add(i/2*0x9e3779b97f4a7c15))
		}
	}
	return all
}

func TestGolden(t *testing.T) {
	for name, f := range fixtures(t) {
		got := must(f.MarshalBinary())
		file := "testdata/" + name + ".hex"
		if *rewrite {
			noErr(t, os.WriteFile(file, []byte(hex.EncodeToString(got)+"\n"), 0o644))
		}
		want := must(os.ReadFile(file))
		if hex.EncodeToString(got)+"\n" != string(want) {
			t.Errorf("%s: %x", name, got)
		}
	}
}

func TestUnmarshalRefuses(t *testing.T) {
	for name, f := range fixtures(t) {
		good, _ := f.MarshalBinary()
		refuses := func(what string, b []byte) {
			if err := f.UnmarshalBinary(b); !errors.Is(err, errMalformed) {
				t.Errorf("%s, %s: %v", name, what, err)
			}
			if now, _ := f.MarshalBinary(); !bytes.Equal(now, good) {
				t.Fatalf("%s, %s: the filter changed", name, what)
			}
		}
		for n := range good {
			refuses("cut", good[:n])
		}
		refuses("longer", append(bytes.Clone(good), 0))
		for i := range good {
			b := bytes.Clone(good)
			b[i] ^= 0x10
			refuses("a bit changed", b)
		}
		refuses("nothing there", appendSum(append(bytes.Clone(good[:6]), 0xff, 0xff, 0xff, 0xff, 0xff, 0x0f)))
		refuses("another size", appendSum(append([]byte(binaryMagic), 20, 0, 0)))
		for i := range 7 {
			b := bytes.Clone(good)
			b[i] = 0xff
			refuses("header", b)
			refuses("header, sealed", appendSum(b[:len(b)-4]))
		}
	}
}

// TestBinaryKeepsMembers writes and reads filters of many forms and counts: into the same form, into one that must grow,
// and into a zero value. The bytes written again are the same.
func TestBinaryKeepsMembers(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 32))
	for _, n := range []int{0, 1, 2, 63, 64, 65, 2000} {
		for _, p := range []Params{
			{Buckets: 1 << 7, RemainderBits: 41, Seed: 1},
			{Buckets: 1 << 7, RemainderBits: 5, Seed: 2, CounterBits: 3},
			{Buckets: 1 << 7, RemainderBits: 41, CounterBits: 16},
			{Buckets: 1 << 8, RemainderBits: 55, Seed: 3},
		} {
			f, err := NewDLeft(p)
			if err != nil {
				t.Fatal(err)
			}
			for range n {
				x := rng.Uint64()
				for range 1 + bits.TrailingZeros64(rng.Uint64()|1<<2) {
					_ = f.Add(x)
				}
			}
			data, _ := f.MarshalBinary()
			p = f.Params()
			p.Buckets, p.RemainderBits, p.Seed = 1<<3, p.RemainderBits+log2(p.Buckets)-3, 77
			small, err := NewDLeft(p)
			if err != nil {
				small = new(DLeft)
			}
			for _, back := range []*DLeft{new(DLeft), small, f} {
				want := countsOf(f)
				if back.perms == nil && p.RemainderBits > 52 {
					continue // fingerprints as wide need more buckets than the default form has
				}
				if err := back.UnmarshalBinary(data); err != nil {
					t.Fatalf("%d members of %+v: %v", n, p, err)
				}
				again, _ := back.MarshalBinary()
				if !maps.Equal(countsOf(back), want) || back.Len() != f.Len() || !bytes.Equal(again, data) {
					t.Fatalf("%d members of %+v: %d bytes came back otherwise", n, p, len(data))
				}
			}
		}
	}
}

func countsOf(f *DLeft) map[uint64]int {
	counts := make(map[uint64]int)
	for x := range f.All {
		counts[x] = f.Count(x)
	}
	return counts
}

// TestBinaryIsEntropy holds the bytes to the logarithm of the number of sets of that size, and to the entropy of counts.
func TestBinaryIsEntropy(t *testing.T) {
	rng := rand.New(rand.NewPCG(33, 34))
	for _, n := range []int{1000, 30_000} {
		f := must(NewDLeft(ParamsForFingerprint(n, 48)))
		var times [4]float64
		for range n {
			x, extra := rng.Uint64(), min(bits.TrailingZeros64(rng.Uint64()), 3)
			times[extra]++
			for range extra + 1 {
				noErr(t, f.Add(x))
			}
		}
		least := float64(n) * (48 - math.Log2(float64(n)) + math.Log2E)
		for _, m := range times {
			least -= m * math.Log2(m/float64(n))
		}
		data, _ := f.MarshalBinary()
		if ratio := float64(8*len(data)) / least; ratio < 0.999 || ratio > 1.01 {
			t.Errorf("%d members: %d bits, %.4f of the entropy", n, 8*len(data), ratio)
		}
	}
}

// TestUnmarshalFits reads what the filter has no room or no counters for.
func TestUnmarshalFits(t *testing.T) {
	full := must(NewDLeft(Params{Buckets: 1, RemainderBits: 40, CounterBits: 8}))
	for i := range uint64(24) {
		for range 10 {
			noErr(t, full.Add(i))
		}
	}
	data, _ := full.MarshalBinary()
	for want, p := range map[error]Params{
		errBucket:  {Buckets: 1, Subtables: 2, RemainderBits: 40, CounterBits: 8, Fixed: true},
		errCounter: {Buckets: 1, RemainderBits: 40, CounterBits: 3},
	} {
		f := must(NewDLeft(p))
		if err := f.UnmarshalBinary(data); !errors.Is(err, want) || f.Len() != 0 {
			t.Errorf("%+v: %v, %d members", p, err, f.Len())
		}
	}
}

// TestUnmarshalOfOneBucket has a zero value read members that all belong to one bucket of each subtable, under the seed
// that it takes.
func TestUnmarshalOfOneBucket(t *testing.T) {
	p := ParamsForFingerprint(48, 40)
	known := must(NewDLeft(p))
	p.Seed = 9
	f := must(NewDLeft(p))
	for x := uint64(1); f.Len() < 48; x++ {
		homes := 0
		for i := range known.perms {
			b, _ := known.place(i, x<<20)
			homes |= int(b & 1)
		}
		if homes == 0 {
			_ = f.Add(x << 20)
		}
	}
	data, _ := f.MarshalBinary()
	if err := new(DLeft).UnmarshalBinary(data); !errors.Is(err, errBucket) {
		t.Error(err)
	}
	p.Seed = 10
	other := must(NewDLeft(p))
	if err := other.UnmarshalBinary(data); err != nil || other.Len() != 48 {
		t.Errorf("%v, %d members", err, other.Len())
	}
}

func FuzzUnmarshal(f *testing.F) {
	for _, fixture := range fixtures(f) {
		data, _ := fixture.MarshalBinary()
		f.Add(data[:len(data)-4])
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		data = appendSum(data)
		var back DLeft
		if err := back.UnmarshalBinary(data); err != nil {
			if back.Len() != 0 {
				t.Fatal(err)
			}
			return
		}
		again, _ := back.MarshalBinary()
		if !bytes.Equal(again, data) {
			t.Fatalf("%x was accepted, but is written as %x", data, again)
		}
	})
}
