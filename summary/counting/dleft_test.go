package counting

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// holds compares a filter with the counts of its members, by fingerprint.
func holds(t *testing.T, f *DLeft, counts map[uint64]int) {
	t.Helper()
	members := 0
	for x, n := range counts {
		members += n
		if got := f.Count(x); got != n || f.Contains(x) != (n > 0) {
			t.Fatalf("count of %#x is %d, want %d", x, got, n)
		}
	}
	listed := slices.Sorted(f.All)
	if want := slices.Sorted(maps.Keys(counts)); !slices.Equal(listed, want) || f.Len() != members || f.distinct != len(want) {
		t.Fatalf("%d members, %d distinct, %x listed; want %d of %x", f.Len(), f.distinct, listed, members, want)
	}
	loads, _ := f.Loads()
	buckets, cells := 0, 0
	for load, n := range loads {
		buckets, cells = buckets+n, cells+n*load
	}
	if p := f.Params(); buckets != p.Subtables*p.Buckets || cells != len(counts) {
		t.Fatalf("loads %v, of %d fingerprints in %d buckets", loads, len(counts), p.Subtables*p.Buckets)
	}
}

// FuzzDLeft runs a script of operations on small tables, where everything overflows now and then.
func FuzzDLeft(f *testing.F) {
	rng := rand.New(rand.NewPCG(3, 4))
	for form := range uint8(5) {
		script := make([]byte, 200)
		for i := range script {
			script[i] = byte(rng.Uint32())
		}
		f.Add(form, uint64(form), script)
	}
	f.Fuzz(func(t *testing.T, form uint8, seed uint64, script []byte) {
		p := []Params{
			{Buckets: 2, RemainderBits: 14},
			{Buckets: 4, RemainderBits: 3},
			{Buckets: 2, RemainderBits: 46},
			{Subtables: 3, Buckets: 4, Cells: 3, RemainderBits: 6, CounterBits: 1},
			{Subtables: 2, Buckets: 1, Cells: 5, RemainderBits: 54, CounterBits: 3},
		}[form%5]
		p.Seed, p.Fixed = seed, true
		filter := must(NewDLeft(p))
		p = filter.Params()
		counts := map[uint64]int{}
		for _, op := range script {
			key := uint64(op>>2) * 0x9e3779b97f4a7c15 // 64 keys
			if op>>2 < 8 {
				key = uint64(op >> 2)
			}
			x := key & (1<<filter.fingerprintBits() - 1)
			if op%4 == 0 {
				if got := filter.Remove(key); got != (counts[x] > 0) {
					t.Fatalf("remove %#x, of %d: %v", key, counts[x], got)
				}
				if counts[x]--; counts[x] <= 0 {
					delete(counts, x)
				}
				continue
			}
			limit := 1 << p.CounterBits
			if b, cell := filter.find(x); cell >= 0 && filter.remainder(filter.get(b, cell)) == 0 {
				limit--
			}
			switch err := filter.Add(key); {
			case err == nil:
				counts[x]++
			case errors.Is(err, errCounter) && counts[x] == limit:
			case errors.Is(err, errBucket) && counts[x] == 0 && len(counts) >= p.Subtables*p.Cells:
			default:
				t.Fatalf("add %#x, of %d: %v", key, counts[x], err)
			}
		}
		holds(t, filter, counts)
		noErr(t, filter.grow())
		holds(t, filter, counts)
	})
}

// TestGrowFullCounters grows a filter that has fingerprints at the highest count, until remainders have one bit. Among
// them are those whose remainders become 0.
func TestGrowFullCounters(t *testing.T) {
	f := must(NewDLeft(Params{Buckets: 2, RemainderBits: 9, Seed: 3, Fixed: true}))
	members := []uint64{1, 2, 4, 8, 64, 256, 3, 5}
	for _, x := range members {
		for range 4 {
			noErr(t, f.Add(x))
		}
	}
	for f.Params().RemainderBits > 1 {
		if err := f.grow(); err != nil {
			t.Fatalf("remainders of %d bits: %v", f.Params().RemainderBits, err)
		}
		for _, x := range members {
			if f.Count(x) != 4 {
				t.Fatalf("remainders of %d bits: %d counted %d times", f.Params().RemainderBits, x, f.Count(x))
			}
		}
		data, _ := f.MarshalBinary()
		noErr(t, new(DLeft).UnmarshalBinary(data))
	}
	if f.Params().CounterBits != defaultCounterBits+1 {
		t.Errorf("counters of %d bits", f.Params().CounterBits)
	}
	if err := f.grow(); !errors.Is(err, errParams) {
		t.Errorf("remainders of one bit grew: %v", err)
	}
}

