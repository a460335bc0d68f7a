package experiment

import (
	"math"
	"math/rand/v2"

	"github.com/venn-p2p/venn/summary/bloom"
	"github.com/venn-p2p/venn/summary/estimate"
	"github.com/venn-p2p/venn/testnet/papers"
)

var cardinality = experiment{
	Info: Info{Name: "cardinality", Title: "tables 3 and 6: elements of a filter", Paper: "Papapetrou et al. 2010"},
	tasks: byRules(
		rule{"density", 0, func(s *session, p printed) {
			a := papers.Array{Array: arrayOf(p)}
			s.formula(p.Name, a.ExpectedOnes(p.in("n"))/float64(a.Bits))
		}},
		rule{"bounds", 0, func(s *session, p printed) {
			// The tables are for filters with just the expected number of ones.
			a := papers.Array{Array: arrayOf(p)}
			ones := int(math.Round(a.ExpectedOnes(p.in("n"))))
			if t := p.in("t") + p.in("t_total"); t > 0 {
				ones = int(t)
			}
			x := a.CardinalityPrinted(float64(ones), p.in("confidence"))
			s.formula(p.Name, x.Low, x.High)
		}},
		rule{"avgrelerr", 5, (*session).estimateElements},
	),
}

// arrayOf returns the filter that a printed number is about.
func arrayOf(p printed) estimate.Array {
	if b := p.int("block_bits"); b != 0 {
		return estimate.Array{Bits: uint64(b), Blocks: p.int("blocks"), Hashes: p.int("k_b")}
	}
	return estimate.Array{Bits: uint64(p.int("m")), Hashes: p.int("k")}
}

// trialsFor returns the number of filters of n keys that are filled in a few seconds.
func trialsFor(n int) int { return max(40, min(1000, 100_000_000/n)) }

// estimateElements fills filters, estimates their numbers of keys, and adds a row for the mean relative error.
func (s *session) estimateElements(p printed) {
	n, a := p.int("n"), arrayOf(p)
	errors := trials(s, p.Name, trialsFor(n), func(rng *rand.Rand) float64 {
		f := randomFilter(rng, bloom.Params{Blocks: 1, BlockBits: a.Bits, Hashes: a.Hashes}, n)
		x := must(a.EstimateCardinality(f.OnesCount(), 0.9))
		return math.Abs(x.Value-float64(n)) / float64(n)
	})
	s.measured(p.Name, sampleOf(errors))
}
