package group

import (
	"slices"
)

// Table maps tags to values, in two sorted slices. A map would take two to four times the memory. Chosen tags gain an
// attacker nothing: a search takes O(log n) for all tags. A new tag moves the tags behind it: O(n). The zero value is
// empty.
type Table[V any] struct {
	tags   []uint64 // in order
	values []V
}

// Len returns the number of tags.
func (t *Table[V]) Len() int { return len(t.tags) }

// At returns the value of a tag; the zero value, and false, if there is none.
func (t *Table[V]) At(tag uint64) (v V, ok bool) {
	if at, ok := slices.BinarySearch(t.tags, tag); ok {
		return t.values[at], true
	}
	return v, false
}

// Tags returns the tags in order. They must not be changed, and are valid until the next Put of a new tag, or Remove.
func (t *Table[V]) Tags() []uint64 { return t.tags }

// Put sets the value of a tag.
func (t *Table[V]) Put(tag uint64, v V) {
	at, ok := slices.BinarySearch(t.tags, tag)
	if ok {
		t.values[at] = v
		return
	}
	t.tags = slices.Insert(t.tags, at, tag)
	t.values = slices.Insert(t.values, at, v)
}

// Remove takes out a tag, if it is there.
func (t *Table[V]) Remove(tag uint64) {
	if at, ok := slices.BinarySearch(t.tags, tag); ok {
		t.tags, t.values = slices.Delete(t.tags, at, at+1), slices.Delete(t.values, at, at+1)
	}
}

// All returns the values in the order of their tags. They must not be changed, and are valid until the next Put or
// Remove.
func (t *Table[V]) All() []V { return t.values }
