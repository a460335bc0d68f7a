package counting

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// slow is the d-left filter as the paper describes it: subtables of buckets, which are lists of (remainder, count).
type slow struct {
	p       Params
	perms   []permutation
	buckets [][][]slowCell // by subtable and bucket
}

type slowCell struct {
	remainder uint64
	count     int
}

func newSlow(p Params) *slow {
	p = p.withDefaults()
	return &slow{p: p, perms: newPermutations(p), buckets: emptyBuckets(p)}
}

func emptyBuckets(p Params) [][][]slowCell {
	buckets := make([][][]slowCell, p.Subtables)
	for i := range buckets {
		buckets[i] = make([][]slowCell, p.Buckets)
	}
	return buckets
}

// at is f's bucket in subtable i, and its remainder there.
func (s *slow) at(i int, f uint64) (bucket *[]slowCell, remainder uint64) {
	y := f * s.perms[i].multiplier
	if q := uint(log2(s.p.Buckets) + s.p.RemainderBits); q < 64 {
		y %= 1 << q
	}
	return &s.buckets[i][y>>s.p.RemainderBits], y % (1 << s.p.RemainderBits)
}

// fingerprint of a cell.
func (s *slow) fingerprint(i, bucket int, c slowCell) uint64 {
	return (uint64(bucket)<<s.p.RemainderBits | c.remainder) * s.perms[i].inverse
}

func (s *slow) find(f uint64) *slowCell {
	for i := range s.perms {
		b, r := s.at(i, f)
		for j := range *b {
			if c := &(*b)[j]; c.remainder == r {
				return c
			}
		}
	}
	return nil
}

// highest count a cell can hold: one less for the remainder 0, whose first value says "empty".
func (s *slow) highest(r uint64) int {
	if r == 0 {
		return 1<<s.p.CounterBits - 1
	}
	return 1 << s.p.CounterBits
}

func (s *slow) put(f uint64, count, from int) bool {
	best, load := -1, s.p.Cells
	for i := from; i < s.p.Subtables; i++ {
		b, r := s.at(i, f)
		if len(*b) < load && count <= s.highest(r) {
			best, load = i, len(*b)
		}
	}
	if best < 0 {
		return false
	}
	b, r := s.at(best, f)
	*b = append(*b, slowCell{r, count})
	return true
}

func (s *slow) add(f uint64) error {
	if c := s.find(f); c != nil {
		if c.count == s.highest(c.remainder) {
			return errCounter
		}
		c.count++
		return nil
	}
	if s.put(f, 1, 0) {
		return nil
	}
	home, r := s.at(0, f)
	for j, c := range *home {
		number := slices.IndexFunc(s.buckets[0], func(b []slowCell) bool { return len(b) > 0 && &b[0] == &(*home)[0] })
		if s.put(s.fingerprint(0, number, c), c.count, 1) {
			(*home)[j] = slowCell{r, 1}
			return nil
		}
	}
	return errBucket
}

func (s *slow) remove(f uint64) bool {
	c := s.find(f)
	if c == nil {
		return false
	}
	if c.count--; c.count > 0 {
		return true
	}
	for i := range s.perms {
		at, _ := s.at(i, f)
		b := *at
		for j := range b {
			if b[j].count == 0 { // the last cell takes the free place
				b[j] = b[len(b)-1]
				*at = b[:len(b)-1]
				return true
			}
		}
	}
	panic("unreachable")
}

// compare checks everything that can be seen of the filter against the slow one.
func (s *slow) compare(t *testing.T, f *DLeft) {
	t.Helper()
	members, distinct := 0, 0
	loads := make([]int, s.p.Cells+1)
	s.each(func(i, bucket int) {
		b := s.buckets[i][bucket]
		loads[len(b)]++
		for _, c := range b {
			members += c.count
			distinct++
			x := s.fingerprint(i, bucket, c)
			if got := f.Count(x); got != c.count || !f.Contains(x) {
				t.Fatalf("count of %#x is %d, want %d", x, got, c.count)
			}
		}
	})
	if f.Len() != members || f.distinct != distinct {
		t.Fatalf("%d members, %d distinct; want %d, %d", f.Len(), f.distinct, members, distinct)
	}
	if got, _ := f.Loads(); !slices.Equal(got, loads) {
		t.Fatalf("loads %v, want %v", got, loads)
	}
	seen := 0
	for x := range f.All {
		seen++
		if s.find(x) == nil {
			t.Fatalf("fingerprint %#x was never added", x)
		}
	}
	if seen != distinct {
		t.Fatalf("%d fingerprints listed, want %d", seen, distinct)
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
		fast := must(NewDLeft(p))
		twin := newSlow(p)
		for _, op := range script {
			key := uint64(op>>2) * 0x9e3779b97f4a7c15 // 64 keys
			if op>>2 < 8 {
				key = uint64(op >> 2)
			}
			if op%4 == 0 {
				if got, want := fast.Remove(key), twin.remove(key); got != want {
					t.Fatalf("remove %#x: %v, want %v", key, got, want)
				}
			} else if got, want := fast.Add(key), twin.add(key); !errors.Is(got, want) {
				t.Fatalf("add %#x: %v, want %v", key, got, want)
			}
		}
		twin.compare(t, fast)
		noErr(t, fast.grow())
		twin.grow(t, fast)
		twin.compare(t, fast)
	})
}

func (s *slow) each(do func(subtable, bucket int)) {
	for i := range s.buckets {
		for bucket := range s.buckets[i] {
			do(i, bucket)
		}
	}
}

// grow puts every fingerprint into the doubled table, in its subtable.
func (s *slow) grow(t *testing.T, f *DLeft) {
	old := *s
	s.p = f.Params()
	s.buckets = emptyBuckets(s.p)
	old.each(func(i, bucket int) {
		for _, c := range old.buckets[i][bucket] {
			b, r := s.at(i, old.fingerprint(i, bucket, c))
			*b = append(*b, slowCell{r, c.count})
			if len(*b) > s.p.Cells {
				t.Fatal("a bucket overflows by growing")
			}
		}
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
