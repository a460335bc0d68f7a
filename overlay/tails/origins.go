package tails

import (
	"slices"
	"sort"
)

// origins holds the origins in one slice, by tag. A piece of memory for each would cost the garbage collector more than
// it costs to move all origins behind a new one. A pointer to one is valid until the next add or remove.
type origins []origin

// search returns the index of the first origin whose tag is at least tag.
func (s origins) search(tag uint64) int {
	return sort.Search(len(s), func(i int) bool { return s[i].tag >= tag })
}

// at returns the origin with a tag; nil if there is none.
func (s origins) at(tag uint64) *origin {
	if i := s.search(tag); i < len(s) && s[i].tag == tag {
		return &s[i]
	}
	return nil
}

// add inserts an origin whose tag no other has, and returns its place.
func (s *origins) add(o origin) *origin {
	i := s.search(o.tag)
	*s = slices.Insert(*s, i, o)
	return &(*s)[i]
}

// remove removes the origin with a tag, which must be there.
func (s *origins) remove(tag uint64) {
	i := s.search(tag)
	*s = slices.Delete(*s, i, i+1)
}

// between returns the origins with the tags from first to last, both included.
func (s origins) between(first, last uint64) origins {
	s = s[s.search(first):]
	return s[:sort.Search(len(s), func(i int) bool { return s[i].tag > last })]
}
