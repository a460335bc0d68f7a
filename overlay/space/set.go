package space

import (
	"cmp"
	"slices"
	"strings"
)

// Set is a set of places, made of ranges. It is canonical: sets of the same places hold the same ranges in the same
// order. No range covers another, and no two ranges are the halves of a third. The zero Set is empty.
type Set struct {
	ranges []Range // ranges, ordered by first place
}

// from returns the index of the first range that begins at a place or after it.
func (s *Set) from(p Place) int {
	at, _ := slices.BinarySearchFunc(s.ranges, p, func(r Range, p Place) int { return cmp.Compare(r.first, p) })
	return at
}

// Add puts all places of a range into the set. O(ranges).
func (s *Set) Add(r Range) {
	if s.Covers(r) {
		return
	}
	for r.depth > 0 {
		at := s.from(r.sibling().first)
		if at == len(s.ranges) || s.ranges[at] != r.sibling() {
			break
		}
		s.ranges = slices.Delete(s.ranges, at, at+1)
		r = r.Parent()
	}
	at := s.from(r.first)
	end := at
	for end < len(s.ranges) && r.Covers(s.ranges[end]) {
		end++
	}
	s.ranges = slices.Replace(s.ranges, at, end, r)
}

// Covers reports whether all of a range is in the set. O(log ranges).
func (s *Set) Covers(r Range) bool {
	at := s.from(r.first)
	return at < len(s.ranges) && s.ranges[at].Covers(r) || at > 0 && s.ranges[at-1].Covers(r)
}

// Contains reports whether a place is in the set. O(log ranges).
func (s *Set) Contains(p Place) bool { return s.Covers(Around(p, MaxDepth)) }

// Missing returns the fraction of all places that lie in r and not in the set. It is exact. O(ranges of the set in
// r).
func (s *Set) Missing(r Range) float64 {
	if len(s.ranges) == 0 {
		return r.Share()
	}
	if s.Covers(r) {
		return 0
	}
	missing := r.Share()
	for _, held := range s.ranges[s.from(r.first):] {
		if !r.Covers(held) {
			break
		}
		missing -= held.Share()
	}
	return missing
}

// Share returns the fraction of all places that lie in the set. It is exact. O(ranges).
func (s *Set) Share() float64 { return 1 - s.Missing(Range{}) }

// Clone returns a copy that shares nothing with the set.
func (s *Set) Clone() Set { return Set{slices.Clone(s.ranges)} }

// String returns the ranges of the set in order, such as "{00 1}".
func (s *Set) String() string {
	names := make([]string, len(s.ranges))
	for i, r := range s.ranges {
		names[i] = r.String()
	}
	return "{" + strings.Join(names, " ") + "}"
}
