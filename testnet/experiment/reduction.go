package experiment

import (
	"fmt"
	"math/rand/v2"

	"github.com/venn-p2p/venn/summary/bloom"
	"github.com/venn-p2p/venn/testnet/results/report"
)

// The setting of section 3.3: filters of 8192 Kbit for 100,000 elements, reduced to less.
const (
	reductionKeys  = 100_000
	reductionBlock = 128 << 10 // bits of a block
	reductionMost  = 64        // blocks of a full filter
)

var reduction = experiment{
	Info:    Info{Name: "reduction", Title: "figure 1: reducing a filter's length", Paper: "Papapetrou et al. 2010"},
	tasks:   reductionTasks,
	figures: reductionFigures,
}

func partitioned(blocks int) bloom.Params {
	return bloom.Params{Blocks: blocks, BlockBits: reductionBlock, Hashes: 1}
}

// foldable is the filter that is optimal for its full length; the paper gives its hash functions as 60.
var foldable = standard(reductionMost*reductionBlock, 60)

// reductionTasks returns the tasks, each with its processor time in seconds.
func reductionTasks(s *session) []task {
	return []task{
		{0, func() {
			s.formula("fig1_bbf_1024K", partitioned(8).ExpectedRate(reductionKeys))
			s.formula("fig1_opt_1024K", must(bloom.Goal{Keys: reductionKeys, Bits: 8 * reductionBlock}.Params()).ExpectedRate(reductionKeys))
			s.formula("fig1_folded_1024K", standard(8*reductionBlock, foldable.Hashes).ExpectedRate(reductionKeys))
		}},
		{4, func() { s.reduce("BBF, blocks dropped", "fig1_bbf_1024K", partitioned(reductionMost), dropBlocks) }},
		{4, func() { s.reduce("standard, folded", "fig1_folded_1024K", foldable, fold) }},
		{1, func() {
			p := must(bloom.Goal{Keys: reductionKeys, Bits: 8 * reductionBlock}.Params())
			s.measured("fig1_opt_1024K", sampleOf(trials(s, "optimal", 10, func(rng *rand.Rand) float64 {
				return falsePositives(rng, randomFilter(rng, p, reductionKeys).ContainsHash, 200_000)
			})))
		}},
	}
}

func dropBlocks(f *bloom.Filter) { f.Truncate(f.Params().Blocks / 2) }

func fold(f *bloom.Filter) { f.Fold() }

// reduce halves a full filter again and again and measures its false positives: points of the figure, and a row at 1024
// Kbit.
func (s *session) reduce(name, row string, p bloom.Params, halve func(*bloom.Filter)) {
	type found map[uint64]float64 // rate by Kbit
	all := trials(s, name, 8, func(rng *rand.Rand) found {
		rates := found{}
		for f := randomFilter(rng, p, reductionKeys); ; halve(f) {
			bits := f.Params().Bits()
			rates[bits>>10] = falsePositives(rng, f.ContainsHash, 200_000)
			if bits == reductionBlock {
				return rates
			}
		}
	})
	points := s.curve(name + ", measured")
	points.Dots = true
	for kbit := uint64(reductionBlock >> 10); kbit <= reductionMost*reductionBlock>>10; kbit *= 2 {
		x := column(all, func(rates found) float64 { return rates[kbit] })
		points.Add(float64(kbit), x.mean)
		if kbit == 1024 {
			s.measured(row, x)
		}
	}
}

// reductionFigures returns figure 1: computed rates over the filter's length, and measured points.
func reductionFigures(s *session) []report.Figure {
	rates := func(name string, of func(blocks int) float64) report.Line {
		l := report.Line{Name: name}
		for b := 1; b <= reductionMost; b++ {
			l.Add(float64(b*reductionBlock>>10), of(b))
		}
		return l
	}
	folded := report.Line{Name: "standard, folded"}
	for b := 1; b <= reductionMost; b *= 2 {
		folded.Add(float64(b*reductionBlock>>10), standard(b*reductionBlock, foldable.Hashes).ExpectedRate(reductionKeys))
	}
	return []report.Figure{{
		Name:  "reduction-figure1",
		Title: fmt.Sprintf("Papapetrou et al. 2010, figure 1: %d elements", reductionKeys),
		X:     "length, Kbit", Y: "false-positive probability", LogX: true,
		Lines: []report.Line{
			rates("standard, optimal for each length", func(b int) float64 {
				return must(bloom.Goal{Keys: reductionKeys, Bits: uint64(b) * reductionBlock}.Params()).ExpectedRate(reductionKeys)
			}),
			rates("BBF, blocks dropped", func(b int) float64 { return partitioned(b).ExpectedRate(reductionKeys) }),
			folded,
			*s.curve("BBF, blocks dropped, measured"),
			*s.curve("standard, folded, measured"),
		},
	}}
}
