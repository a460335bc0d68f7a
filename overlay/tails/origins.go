package tails

import "slices"

// origins are the origins known, by their tags. Two slices take a quarter of what maps by tag and by peer would, and
// most origins have nothing else here.
type origins struct {
	tags []uint64 // in order
	list []*origin
}

// at returns the origin with a tag; nil if there is none.
func (s *origins) at(tag uint64) *origin {
	if i, ok := slices.BinarySearch(s.tags, tag); ok {
		return s.list[i]
	}
	return nil
}

// put adds an origin whose tag nobody has.
func (s *origins) put(o *origin) {
	i, _ := slices.BinarySearch(s.tags, o.tag)
	s.tags, s.list = slices.Insert(s.tags, i, o.tag), slices.Insert(s.list, i, o)
}

// remove takes out the origin with a tag, if there is one.
func (s *origins) remove(tag uint64) {
	if i, ok := slices.BinarySearch(s.tags, tag); ok {
		s.tags, s.list = slices.Delete(s.tags, i, i+1), slices.Delete(s.list, i, i+1)
	}
}

// tagged are the origins whose tags begin with a prefix, in order. They are not to be changed, and valid until the next
// put or remove.
func (s *origins) tagged(p prefix) []*origin {
	first := uint64(p[0])<<56 | uint64(p[1])<<48 | uint64(p[2])<<40
	at, _ := slices.BinarySearch(s.tags, first)
	end := at
	for end < len(s.tags) && prefixOf(s.tags[end]) == p {
		end++
	}
	return s.list[at:end]
}
