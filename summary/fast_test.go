package summary

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/venn-p2p/venn/summary/internal/bitcode"
)

// FuzzSortUniform sorts even and uneven numbers.
func FuzzSortUniform(f *testing.F) {
	for seed := range uint64(12) {
		f.Add(seed, uint16(37*seed*seed), uint8(6*seed))
	}
	f.Fuzz(func(t *testing.T, seed uint64, n uint16, clumped uint8) {
		rng := rand.New(rand.NewPCG(seed, 6))
		xs := make([]uint64, n)
		for i := range xs {
			if xs[i] = rng.Uint64(); uint8(rng.Uint32()) < clumped {
				xs[i] >>= rng.IntN(64) // many in few buckets
			}
		}
		want := slices.Sorted(slices.Values(xs))
		if got := sortUniform(xs); !slices.Equal(got, want) {
			t.Fatalf("%d numbers out of order", n)
		}
	})
}

// FuzzDescent compares the steps between levels with their plain meaning, up and down again.
func FuzzDescent(f *testing.F) {
	for seed := range uint64(12) {
		f.Add(seed, uint16(7*seed*seed), uint8(3*seed))
	}
	f.Fuzz(func(t *testing.T, seed uint64, n uint16, spread uint8) {
		rng := rand.New(rand.NewPCG(seed, 7))
		nodes := make([]uint64, n)
		for i := range nodes {
			nodes[i] = rng.Uint64N(uint64(n)*(1+uint64(spread)) + 1)
		}
		slices.Sort(nodes)
		nodes = slices.Compact(nodes)
		var parents, flags, sides []uint64 // a flag and a side a word
		for i := 0; i < len(nodes); i++ {
			parents = append(parents, nodes[i]/2)
			if i+1 < len(nodes) && nodes[i+1]/2 == nodes[i]/2 {
				flags = append(flags, 1)
				i++
			} else {
				flags, sides = append(flags, 0), append(sides, nodes[i]%2)
			}
		}
		code, got := appendDescent(nil, slices.Clone(nodes))
		if !slices.Equal(got, parents) {
			t.Fatalf("parents %v, not %v", got, parents)
		}
		fast, fastSides := make([]uint64, len(nodes)/64+1), make([]uint64, len(nodes)/64+1)
		ascend(slices.Clone(nodes), fast, fastSides)
		for i, want := range flags {
			if fast[i/64]>>(i%64)&1 != want {
				t.Fatalf("flag %d is not %d", i, want)
			}
		}
		for i, want := range sides {
			if fastSides[i/64]>>(i%64)&1 != want {
				t.Fatalf("side %d is not %d", i, want)
			}
		}
		d, err := readDescent(nil, append(code, 0xff, 0xff), parents, 2*len(parents))
		if err != nil {
			t.Fatal(err)
		}
		used, err := bitcode.DecodeBits(d.flags, d.src, len(parents), d.both)
		if err != nil {
			t.Fatal(err)
		}
		back, rest, err := d.children(nil, used, 2*len(nodes))
		if err != nil || len(rest) != 2 || !slices.Equal(back, nodes) {
			t.Fatalf("%v became %v, %v", nodes, back, err)
		}
	})
}
