package bloom

import "math/bits"

// countOnesWords counts the bits set. Four sums, so that no count waits for the one before.
func countOnesWords(a []uint64) int {
	var n0, n1, n2, n3 int
	for ; len(a) >= 4; a = a[4:] {
		n0 += bits.OnesCount64(a[0])
		n1 += bits.OnesCount64(a[1])
		n2 += bits.OnesCount64(a[2])
		n3 += bits.OnesCount64(a[3])
	}
	for _, w := range a {
		n0 += bits.OnesCount64(w)
	}
	return n0 + n1 + n2 + n3
}

// countAndWords counts the bits set in both arrays, which are equally long.
func countAndWords(a, b []uint64) int {
	var n0, n1, n2, n3 int
	for ; len(a) >= 4 && len(b) >= 4; a, b = a[4:], b[4:] {
		n0 += bits.OnesCount64(a[0] & b[0])
		n1 += bits.OnesCount64(a[1] & b[1])
		n2 += bits.OnesCount64(a[2] & b[2])
		n3 += bits.OnesCount64(a[3] & b[3])
	}
	for i, w := range a {
		n0 += bits.OnesCount64(w & b[i])
	}
	return n0 + n1 + n2 + n3
}
