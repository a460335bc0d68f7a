package experiment

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/venn-p2p/venn/summary/bloom"
	"github.com/venn-p2p/venn/testnet/papers"
	"github.com/venn-p2p/venn/testnet/results/report"
)

const dynamicKeys = 100_000 // for which the structures of table 2 are configured

var dynamic = experiment{
	Info:    Info{Name: "dynamic", Title: "table 2 and figure 4: D-BBF against the standard filter", Paper: "Papapetrou et al. 2010"},
	tasks:   dynamicTasks,
	figures: dynamicFigures,
}

// dynamicFor configures both structures for a rate, as section 4 does: the standard filter first, then the D-BBF with
// batches of its length.
func dynamicFor(rate float64) (bloom.Params, bloom.DynamicParams) {
	p := must(bloom.Goal{Keys: dynamicKeys, Rate: rate}.Params())
	return p, must(papers.DynamicForBits(p.Bits(), rate, false))
}

func dynamicTasks(s *session) []task {
	tasks := []task{{0, func() { s.dynamicFormulas() }}}
	for _, target := range []float64{0.05, 0.005} {
		tasks = append(tasks, task{6, func() { s.growDynamic(target) }})
	}
	return tasks
}

func (s *session) dynamicFormulas() {
	for _, p := range printedOf("dynamic") {
		n, target := p.int("n"), p.in("target")
		switch {
		case strings.HasPrefix(p.Name, "T2_bf_len"):
			f, _ := dynamicFor(target)
			s.formula(p.Name, float64(f.Bits())/1024)
		case strings.HasPrefix(p.Name, "T2_bfprob"):
			s.formula(p.Name, standard(p.int("m"), p.int("k")).ExpectedRate(n))
		default:
			_, d := dynamicFor(target)
			d.Batch.Blocks = fewestBlocks(d, n, target)
			if strings.HasPrefix(p.Name, "T2_len") {
				s.formula(p.Name, float64(uint64(max(1, (n-1)/d.Threshold+1))*d.Batch.Bits())/1024)
			} else {
				s.formula(p.Name, d.ExpectedRate(n))
			}
		}
	}
}

// fewestBlocks returns the fewest blocks a batch at which the rate with n keys is at most target, or all of them.
func fewestBlocks(d bloom.DynamicParams, n int, target float64) int {
	most := d.Batch.Blocks
	for d.Batch.Blocks = 1; d.Batch.Blocks < most && d.ExpectedRate(n) > target; d.Batch.Blocks++ {
	}
	return d.Batch.Blocks
}

// growDynamic grows D-BBFs and at every number of elements of the table cuts a copy to the target, where that can be
// reached.
func (s *session) growDynamic(target float64) {
	_, params := dynamicFor(target)
	var sizes []int
	for _, p := range printedOf("dynamic") {
		if p.in("target") == target && strings.HasPrefix(p.Name, "T2_prob") {
			sizes = append(sizes, p.int("n"))
		}
	}
	all := trials(s, fmt.Sprint("grow ", target), 8, func(rng *rand.Rand) []float64 {
		d := must(bloom.NewDynamic(params))
		rates := make([]float64, len(sizes))
		for i, n := range sizes {
			for d.Len() < n {
				d.AddHash(randomHash(rng))
			}
			cut := must(bloom.NewDynamic(params))
			if err := cut.Merge(d); err != nil {
				panic(err) // of one form
			}
			cut.Truncate(fewestBlocks(params, n, target))
			rates[i] = falsePositives(rng, cut.ContainsHash, 100_000)
		}
		return rates
	})
	for i, n := range sizes {
		var rates []float64
		for _, r := range all {
			rates = append(rates, r[i])
		}
		s.measured(fmt.Sprintf("T2_prob_%v_%d", target, n), sampleOf(rates))
	}
}

func dynamicFigures(*session) []report.Figure {
	var figures []report.Figure
	for i, rate := range []float64{0.1, 0.05, 0.01, 0.005} {
		f, d := dynamicFor(rate)
		figures = append(figures, report.Figure{
			Name:  fmt.Sprintf("dynamic-figure4%c", 'a'+i),
			Title: fmt.Sprintf("Papapetrou et al. 2010, figure 4%c: initial probability %v", 'a'+i, rate),
			X:     "elements", Y: "false-positive probability",
			Lines: []report.Line{
				report.CurveOf("standard", 1000, 500_000, 499, func(n float64) float64 { return f.ExpectedRate(int(n)) }),
				report.CurveOf("D-BBF", 1000, 500_000, 499, func(n float64) float64 { return d.ExpectedRate(int(n)) }),
				report.CurveOf("D-BBF, upper bound", 1000, 500_000, 499, func(n float64) float64 { return papers.DynamicRateBound(d, int(n)) }),
			},
		})
	}
	return figures
}
