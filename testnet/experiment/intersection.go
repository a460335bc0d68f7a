package experiment

import (
	"math"
	"math/rand/v2"
	"strings"

	"github.com/venn-p2p/venn/summary/bloom"
	"github.com/venn-p2p/venn/summary/estimate"
	"github.com/venn-p2p/venn/testnet/papers"
)

var intersection = experiment{
	Info: Info{Name: "intersection", Title: "tables 4 and 5: common elements of two filters", Paper: "Papapetrou et al. 2010"},
	tasks: byRules(
		rule{"density", 0, func(s *session, p printed) {
			a, ones := bothOnes(p)
			s.formula(p.Name, ones/float64(a.Bits))
		}},
		rule{"rbits", 0, func(s *session, p printed) {
			a, ones := bothOnes(p)
			s.formula(p.Name, 1-a.ExpectedOnes(p.in("n12"))/ones)
		}},
		rule{"bounds", 0, func(s *session, p printed) {
			c := estimate.Counts{First: p.int("t1"), Second: p.int("t2"), Both: p.int("t_and")}
			x := papers.Array{Array: arrayOf(p)}.IntersectionPrinted(c, p.in("confidence"))
			s.formula(p.Name, x.Low, x.High)
		}},
		rule{"avgrelerr", 5, (*session).estimateCommon},
	),
}

// bothOnes returns the expected number of ones that two filters share.
func bothOnes(p printed) (a papers.Array, ones float64) {
	a = papers.Array{Array: arrayOf(p)}
	return a, a.BothOnes(a.ExpectedOnes(p.in("n1")), a.ExpectedOnes(p.in("n2")), p.in("n12"))
}

// estimateCommon fills pairs of filters and estimates the number of keys in both. It adds rows for the mean and the
// deviation of the absolute relative error.
func (s *session) estimateCommon(p printed) {
	a := arrayOf(p)
	n1, n2, n12 := p.int("n1"), p.int("n2"), p.int("n12")
	errors := trials(s, p.Name, trialsFor(n1+n2-n12), func(rng *rand.Rand) float64 {
		common := randomFilter(rng, bloom.Params{Blocks: 1, BlockBits: a.Bits, Hashes: a.Hashes}, n12)
		first, second := common.Clone(), common
		for range n1 - n12 {
			first.AddHash(randomHash(rng))
		}
		for range n2 - n12 {
			second.AddHash(randomHash(rng))
		}
		c := estimate.Counts{First: first.OnesCount(), Second: second.OnesCount(), Both: must(first.AndOnesCount(second))}
		x := must(a.EstimateOverlap(c, 0.9)).Intersection
		return math.Abs(x.Value-float64(n12)) / float64(n12)
	})
	x := sampleOf(errors)
	s.measured(p.Name, x)
	const halfNormalKurtosis = 3.87 // kurtosis of the absolute value of a normal error
	s.measured(strings.Replace(p.Name, "avgrelerr", "std", 1), x.spread(halfNormalKurtosis))
}
