package bloom

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
)

// fewestBlocks is the fewest blocks a batch at which the rate with n keys is at most target, or all of them.
func fewestBlocks(p DynamicParams, n int, target float64) int {
	most := p.Batch.Blocks
	for p.Batch.Blocks = 1; p.Batch.Blocks < most && p.ExpectedRate(n) > target; p.Batch.Blocks++ {
	}
	return p.Batch.Blocks
}

func TestVectorsDynamic(t *testing.T) {
	for _, v := range readVectors(t, "dbbf") {
		n, target := v.int("n"), v.num("target")
		p := DynamicParams{
			Batch:     Params{Blocks: v.int("mu_full"), BlockBits: uint64(v.num("block_bits")), Hashes: 1},
			Threshold: v.int("n_thres"),
		}
		switch {
		case strings.HasPrefix(v.Name, "T2_bf_len"):
			standard := must(paramsForRate(v.int("c"), target))
			v.near(t, "", float64(standard.Bits())/1024)
		case strings.HasPrefix(v.Name, "T2_bfprob"):
			v.near(t, "", Params{Blocks: 1, BlockBits: uint64(v.num("m")), Hashes: v.int("k")}.ExpectedRate(n))
		case strings.Contains(v.Name, "config_"): // TestDynamicForBits of testnet/papers
		case strings.HasPrefix(v.Name, "eq2_"):
			blocks := fewestBlocks(p, n, target)
			v.near(t, "mu_reduced", float64(blocks))
			p.Batch.Blocks = blocks
			v.near(t, "lambda", float64(p.batches(n)))
			v.near(t, "fp", p.ExpectedRate(n))
		default:
			p.Batch.Blocks = fewestBlocks(p, n, target)
			if strings.HasPrefix(v.Name, "T2_prob") {
				v.near(t, "", p.ExpectedRate(n))
			} else {
				v.near(t, "", float64(p.batches(n))*float64(p.Batch.Bits())/1024)
			}
		}
	}
}

func TestDynamicParams(t *testing.T) {
	batch := Params{Blocks: 1, BlockBits: 1, Hashes: 1}
	for _, p := range []DynamicParams{{}, {Batch: batch}, {Threshold: 1}, {Batch: batch, Threshold: 1, Window: -1}} {
		if _, err := NewDynamic(p); !errors.Is(err, errParams) {
			t.Errorf("%+v: %v is not errParams", p, err)
		}
	}
}

func smallDynamic(t testing.TB, keys [][]byte) *Dynamic {
	t.Helper()
	d := must(NewDynamic(DynamicParams{Batch: Params{Blocks: 5, BlockBits: 101, Hashes: 1}, Threshold: 70}))
	for _, k := range keys {
		d.Add(k)
	}
	return d
}

// The slow twin: one slow filter for every 70 keys.
func TestDynamicIsItsBatches(t *testing.T) {
	for _, n := range []int{0, 1, 69, 70, 71, 140, 500} {
		keys := testKeys(n, 1)
		d := smallDynamic(t, keys)
		p := d.Params()
		if d.Len() != n || len(d.batches) != p.batches(n) {
			t.Errorf("%d keys: N %d, %d batches", n, d.Len(), len(d.batches))
		}
		for _, blocks := range []int{5, 3, 1} {
			d.Truncate(blocks)
			p.Batch.Blocks = blocks
			for i := range len(d.batches) {
				slow := newSlow(p.Batch)
				for _, k := range keys[min(n, i*70):min(n, i*70+70)] {
					slow.add(k)
				}
				if !slow.equal(d.batches[i].Filter) {
					t.Errorf("%d keys, %d blocks: batch %d differs", n, blocks, i)
				}
			}
			for _, k := range keys {
				if !d.Contains(k) {
					t.Fatal("forgets")
				}
			}
			found := false
			other := []byte("another")
			for i := range len(d.batches) {
				found = found || d.batches[i].Contains(other)
			}
			if d.Contains(other) != found {
				t.Error("Contains is not the OR of the batches")
			}
		}
	}
}

// TestDynamicTruncate cuts to what table 2 of the paper says for a rate of 5 %.
func TestDynamicTruncate(t *testing.T) {
	p := DynamicParams{Batch: Params{Blocks: 4, BlockBits: 156_174, Hashes: 1}, Threshold: 99_999}
	d := must(NewDynamic(p))
	keys := testKeys(25_000, 1)
	for _, k := range keys {
		d.Add(k)
	}
	d.Truncate(2)
	want := d.Params().ExpectedRate(d.Len())
	if got := d.FalsePositiveRate(); math.Abs(got/want-1) > 0.03 || want > 0.05 {
		t.Errorf("rate from bits %v, expected %v", got, want)
	}
	one := d.Params()
	if one.Batch.Blocks = 1; one.ExpectedRate(d.Len()) <= 0.05 {
		t.Error("one block is enough, the paper's table 2 says 2")
	}
	for i := range 2 * p.Threshold { // it still grows
		if i%1000 == 0 {
			d.Add(keys[i%len(keys)])
		}
	}
	if !d.Contains(keys[0]) {
		t.Error("forgets")
	}
}

