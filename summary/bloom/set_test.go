package bloom

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
)

var setParams = Params{Blocks: 5, BlockBits: 2003, Hashes: 1, Hasher: Hasher{3, 4}}

// eachSet runs a test on an empty filter of each kind and on its zero value, under the given seed. merge merges a second
// filter of the kind into the first.
func eachSet(t *testing.T, run func(t *testing.T, set, other, zero Set, merge func() error)) {
	t.Run("Filter", func(t *testing.T) {
		a, b := must(New(setParams)), must(New(setParams))
		run(t, a, b, new(Filter), func() error { return a.Merge(b) })
	})
	t.Run("Blocked", func(t *testing.T) {
		a, b := must(NewBlocked(10_000, 6, setParams.Hasher)), must(NewBlocked(10_000, 6, setParams.Hasher))
		run(t, a, b, new(Blocked), func() error { return a.Merge(b) })
	})
	t.Run("Concurrent", func(t *testing.T) {
		a, b := must(NewConcurrent(setParams)), must(NewConcurrent(setParams))
		run(t, a, b, new(Concurrent), func() error { return a.Merge(b.snapshot()) })
	})
	t.Run("Dynamic", func(t *testing.T) {
		p := DynamicParams{Batch: setParams, Threshold: 700}
		a, b := must(NewDynamic(p)), must(NewDynamic(p))
		run(t, a, b, new(Dynamic), func() error { return a.Merge(b) })
	})
}

// TestSets holds all filters to one behaviour.
func TestSets(t *testing.T) {
	eachSet(t, func(t *testing.T, set, other, zero Set, merge func() error) {
		keys := testKeys(1500, 1)
		for i, k := range keys[:1000] {
			switch i % 3 {
			case 0:
				set.Add(k)
			case 1:
				set.AddHash(setParams.Hasher.Hash(k))
			default:
				set.TestAndAdd(k)
			}
		}
		for _, k := range keys[:1000] {
			if !set.Contains(k) || !set.ContainsHash(setParams.Hasher.Hash(k)) || !set.TestAndAdd(k) {
				t.Fatal("a key is denied")
			}
		}
		const probes = 200_000
		hits := 0
		for i := range probes {
			if set.Contains(fmt.Append(nil, "other", i)) {
				hits++
			}
		}
		want := set.FalsePositiveRate()
		if sigma := math.Sqrt(want / probes); math.Abs(float64(hits)/probes-want) > 5*sigma || want == 0 {
			t.Errorf("false-positive rate %v, measured %v", want, float64(hits)/probes)
		}
		if set.SizeBytes() < 10_000/8 {
			t.Errorf("%d bytes", set.SizeBytes())
		}
		b := must(set.MarshalBinary())
		if err := zero.UnmarshalBinary(b); err != nil || !zero.Contains(keys[7]) || zero.FalsePositiveRate() != want || zero.SizeBytes() != set.SizeBytes() {
			t.Errorf("read: %v", err)
		}
		zero.Add([]byte("filters that are read work"))
		if !zero.TestAndAdd([]byte("filters that are read work")) {
			t.Error("a filter that was read forgets")
		}
		for _, k := range keys[1000:] {
			other.Add(k)
		}
		if err := merge(); err != nil {
			t.Fatal(err)
		}
		for _, k := range keys {
			if !set.Contains(k) {
				t.Fatal("merged: a key is denied")
			}
		}
		set.Reset()
		if set.Contains(keys[0]) || set.FalsePositiveRate() != 0 || set.TestAndAdd(keys[0]) || !set.Contains(keys[0]) {
			t.Error("Reset does not leave an empty set that works")
		}
	})
}

// TestZeroSets holds the zero values of all filters to what Set says: empty, not to be added to, refused when read.
func TestZeroSets(t *testing.T) {
	eachSet(t, func(t *testing.T, set, _, zero Set, _ func() error) {
		key := []byte("key")
		if zero.Contains(key) || zero.ContainsHash(Hash64(7)) || fmt.Sprint(zero.FalsePositiveRate()) != "0" || zero.SizeBytes() != 0 {
			t.Error("not an empty set")
		}
		for name, add := range map[string]func(){
			"Add": func() { zero.Add(key) }, "AddHash": func() { zero.AddHash(Hash64(7)) }, "TestAndAdd": func() { zero.TestAndAdd(key) },
		} {
			mustPanic(t, name, add, zeroValue)
		}
		zero.Reset()
		b := must(zero.MarshalBinary())
		if err := set.UnmarshalBinary(b); err == nil {
			t.Error("the form of a zero value is accepted")
		}
	})
	found := []bool{true, true}
	new(Filter).ContainsAll([][]byte{nil}, found[:1])
	new(Blocked).ContainsAll([][]byte{nil}, found[1:])
	if found[0] || found[1] {
		t.Error("ContainsAll of a zero Filter and of a zero Blocked:", found)
	}
	if err := errors.Join(new(Filter).Merge(new(Filter)), new(Dynamic).Merge(new(Dynamic))); err != nil {
		t.Error(err)
	}
}

// TestStrings adds strings as bytes, for which nothing is allocated.
func TestStrings(t *testing.T) {
	long := strings.Repeat("key ", 100)
	f, b := must(New(setParams)), must(NewBlocked(10_000, 6, setParams.Hasher))
	c, d := must(NewConcurrent(setParams)), must(NewDynamic(DynamicParams{Batch: setParams, Threshold: 1 << 30}))
	if n := testing.AllocsPerRun(100, func() {
		f.Add([]byte(long))
		f.Contains([]byte(long))
		f.TestAndAdd([]byte(long))
		b.Add([]byte(long))
		b.Contains([]byte(long))
		b.TestAndAdd([]byte(long))
		c.Add([]byte(long))
		c.Contains([]byte(long))
		c.TestAndAdd([]byte(long))
		d.Add([]byte(long))
		d.Contains([]byte(long))
		d.TestAndAdd([]byte(long))
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
	f.Add([]byte("b"))
	if !f.Contains([]byte{'b'}) {
		t.Error("a string is another key than its bytes")
	}
}
