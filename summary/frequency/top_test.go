package frequency

import (
	"cmp"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestTop follows a stream of Zipf's law, and compares with exact counts.
func TestTop(t *testing.T) {
	const k = 20
	p, err := ParamsForError(0.0005, 0.001)
	if err != nil {
		t.Fatal(err)
	}
	top, err := NewTop(k, p)
	if err != nil {
		t.Fatal(err)
	}
	truth := map[uint64]uint32{}
	zipf := rand.NewZipf(rand.New(rand.NewPCG(1, 2)), 1.3, 1, 100_000)
	for range 200_000 {
		key := zipf.Uint64() * 0x9e3779b97f4a7c15
		truth[key]++
		top.Add(key, 1)
	}
	var keys []uint64
	for key := range truth {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b uint64) int { return cmp.Or(cmp.Compare(truth[b], truth[a]), cmp.Compare(b, a)) })
	var got []uint64
	last := ^uint32(0)
	for key, n := range top.All() {
		if n < truth[key] || n > last {
			t.Errorf("%#x was seen %d times, estimate %d after %d", key, truth[key], n, last)
		}
		last = n
		got = append(got, key)
	}
	if len(got) != k || top.sketch.Total() != 200_000 {
		t.Fatalf("%d keys of %d counts", len(got), top.sketch.Total())
	}
	// Of the first half, the counts lie far enough apart.
	for _, key := range keys[:k/2] {
		if !slices.Contains(got, key) {
			t.Errorf("%#x, seen %d times, is not among the top", key, truth[key])
		}
	}
}

// FuzzTop checks the heap against its rules, whatever comes.
func FuzzTop(f *testing.F) {
	f.Add([]byte("abcabcaabbbbbbccdefg"), uint8(3))
	f.Fuzz(func(t *testing.T, stream []byte, k uint8) {
		top, err := NewTop(int(k%8)+1, Params{Width: 31, Depth: 2})
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range stream {
			top.Add(uint64(b), 1)
			for i, h := range top.heap {
				if top.at[h.key] != i || i > 0 && h.before(top.heap[(i-1)/2]) {
					t.Fatalf("no heap: %v, %v", top.heap, top.at)
				}
			}
			if len(top.at) != len(top.heap) || len(top.heap) > int(k%8)+1 {
				t.Fatalf("%d keys, %d places", len(top.heap), len(top.at))
			}
		}
	})
}

func TestTopMistakes(t *testing.T) {
	if _, err := NewTop(0, Params{Width: 31, Depth: 2}); !errors.Is(err, errParams) {
		t.Error(err)
	}
	if _, err := NewTop(3, Params{}); !errors.Is(err, errParams) {
		t.Error(err)
	}
}
