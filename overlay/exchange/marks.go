package exchange

import (
	"iter"
	"slices"
)

// marks is a set of directory indexes: element i is true if index i is marked.
type marks []bool

func (m *marks) add(i int) {
	for i >= len(*m) {
		*m = append(*m, false)
	}
	(*m)[i] = true
}

// addAll marks the indexes from 1 to n-1.
func (m *marks) addAll(n int) {
	for i := 1; i < n; i++ {
		m.add(i)
	}
}

// empty reports whether no index is marked.
func (m marks) empty() bool { return !slices.Contains(m, true) }

// after yields the marked indexes in ascending order: first those above i, then the others. A yielded index may be
// unmarked meanwhile.
func (m marks) after(i int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for k := range m {
			if at := (min(i+1, len(m)) + k) % len(m); m[at] && !yield(at) {
				return
			}
		}
	}
}
