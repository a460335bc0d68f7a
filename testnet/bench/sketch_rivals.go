package main

import (
	"math"
	"math/bits"
	"slices"

	"github.com/apache/datasketches-go/cpc"
	"github.com/apache/datasketches-go/theta"
	"github.com/axiomhq/hyperloglog"

	"github.com/venn-p2p/venn/summary"
)

// thetaOverlap returns the estimate from two theta sketches. Each takes the given bytes: 8 for each hash, and a
// preamble.
func thetaOverlap(a, b []summary.Fingerprint, bytes int) float64 {
	i := theta.NewIntersection()
	for _, set := range [][]summary.Fingerprint{a, b} {
		s := must(theta.NewQuickSelectUpdateSketch(theta.WithUpdateSketchLgK(uint8(bits.Len(uint(bytes/8)) - 1))))
		for _, f := range set {
			_ = s.UpdateUint64(uint64(f)) // the result only tells whether the sketch kept the hash
		}
		s.Trim()
		c := s.CompactOrdered()
		if size := c.SerializedSizeBytes(false); size < bytes {
			panic("theta sketch of fewer bytes")
		}
		if err := i.Update(c); err != nil {
			panic(err)
		}
	}
	return must(i.Result(false)).Estimate()
}

// hllOverlap returns the sum of both sizes minus that of the union, estimated by HyperLogLog sketches of a byte a
// register.
func hllOverlap(a, b []summary.Fingerprint, bytes int) float64 {
	s := must(hyperloglog.NewSketch(uint8(bits.Len(uint(bytes))-1), false))
	// the sketch of the union is the one into which both sets are inserted
	for _, set := range [][]summary.Fingerprint{a, b} {
		for _, f := range set {
			s.InsertHash(mix(uint64(f)))
		}
	}
	if size := len(must(s.MarshalBinary())); size < bytes {
		panic("HyperLogLog of fewer bytes")
	}
	return max(0, float64(len(a)+len(b))-float64(s.Estimate()))
}

// cpcOverlap returns the sum of both sizes minus that of the union, estimated by CPC sketches. It takes the largest
// sketches within the given bytes, and returns the bytes of the larger one.
func cpcOverlap(a, b []summary.Fingerprint, bytes int) (overlap float64, took int) {
	for lgK := bits.Len(uint(bytes)); ; lgK-- {
		union := must(cpc.NewCpcUnionSketchWithDefault(lgK))
		took = 0
		for _, set := range [][]summary.Fingerprint{a, b} {
			s := must(cpc.NewCpcSketchWithDefault(lgK))
			for _, f := range set {
				if err := s.UpdateUint64(uint64(f)); err != nil {
					panic(err)
				}
			}
			took = max(took, len(must(s.ToCompactSlice())))
			if err := union.Update(s); err != nil {
				panic(err)
			}
		}
		if took <= bytes {
			return max(0, float64(len(a)+len(b))-must(union.GetResult()).GetEstimate()), took
		}
	}
}

// minHashBins is the number of bins of one permutation: so few that no bin stays empty.
const minHashBins = 1 << 13

// minHashOverlap returns the estimate from the low bits of as many minima as fit into the bytes (Li and König,
// "b-Bit minwise hashing", 2010). Each permutation gives several minima, in bins (Li, Owen and Zhang, "One
// permutation hashing", 2012).
func minHashOverlap(seed uint64, a, b []summary.Fingerprint, bytes, width int) float64 {
	minima := 8 * bytes / width
	bins := min(minima, minHashBins)
	same := 0
	for p := range minima / bins {
		x, y := leastHashes(seed+uint64(p), a, bins), leastHashes(seed+uint64(p), b, bins)
		for i := range x {
			same += count((x[i]^y[i])&(1<<width-1) == 0)
		}
	}
	chance := math.Ldexp(1, -width) // probability that different minima have the same low bits
	jaccard := max(0, (float64(same)/float64(minima)-chance)/(1-chance))
	return jaccard / (1 + jaccard) * float64(len(a)+len(b))
}

// leastHashes returns the least hash in every bin. The lowest bits of a hash are its bin; the result has the other
// bits.
func leastHashes(seed uint64, fps []summary.Fingerprint, bins int) []uint64 {
	shift := bits.Len(uint(bins)) - 1
	least := slices.Repeat([]uint64{math.MaxUint64}, bins)
	for _, f := range fps {
		x := mix(uint64(f) ^ mix(seed))
		if bin := x & uint64(bins-1); x>>shift < least[bin] {
			least[bin] = x >> shift
		}
	}
	return least
}

// bestWidth returns the b for which b-bit MinHash has the least variance in a given number of bytes. The two sets
// have the same size and a share in common.
func bestWidth(share float64) int {
	jaccard := share / (2 - share)
	best, least := 0, math.Inf(1)
	for _, b := range []int{1, 2, 4, 8} {
		chance := math.Ldexp(1, -b)
		p := chance + (1-chance)*jaccard
		if v := float64(b) * p * (1 - p) / (1 - chance) / (1 - chance); v < least {
			best, least = b, v
		}
	}
	return best
}

// mix spreads x over all bits, by a bijection: the finalizer of MurmurHash3.
func mix(x uint64) uint64 {
	x = (x ^ x>>33) * 0xff51afd7ed558ccd
	x = (x ^ x>>33) * 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}
