package space

import (
	"encoding/binary"
	"math"
	"testing"
)

// slowSet is a set of places as a bit for every range of depth slowDepth.
type slowSet [1 << slowDepth]bool

const slowDepth = 8

func (s *slowSet) each(r Range, do func(*bool)) {
	for i := range s {
		if r.Contains(Place(i) << (64 - slowDepth)) {
			do(&s[i])
		}
	}
}

func (s *slowSet) missing(r Range) float64 {
	n := 0
	s.each(r, func(b *bool) {
		if !*b {
			n++
		}
	})
	return float64(n) / (1 << slowDepth)
}

// canonical fails when ranges of a set overlap, are out of order, or could be merged.
func canonical(t *testing.T, s *Set) {
	t.Helper()
	for i, r := range s.ranges {
		if Around(r.first, r.Depth()) != r {
			t.Fatalf("%v: range %v has bits behind its depth", s, r)
		}
		for _, other := range s.ranges[i+1:] {
			if other.first <= r.first || r.Covers(other) || other.Covers(r) || r.depth > 0 && r.sibling() == other {
				t.Fatalf("%v: %v and %v are not in canonical form", s, r, other)
			}
		}
	}
}

// FuzzSet adds ranges in two orders and compares with a set that keeps every place by itself.
func FuzzSet(f *testing.F) {
	f.Add([]byte{0, 0, 1, 0x80, 1})
	f.Add([]byte{3, 0, 3, 0x20, 2, 0x40, 1, 0x80})
	f.Fuzz(func(t *testing.T, ops []byte) {
		var ranges []Range
		for ; len(ops) >= 2 && len(ranges) < 64; ops = ops[2:] {
			ranges = append(ranges, Around(Place(ops[1])<<56, int(ops[0])%(slowDepth+1)))
		}
		var fast, back Set
		var slow slowSet
		for i, r := range ranges {
			for _, ask := range ranges {
				if got, want := fast.Missing(ask), slow.missing(ask); got != want {
					t.Fatalf("%v lacks %v of %v, want %v", &fast, got, ask, want)
				}
				if got, want := fast.Covers(ask), slow.missing(ask) == 0; got != want {
					t.Fatalf("%v covers %v: %v", &fast, ask, got)
				}
			}
			fast.Add(r)
			slow.each(r, func(b *bool) { *b = true })
			back.Add(ranges[len(ranges)-1-i])
			canonical(t, &fast)
		}
		if fast.String() != back.String() {
			t.Fatalf("%v in one order, %v in the other", &fast, &back)
		}
		if got, want := fast.Share(), 1-slow.missing(Range{}); got != want {
			t.Fatalf("%v: share %v, want %v", &fast, got, want)
		}
	})
}

func FuzzRange(f *testing.F) {
	f.Add([]byte("0123456789abcdef"), 3)
	f.Fuzz(func(t *testing.T, b []byte, depth int) {
		if len(b) < 16 {
			return
		}
		p, q := Place(binary.BigEndian.Uint64(b)), Place(binary.BigEndian.Uint64(b[8:]))
		r := Around(p, depth)
		depth = min(max(depth, 0), MaxDepth)
		if r.Depth() != depth || !r.Contains(p) || !r.Parent().Covers(r) || r.Share() != 1/math.Exp2(float64(depth)) {
			t.Fatalf("range %v around %x", r, p)
		}
		in := depth == 0 || uint64(p)>>(64-depth) == uint64(q)>>(64-depth)
		near := depth == 0 || p.Distance(q) < 1<<(64-depth)
		if r.Contains(q) != in || in != near || in != (Around(q, depth) == r) {
			t.Fatalf("%v contains %x: %v, want %v; near %v", r, q, r.Contains(q), in, near)
		}
	})
}
