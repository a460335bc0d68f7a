package experiment

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/venn-p2p/venn/summary/bloom"
	"github.com/venn-p2p/venn/testnet/papers"
	"github.com/venn-p2p/venn/testnet/results/report"
)

const dynamicKeys = 100_000 // number of keys for which the structures of table 2 are configured

var dynamic = experiment{
	Info:    Info{Name: "dynamic", Title: "table 2 and figure 4: D-BBF against the standard filter", Paper: "Papapetrou et al. 2010"},
	tasks:   dynamicTasks,
	figures: dynamicFigures,
}

// dynamicFor configures both structures for a rate, as section 4 does: the standard filter first, then the D-BBF with
// batches of its length.
func dynamicFor(rate float64) (bloom.Params, bloom.DynamicParams) {
	p := must(bloom.Goal{Keys: dynamicKeys, Rate: rate}.Params())
	return p, must(papers.DynamicForBits(p.Bits(), rate))
}

// dynamicTasks returns the tasks for table 2: its formulas, and measurements for two of its targets.
func dynamicTasks(s *session) []task {
	tasks := byRules(
		rule{"T2_bf_len", 0, func(s *session, p printed) {
			f, _ := dynamicFor(p.in("target"))
			s.formula(p.Name, float64(f.Bits())/1024)
		}},
		rule{"T2_bfprob", 0, func(s *session, p printed) {
			s.formula(p.Name, standard(p.int("m"), p.int("k")).ExpectedRate(p.int("n")))
		}},
		rule{"T2_len", 0, func(s *session, p printed) {
			d := cutFor(p)
			s.formula(p.Name, float64(uint64(max(1, (p.int("n")-1)/d.Threshold+1))*d.Batch.Bits())/1024)
		}},
		rule{"T2_prob", 0, func(s *session, p printed) { s.formula(p.Name, cutFor(p).ExpectedRate(p.int("n"))) }},
	)(s)
	for _, target := range []float64{0.05, 0.005} {
		tasks = append(tasks, task{6, func() { s.growDynamic(target) }})
	}
	return tasks
}

// cutFor returns the D-BBF cut to the target rate of a printed number.
func cutFor(p printed) bloom.DynamicParams {
	_, d := dynamicFor(p.in("target"))
	d.Batch.Blocks = fewestBlocks(d, p.int("n"), p.in("target"))
	return d
}

// fewestBlocks returns the fewest blocks a batch at which the rate with n keys is at most target, or all blocks.
func fewestBlocks(d bloom.DynamicParams, n int, target float64) int {
	most := d.Batch.Blocks
	for d.Batch.Blocks = 1; d.Batch.Blocks < most && d.ExpectedRate(n) > target; d.Batch.Blocks++ {
	}
	return d.Batch.Blocks
}

// growDynamic grows D-BBFs. At each number of elements in the table, it cuts a copy to the target rate, or keeps all
// blocks if none suffice, and measures its rate.
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
				panic(err) // both have the same parameters
			}
			cut.Truncate(fewestBlocks(params, n, target))
			rates[i] = falsePositives(rng, cut.ContainsHash, 100_000)
		}
		return rates
	})
	for i, n := range sizes {
		s.measured(fmt.Sprintf("T2_prob_%v_%d", target, n), column(all, func(rates []float64) float64 { return rates[i] }))
	}
}

// dynamicFigures draws figure 4: false-positive rates over the number of elements, for four initial rates.
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
