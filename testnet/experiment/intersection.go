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
	Info:  Info{Name: "intersection", Title: "tables 4 and 5: common elements of two filters", Paper: "Papapetrou et al. 2010"},
	tasks: intersectionTasks,
}

func intersectionTasks(s *session) []task {
	tasks := []task{{0, func() { s.intersectionFormulas() }}}
	for _, p := range printedOf("intersection") {
		if strings.HasPrefix(p.Name, "T45_avgrelerr") {
			tasks = append(tasks, task{5, func() { s.estimateCommon(p) }})
		}
	}
	return tasks
}

func (s *session) intersectionFormulas() {
	for _, p := range printedOf("intersection") {
		a := papers.Array{Array: arrayOf(p)}
		both := a.BothOnes(a.ExpectedOnes(p.in("n1")), a.ExpectedOnes(p.in("n2")), p.in("n12"))
		switch {
		case strings.Contains(p.Name, "density"):
			s.formula(p.Name, both/float64(a.Bits))
		case strings.Contains(p.Name, "rbits"):
			s.formula(p.Name, 1-a.ExpectedOnes(p.in("n12"))/both)
		case strings.Contains(p.Name, "bounds"):
			c := estimate.Counts{First: p.int("t1"), Second: p.int("t2"), Both: p.int("t_and")}
			x := a.IntersectionPrinted(c, p.in("confidence"))
			s.formula(p.Name, x.Low, x.High)
		}
	}
}

// estimateCommon fills pairs of filters and estimates: mean and deviation of the absolute relative error.
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
	const halfNormalKurtosis = 3.87 // an absolute error's
	s.measured(strings.Replace(p.Name, "avgrelerr", "std", 1), x.spread(halfNormalKurtosis))
}
