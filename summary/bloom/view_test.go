package bloom

import (
	"bytes"
	"errors"
	"testing"
)

// TestDynamicMerge: the union holds all keys of both, counts them, and goes on.
func TestDynamicMerge(t *testing.T) {
	for _, n := range [][2]int{{0, 0}, {10, 20}, {60, 30}, {30, 60}, {70, 70}, {200, 333}, {500, 3}} {
		keys := testKeys(n[0]+n[1]+50, 1)
		a, b := smallDynamic(t, keys[:n[0]]), smallDynamic(t, keys[n[0]:n[0]+n[1]])
		before := b.clone()
		if err := a.Merge(b); err != nil {
			t.Fatal(err)
		}
		if !b.equal(before) || a.Len() != n[0]+n[1] {
			t.Errorf("%v: %d keys", n, a.Len())
		}
		for _, k := range keys[n[0]+n[1]:] {
			a.Add(k)
		}
		if a.Len() != len(keys) {
			t.Errorf("%v: %d of %d keys", n, a.Len(), len(keys))
		}
		for i, k := range keys {
			if !a.Contains(k) {
				t.Fatalf("%v: key %d is lost", n, i)
			}
		}
		if !before.equal(b) {
			t.Error("the other filter changed afterwards")
		}
		var back Dynamic
		if err := back.UnmarshalBinary(a.written(t)); err != nil || !back.equal(a) {
			t.Errorf("%v: %v", n, err)
		}
		for a.params.Window = len(a.batches); a.params.Window > 1; a.params.Window-- {
			if a.forget(); len(a.batches) != a.params.Window || a.Len() < 0 {
				t.Fatalf("%v: %d keys left", n, a.Len())
			}
		}
	}
	a, b := smallDynamic(t, nil), smallDynamic(t, nil)
	b.Truncate(2)
	if err := a.Merge(b); !errors.Is(err, ErrMismatch) {
		t.Error(err)
	}
}

// TestView: a view answers as the filter does, wherever its bytes begin. Other bytes are refused.
func TestView(t *testing.T) {
	keys := testKeys(300, 1)
	for _, p := range someParams() {
		f := filled(t, p, keys[:100])
		data, _ := f.MarshalBinary()
		for shift := range 9 {
			moved := append(make([]byte, shift), data...)[shift:]
			v, err := OpenView(moved)
			if err != nil || !v.Equal(f) {
				t.Fatalf("%+v, at %d: %v", p, shift, err)
			}
			for _, k := range keys {
				if v.Contains(k) != f.Contains(k) {
					t.Fatal("answers differ")
				}
			}
		}
		for n := range data[:min(len(data), 200)] {
			if _, err := OpenView(data[:n]); !errors.Is(err, ErrMalformed) {
				t.Fatalf("cut to %d bytes: %v", n, err)
			}
		}
		if _, err := OpenView(append(bytes.Clone(data), 0)); !errors.Is(err, ErrMalformed) {
			t.Errorf("a byte more: %v", err)
		}
	}
	f := filled(t, Params{Blocks: 1, BlockBits: 1 << 23, Hashes: 3}, keys)
	data, _ := f.MarshalBinary()
	if n := testing.AllocsPerRun(3, func() { _, _ = OpenView(data) }); n > 2 {
		t.Errorf("%v allocations", n)
	}
}
