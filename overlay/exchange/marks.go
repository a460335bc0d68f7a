package exchange

import (
	"iter"
	"math/bits"
)

// marks is a set of directory indexes that need another look. With it a round costs what there is to do, not what is
// known.
type marks []uint64

func (m *marks) add(i int) {
	for i/64 >= len(*m) {
		*m = append(*m, 0)
	}
	(*m)[i/64] |= 1 << (i % 64)
}

// has reports whether an index is marked.
func (m marks) has(i int) bool { return i/64 < len(m) && m[i/64]>>(i%64)&1 == 1 }

// addAll marks the indexes from 1 to n-1.
func (m *marks) addAll(n int) {
	for i := 1; i < n; i++ {
		m.add(i)
	}
}

func (m marks) remove(i int) {
	if i/64 < len(m) {
		m[i/64] &^= 1 << (i % 64)
	}
}

// count returns the number of marked indexes.
func (m marks) count() (n int) {
	for _, w := range m {
		n += bits.OnesCount64(w)
	}
	return n
}

// empty reports whether no index is marked.
func (m marks) empty() bool {
	for _, w := range m {
		if w != 0 {
			return false
		}
	}
	return true
}

// after yields the marked indexes in ascending order: first those above i, then the others. A yielded index may be
// removed meanwhile.
func (m marks) after(i int) iter.Seq[int] {
	return func(yield func(int) bool) {
		_ = m.between(i+1, 64*len(m), yield) && m.between(0, i+1, yield)
	}
}

// between yields the marked indexes from begin to end-1, until yield returns false. It reports whether it came to the
// end.
func (m marks) between(begin, end int, yield func(int) bool) bool {
	for at := begin / 64; at < len(m) && at*64 < end; at++ {
		w := m[at]
		if at == begin/64 {
			w = w >> (begin % 64) << (begin % 64)
		}
		for ; w != 0; w &= w - 1 {
			i := at*64 + bits.TrailingZeros64(w)
			if i >= end {
				return true
			}
			if !yield(i) {
				return false
			}
		}
	}
	return true
}