func TestGrowKeepsFingerprints(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	p := ParamsForFingerprint(100, 48)
	p.Seed = 7
	f := must(NewDLeft(p))
	var want []uint64
	for range 20_000 {
		x := rng.Uint64() >> 16
		want = append(want, x)
		noErr(t, f.Add(x))
	}
	got := slices.Sorted(f.All)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Error("fingerprints changed by growing")
	}
	if f.fingerprintBits() != 48 || f.moves != 0 {
		t.Errorf("q %d, %d moves", f.fingerprintBits(), f.moves)
	}
}

// TestOverflowGrows fills a bucket of a table that is nearly empty: Add doubles the table, unless it is fixed.
func TestOverflowGrows(t *testing.T) {
	for _, fixed := range []bool{false, true} {
		f := must(NewDLeft(Params{Subtables: 1, Buckets: 4, Cells: 2, RemainderBits: 20, Seed: 3, Fixed: fixed}))
		var members []uint64 // of one bucket, and of two once there are twice as many
		for x := uint64(0); len(members) < 3; x++ {
			if b, r := f.place(0, x); b == 0 && int(r>>19) == len(members)%2 {
				members = append(members, x)
			}
		}
		for i, x := range members {
			if err := f.Add(x); (err != nil) != (fixed && i == 2) || err != nil && !errors.Is(err, errBucket) {
				t.Errorf("fixed %v: member %d: %v", fixed, i, err)
			}
		}
		if want := map[bool]int{false: 8, true: 4}[fixed]; f.Params().Buckets != want || f.Params().Fixed != fixed {
			t.Errorf("fixed %v: %+v", fixed, f.Params())
		}
	}
}

// The failsafe of section 5.2 carries tables well beyond the load at which buckets overflow.
func TestFailsafe(t *testing.T) {
	const n = 55296 // average load 6.75
	f := must(NewDLeft(Params{Buckets: 2048, RemainderBits: 37, Seed: 10, Fixed: true}))
	for _, x := range churn(t, f, n, 1<<19, rand.New(rand.NewPCG(8, 9))) {
		if !f.Contains(x) {
			t.Fatal("a member is gone")
		}
	}
	if f.moves < 10 || f.moves > 100 { // the paper: 40 to 100 for 2^20 steps
		t.Errorf("%d moves", f.moves)
	}
}

func TestParams(t *testing.T) {
	good := Params{Buckets: 8, RemainderBits: 14}
	must(NewDLeft(good))
	for name, p := range map[string]Params{
		"subtables": {Buckets: 8, RemainderBits: 14, Subtables: 17},
		"power":     {Buckets: 6, RemainderBits: 14},
		"buckets":   {RemainderBits: 14},
		"cells":     {Buckets: 8, RemainderBits: 14, Cells: 65},
		"remainder": {Buckets: 8},
		"wide cell": {Buckets: 8, RemainderBits: 56},
		"wide q":    {Buckets: 1 << 20, RemainderBits: 45},
		"counter":   {Buckets: 8, RemainderBits: 14, CounterBits: 17},
		"negative":  {Buckets: -8, RemainderBits: 14},
		"too large": {Buckets: 1 << 30, RemainderBits: 30, Subtables: 16, Cells: 64},
	} {
		if _, err := NewDLeft(p); !errors.Is(err, errParams) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestForFingerprintSize(t *testing.T) {
	const n = 786_432
	f := must(NewDLeft(ParamsForFingerprint(n, 48)))
	if per := float64(8*f.SizeBytes()) / n; math.Abs(per-46.67) > 0.01 || target(f.SizeBytes()*8/int(f.cellBits)) != n {
		t.Errorf("%.2f bits a member, target %d", per, target(f.SizeBytes()*8/int(f.cellBits)))
	}
}

func TestNoAllocation(t *testing.T) {
	for name, p := range map[string]Params{"words": paramsForRemainder(1000, 14), "packed": ParamsForFingerprint(1000, 48)} {
		f := must(NewDLeft(p))
		x := uint64(1)
		if n := testing.AllocsPerRun(100, func() {
			x *= 0x9e3779b97f4a7c15
			if f.Add(x) != nil || !f.Contains(x) || !f.Remove(x) {
				t.Error("lost")
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

// The zero value is empty, and to add to it panics.
func TestZeroValue(t *testing.T) {
	var f DLeft
	if f.Contains(1) || f.Remove(1) || f.Len() != 0 || f.SizeBytes() != 0 || fmt.Sprint(f.FalsePositiveRate()) != "0" {
		t.Error("not an empty filter")
	}
	for range f.All {
		t.Error("it yields a member")
	}
	defer func() {
		if v := recover(); fmt.Sprint(v) != "counting: the zero value takes no members: make a filter with NewDLeft" {
			t.Errorf("Add: %v", v)
		}
	}()
	_ = f.Add(1)
}

// must returns v. It panics on an error.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// noErr ends the test if there is an error.
func noErr(t testing.TB, err error) {
	if err != nil {
		t.Helper()
		t.Fatal(err)
	}
}
