package trie

import (
	"math/rand/v2"
	"slices"
	"testing"
)

const testStart = 6

// someSet is the nodes of random positions in cells begin to end-1, depth levels below them.
func someSet(rng *rand.Rand, begin, end, depth int) *Set {
	var nodes []uint64
	for v := uint64(begin) << depth; v < uint64(end)<<depth; v++ {
		if rng.IntN(3) == 0 {
			nodes = append(nodes, v)
		}
	}
	return NewSet(nodes, begin, end, depth)
}

// slowBlock is which set knows each cell.
type slowBlock [1 << testStart]*Set

func (b *slowBlock) contains(x uint64) bool {
	s := b[x>>(64-testStart)]
	return s == nil || s.Has(x>>(64-testStart-s.Depth()), 0)
}

// FuzzBlock puts sets over and under others, and compares with a table of cells.
func FuzzBlock(f *testing.F) {
	for seed := range uint64(12) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		rng := rand.New(rand.NewPCG(seed, 1))
		b, slow := &Block{Start: testStart}, slowBlock{}
		for range 1 + rng.IntN(8) {
			begin := rng.IntN(1 << testStart)
			s := someSet(rng, begin, begin+1+rng.IntN(1<<testStart-begin), 2+rng.IntN(4))
			beneath := rng.IntN(3) == 0
			for cell := s.Begin(); cell < s.End(); cell++ {
				if !beneath || slow[cell] == nil {
					slow[cell] = s
				}
			}
			if beneath {
				b.PutBeneath(s)
			} else {
				b.Put(s)
			}
		}
		begin := rng.IntN(1 << testStart)
		end := begin + 1 + rng.IntN(1<<testStart-begin)
		if got, want := b.Covers(begin, end), !slices.Contains(slow[begin:end], nil); got != want {
			t.Fatalf("cells %d to %d covered: %v", begin, end-1, got)
		}
		known := 1 << testStart
		for cell, s := range slow {
			if s == nil {
				known--
			}
			if got := b.find(cell); got != s {
				t.Fatalf("cell %d is in %+v, not %+v", cell, got, s)
			}
		}
		sum := 0
		for i, p := range b.Pieces() {
			sum += p.End - p.Begin
			if p.Begin >= p.End || i > 0 && p.Begin < b.pieces[i-1].End {
				t.Fatalf("piece %d, %+v", i, p)
			}
		}
		if sum != known {
			t.Fatalf("pieces of %d cells, not %d", sum, known)
		}
		first := b.first(end)
		for range 200 {
			x := rng.Uint64()
			inFirst := int(x>>(64-testStart)) < end
			if b.Contains(x) != slow.contains(x) {
				t.Fatalf("position %#x", x)
			}
			if first.Contains(x) != (!inFirst || b.Contains(x)) {
				t.Fatalf("position %#x of the first cells", x)
			}
			p := b.Probe(x)
			if x%2 == 0 {
				p.LoadAll()
			}
			p.LoadUnary()
			p.LoadLow()
			if p.Contains(x) != b.Contains(x) {
				t.Fatalf("probe of position %#x", x)
			}
		}
		checkWalk(t, b, &slow)
	})
}

// checkWalk compares a walk through all nodes with the plain meaning: at each level not below any set's, the nodes with
// one below them. Of these, every third number is counted, too.
func checkWalk(t *testing.T, b *Block, slow *slowBlock) {
	t.Helper()
	for level := testStart - 2; level <= testStart+2; level++ {
		var want []uint64
		const deep = testStart + 6 // below all sets
		for v := range uint64(1) << deep {
			x := v << (64 - deep)
			if s := slow[x>>(64-testStart)]; s == nil || !s.Has(x>>(64-testStart-s.Depth()), 0) {
				continue
			}
			if node := v >> (deep - level); len(want) == 0 || want[len(want)-1] != node {
				want = append(want, node)
			}
		}
		var w Walker
		var got []uint64
		w.Reset(b, Span{0, 1 << level}, level)
		for nodes := w.Next(); nodes != nil; nodes = w.Next() {
			got = append(got, nodes...)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("level %d: %v, not %v", level, got, want)
		}
		words, thirds := make([]uint64, (1<<level+63)/64), 0
		for v := uint64(0); v < 1<<level; v += 3 {
			words[v/64] |= 1 << (v % 64)
		}
		for _, v := range want {
			if v%3 == 0 {
				thirds++
			}
		}
		w.Reset(b, Span{0, 1 << level}, level)
		if nodes, both := w.CountIn(words); nodes != len(want) || both != thirds {
			t.Fatalf("level %d: %d of %d nodes counted, not %d of %d", level, both, nodes, thirds, len(want))
		}
	}
}

// first is what b knows of the first cells. It shares all sets.
func (b *Block) first(cells int) *Block {
	out := &Block{Start: b.Start}
	for _, p := range b.pieces {
		if p.End = min(p.End, cells); p.Begin < p.End {
			out.pieces = append(out.pieces, p)
		}
	}
	return out
}
