package tails

import (
	"slices"
	"sort"
)

// origins are values in one slice, by tag: a piece of memory for each would cost the garbage collector more than it
// costs to move those behind a new one. A pointer to one is valid until the next add or remove.
type origins []origin

// search is where the first origin stands whose tag is not before another.
func (s origins) search(tag uint64) int {
	return sort.Search(len(s), func(i int) bool { return s[i].tag >= tag })
}

// at is the origin with a tag; nil if there is none.
func (s origins) at(tag uint64) *origin {
	if i := s.search(tag); i < len(s) && s[i].tag == tag {
		return &s[i]
	}
	return nil
}

// add puts in an origin whose tag no other has, and returns where it is now.
func (s *origins) add(o origin) *origin {
	i := s.search(o.tag)
	*s = slices.Insert(*s, i, o)
	return &(*s)[i]
}

// remove takes out the origin with a tag, which is there.
func (s *origins) remove(tag uint64) {
	i := s.search(tag)
	*s = slices.Delete(*s, i, i+1)
}

// between are the origins with the tags from first to last, both included.
func (s origins) between(first, last uint64) origins {
	s = s[s.search(first):]
	return s[:sort.Search(len(s), func(i int) bool { return s[i].tag > last })]
}
