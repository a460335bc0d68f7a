package summary

import (
	"encoding/binary"
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

// FuzzDescent compares the steps between levels with their plain meaning, up and down again, for more levels than are
// taken in a round.
func FuzzDescent(f *testing.F) {
	for seed := range uint64(12) {
		f.Add(seed, uint16(7*seed*seed), uint8(3*seed))
	}
	f.Fuzz(func(t *testing.T, seed uint64, n uint16, spread uint8) {
		rng := rand.New(rand.NewPCG(seed, 7))
		nodes := make([]uint64, n)
		for i := range nodes {
			nodes[i] = rng.Uint64N((uint64(n)*(1+uint64(spread)) + 1) << rng.IntN(8))
		}
		slices.Sort(nodes)
		nodes = slices.Compact(nodes)
		s := newWorkspace()
		s.reset(slices.Clone(nodes))
		for level := range 2*roundLevels + 3 {
			s.climb()
			code, parents := appendDescent(nil, nodes)
			if got := s.append(nil); !slices.Equal(got, code) {
				t.Fatalf("%d nodes at level %d: code of %d bytes, not %d", len(nodes), level, len(got), len(code))
			}
			if level%11 == 10 {
				if s.reset(s.end()); !slices.Equal(s.nodes, parents) {
					t.Fatalf("%d nodes at level %d: other parents", len(nodes), level)
				}
			}
			back, rest, err := s.decodeDescents(append(code, 0xff, 0xff), slices.Clone(parents), 1, len(nodes))
			if err != nil || len(parents) > 0 && (len(rest) != 2 || !slices.Equal(back, nodes)) {
				t.Fatalf("%d nodes at level %d became others: %v", len(nodes), level, err)
			}
			nodes = parents
		}
		workspaces.Put(s)
	})
}

// appendDescent appends how the parents of nodes become these, as FORMAT.md says, and returns the parents.
func appendDescent(dst []byte, nodes []uint64) (_ []byte, parents []uint64) {
	var flags, sides []uint64
	put := func(words []uint64, i int, bit uint64) []uint64 {
		words = append(words, make([]uint64, i/64+1-len(words))...)
		words[i/64] |= bit << (i % 64)
		return words
	}
	both, single := 0, 0
	for i := 0; i < len(nodes); i++ {
		two := i+1 < len(nodes) && nodes[i+1]/2 == nodes[i]/2
		if two {
			flags = put(flags, len(parents), 1)
			both++
		} else {
			flags, sides = put(flags, len(parents), 0), put(sides, single, nodes[i]%2)
			single++
		}
		parents = append(parents, nodes[i]/2)
		if two {
			i++
		}
	}
	dst = bitcode.AppendBits(binary.AppendUvarint(dst, uint64(both)), flags, len(parents), both)
	for i := range (single + 7) / 8 {
		dst = append(dst, byte(sides[i/8]>>(i%8*8)))
	}
	return dst, parents
}
