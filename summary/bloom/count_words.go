//go:build !(goexperiment.simd && amd64)

package bloom

func countOnes(a []uint64) int   { return countOnesWords(a) }
func countAnd(a, b []uint64) int { return countAndWords(a, b) }
