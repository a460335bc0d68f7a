package directory

import "slices"

// tags are the indexes of entries by their tags, in two slices: 12 bytes an entry, where a map takes 17 to 39. Who
// chooses tags gains nothing: a search takes O(log n), whatever they are. A change moves those behind it.
type tags struct {
	tags    []uint64 // in order
	indexes []int32
}

func (t *tags) len() int { return len(t.tags) }

// index returns the index of the entry with a tag; ok is false if there is none.
func (t *tags) index(tag uint64) (index int, ok bool) {
	at, ok := slices.BinarySearch(t.tags, tag)
	if !ok {
		return 0, false
	}
	return int(t.indexes[at]), true
}

// put adds a tag that no entry has.
func (t *tags) put(tag uint64, index int32) {
	at, _ := slices.BinarySearch(t.tags, tag)
	t.tags = slices.Insert(roomy(t.tags), at, tag)
	t.indexes = slices.Insert(roomy(t.indexes), at, index)
}

// remove takes out a tag, if it is there.
func (t *tags) remove(tag uint64) {
	if at, ok := slices.BinarySearch(t.tags, tag); ok {
		t.tags, t.indexes = slices.Delete(t.tags, at, at+1), slices.Delete(t.indexes, at, at+1)
	}
}

// roomy is a table with room for one more. It grows by an eighth, so that little of it stands empty.
func roomy[T any](table []T) []T {
	if n := len(table); n == cap(table) {
		return append(make([]T, 0, n+n/8+8), table...)
	}
	return table
}
