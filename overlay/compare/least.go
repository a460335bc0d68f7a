package compare

import "github.com/venn-p2p/venn/summary"

// wholeLevel is the deepest level of a sample of the default shape that surely covers all of hash space. A sample one
// level deeper is of up to twice as many keys, and covers half as much.
const wholeLevel = 14

// Least returns the least value of a hash over the keys of a prefix's sample, spread evenly over 64 bits. It is a
// min-wise sketch of one value (Broder 1997): two collections of about the same size have the same Least with the
// probability of their resemblance. The resemblance is the number of keys in both, divided by the number in either.
//
// There are two independent hashes, 0 and 1. Each divides sizes into intervals of a factor of four, and compares the
// sizes of one interval, over the hash space that all their samples cover. The intervals of the two hashes overlap, so
// that one hash compares any two sizes within a factor of two. Least returns false without a sample. O(n).
func Least(p *summary.Prefix, hash int) (least uint64, ok bool) {
	if p == nil {
		return 0, false
	}
	nodes := decode(p)
	if len(nodes) == 0 {
		return 0, false
	}
	level, _ := (&compared{prefix: p}).sample()
	drop := (level + hash) & 1
	level -= drop
	end := uint32(1) << (level - max(0, level+1-wholeLevel))
	salt := Mix(uint64(2*level + hash))
	for _, node := range nodes {
		if node >>= drop; node >= end {
			continue
		}
		if h := Mix(salt ^ uint64(node)); !ok || h < least {
			least, ok = h, true
		}
	}
	return Mix(least), ok
}

// Mix is the finalizer of SplitMix64 (Steele, Lea and Flood 2014).
func Mix(x uint64) uint64 {
	x += 0x9E3779B97F4A7C15
	x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
	x = (x ^ x>>27) * 0x94D049BB133111EB
	return x ^ x>>31
}