func TestDynamicWindow(t *testing.T) {
	keys := testKeys(500, 1)
	p := smallDynamic(t, nil).Params()
	for _, window := range []int{1, 2, 7, 100} {
		p.Window = window
		d := must(NewDynamic(p))
		for n, k := range keys {
			if n == 170 {
				d = d.clone()
			}
			d.Add(k)
			first := max(0, n/70+1-window) * 70 // the oldest key kept
			want := smallDynamic(t, keys[first:n+1])
			if want.params.Window = window; !d.equal(want) {
				t.Fatalf("window %d, %d keys: %d in %d batches", window, n+1, d.Len(), len(d.batches))
			}
		}
		other := smallDynamic(t, keys[:200])
		if err := d.Merge(other); err != nil || len(d.batches) > window || d.Len() < 0 || !other.Contains(keys[199]) {
			t.Errorf("window %d, merged: %v, %d keys in %d batches", window, err, d.Len(), len(d.batches))
		}
	}
}

// TestDynamicWindowMerged: Len is exact while batches that Merge left short are forgotten. Of a filter that was read it
// is at most the number of keys, and exact once those are gone.
func TestDynamicWindowMerged(t *testing.T) {
	keys := testKeys(600, 1)
	for _, read := range []bool{false, true} {
		e := smallDynamic(t, keys[:50])
		if err := e.Merge(smallDynamic(t, keys[50:110])); err != nil { // batches of 60 and 50
			t.Fatal(err)
		}
		if err := e.Merge(smallDynamic(t, keys[110:165])); err != nil { // of 60, 55 and 50
			t.Fatal(err)
		}
		sizes := []int{60, 55, 50}
		if read {
			if err := e.UnmarshalBinary(e.written(t)); err != nil {
				t.Fatal(err)
			}
		}
		p := e.Params()
		p.Window = 4
		d := must(NewDynamic(p))
		if err := d.Merge(e); err != nil {
			t.Fatal(err)
		}
		for n, k := range keys[165:] {
			if sizes[len(sizes)-1] == p.Threshold {
				sizes = append(sizes, 0)
			}
			sizes[len(sizes)-1]++
			sizes = sizes[max(0, len(sizes)-p.Window):]
			d.Add(k)
			want := 0
			for _, s := range sizes {
				want += s
			}
			if got := d.Len(); got > want || got != want && (!read || n > 3*p.Threshold) {
				t.Fatalf("read %v, %d keys more, batches of %v: Len %d", read, n+1, sizes, got)
			}
		}
	}
}

func TestDynamicBinary(t *testing.T) {
	for _, n := range []int{0, 70, 200} {
		d := smallDynamic(t, testKeys(n, 1))
		d.Truncate(4)
		b := d.written(t)
		var e Dynamic
		if err := e.UnmarshalBinary(b); err != nil || !e.equal(d) {
			t.Errorf("%d keys: %v", n, err)
		}
		e.Add([]byte("decoded filters work"))
		before := e.clone()
		for i := range b {
			bad := bytes.Clone(b)
			bad[i] ^= 1 << (i % 8)
			for _, bad := range [][]byte{bad, b[:i]} {
				if err := e.UnmarshalBinary(bad); err == nil || !e.equal(before) {
					t.Fatalf("byte %d changed or cut: %v", i, err)
				}
			}
		}
	}
	golden(t, "dynamic.golden", smallDynamic(t, testKeys(100, 1)).written(t))
}

// written returns the binary form.
func (d *Dynamic) written(t testing.TB) []byte {
	b, err := d.MarshalBinary()
	if err != nil || len(b) != cap(b) {
		t.Fatalf("%d bytes in memory of %d, %v", len(b), cap(b), err)
	}
	return b
}

// clone returns a copy that shares nothing that is ever written.
func (d *Dynamic) clone() *Dynamic {
	c := *d
	c.batches = slices.Clone(d.batches)
	for i := range c.batches {
		c.batches[i].Filter = c.batches[i].Clone()
	}
	return &c
}

// equal reports whether parameters, numbers of keys and all bits are equal.
func (d *Dynamic) equal(e *Dynamic) bool {
	return d.params == e.params && d.Len() == e.Len() && slices.EqualFunc(d.batches, e.batches, func(a, b filling) bool { return a.Equal(b.Filter) })
}
