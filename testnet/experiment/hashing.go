package experiment

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/venn-p2p/venn/summary/bloom"
	"github.com/venn-p2p/venn/testnet/papers"
	"github.com/venn-p2p/venn/testnet/results/report"
)

var hashing = experiment{
	Info: Info{
		Name: "hashing", Title: "figures 1 and 2: two hash functions instead of k", Paper: "Kirsch and Mitzenmacher 2008",
	},
	tasks:   hashingTasks,
	figures: hashingFigures,
}

// hashScheme is one of the five ways of hashing that section 8 of the paper compares.
type hashScheme struct {
	name   string
	params func(m, k int) bloom.Params
	scheme papers.Scheme // hash scheme; 0 for the standard one
}

var hashSchemes = []hashScheme{
	{"standard", standard, 0},
	{"partition", func(m, k int) bloom.Params { return bloom.Params{Blocks: k, BlockBits: uint64(m / k), Hashes: 1} }, papers.Double},
	{"double hashing", standard, papers.Double},
	{"enhanced double hashing, i²", standard, papers.EnhancedSquare},
	{"enhanced double hashing, i³", standard, papers.EnhancedCube},
}

// filter fills a filter with n random keys, and returns its test of membership by hash.
func (h hashScheme) filter(rng *rand.Rand, p bloom.Params, n int) (contains func(bloom.Hash) bool) {
	if h.name == "standard" {
		return randomFilter(rng, p, n).ContainsHash
	}
	f := papers.NewFilter(h.scheme, p)
	for range n {
		f.Add(randomHash(rng))
	}
	return f.Contains
}

var (
	hashingRatios = []int{4, 8, 12, 16} // m/n, a panel of figure 1 each
	hashingSizes  = []int{100, 500, 1000, 5000, 10000}
)

// hashesFor returns the k of ⌊c ln 2⌋ and ⌈c ln 2⌉ with the lower p = (1-e^(-k/c))^k.
func hashesFor(c int) (k int, p float64) {
	below := math.Floor(float64(c) * math.Ln2)
	k, p = int(below), papers.AsymptoticRate(float64(c), below)
	if q := papers.AsymptoticRate(float64(c), below+1); q < p {
		k, p = k+1, q
	}
	return k, p
}

// hashingTasks returns the tasks that measure the figures of the paper's section 8 and compare hash schemes with the
// simulation.
func hashingTasks(s *session) []task {
	tasks := []task{{0, func() {
		_, p := hashesFor(8)
		s.formula("std_c8_k6_precise", p)
	}}}
	for _, c := range hashingRatios {
		for _, n := range hashingSizes {
			tasks = append(tasks, task{float64(n*c) / 3e4, func() { s.compareSchemes(c, n) }})
		}
	}
	for _, h := range hashSchemes {
		tasks = append(tasks,
			task{2, func() { s.againstSimulation(h, 5000, 40000, 6) }},
			task{2, func() { s.againstSimulation(h, 500, 8000, 11) }},
			task{2, func() { s.distribution(h) }},
		)
	}
	return tasks
}

// compareSchemes measures a point of figure 1 for each scheme. Where filters are dense (c = 4 and 8) and not tiny, the
// paper calls the schemes "essentially indistinguishable", with a rate close to p. Here it is within 2 %.
func (s *session) compareSchemes(c, n int) {
	k, p := hashesFor(c)
	m := n * c / k * k // whole blocks for the partition scheme
	for _, h := range hashSchemes {
		x := s.schemeRate(h, n, m, k, 200, 5*int(math.Ceil(10/p)))
		points := s.curve(fmt.Sprintf("%s, c=%d", h.name, c))
		points.Dots = true
		points.Add(float64(n), x.mean)
		if c <= 8 && n >= 5000 {
			s.note(Row{
				Paper: s.Paper, Table: "Figure 1", Row: fmt.Sprintf("c=%d, n=%d, %s", c, n, h.name),
				Quantity: "false-positive rate, close to p, measured",
				Printed:  p, Measured: x.mean, Tolerance: 0.02*p + x.margin,
			})
		}
	}
}

func (s *session) schemeRate(h hashScheme, n, m, k, filters, probes int) sample {
	params := h.params(m, k)
	return sampleOf(trials(s, fmt.Sprint(h.name, n, m, k), filters, func(rng *rand.Rand) float64 {
		return falsePositives(rng, h.filter(rng, params, n), probes)
	}))
}

// simulated has rates in the setting of the paper's section 8, from a simulation that shares no code with our filters
// (standard error a quarter of the tolerance). Function plainRate of the tests repeats it.
var simulated = []struct {
	scheme          string
	n               int
	rate, tolerance float64
}{
	{"standard", 5000, 0.021477, 0.00024},
	{"partition", 5000, 0.021692, 0.00024},
	{"double hashing", 5000, 0.021482, 0.00024},
	{"enhanced double hashing, i²", 5000, 0.021562, 0.00024},
	{"standard", 500, 0.00045958, 1.6e-5},
	{"partition", 500, 0.0013825, 1.6e-5},
	{"double hashing", 500, 0.00064334, 1.6e-5},
	{"enhanced double hashing, i²", 500, 0.00052323, 1.6e-5},
}

// againstSimulation compares a scheme's measured false-positive rate with the simulated one.
func (s *session) againstSimulation(h hashScheme, n, m, k int) {
	for _, v := range simulated {
		if v.scheme != h.name || v.n != n {
			continue
		}
		probes := 2000
		if n == 500 {
			probes = 20_000
		}
		x := s.schemeRate(h, n, m, k, 3000, probes)
		s.note(Row{
			Paper: s.Paper, Table: "section 8, simulated", Row: fmt.Sprintf("n=%d, m=%d, k=%d, %s", n, m, k, h.name),
			Quantity: "false-positive rate, measured",
			Printed:  v.rate, Measured: x.mean, Tolerance: v.tolerance + x.margin,
		})
	}
}

// The setting of figure 2.
const (
	distributionKeys  = 5000
	distributionRatio = 8
)

// distribution counts Q, the false positives among 10/p questions, in 10,000 filters.
func (s *session) distribution(h hashScheme) {
	k, p := hashesFor(distributionRatio)
	questions := int(math.Ceil(10 / p))
	params := h.params(distributionKeys*distributionRatio/k*k, k)
	qs := trials(s, "Q "+h.name, 10_000, func(rng *rand.Rand) float64 {
		rate := falsePositives(rng, h.filter(rng, params, distributionKeys), questions)
		return math.Round(rate * float64(questions))
	})
	counts := make([]float64, 31)
	for _, q := range qs {
		counts[min(int(q), len(counts)-1)]++
	}
	points := s.curve("Q, " + h.name)
	points.Dots = true
	for q, count := range counts {
		points.Add(float64(q), count*10_000/float64(len(qs)))
	}
	x := sampleOf(qs)
	mean := float64(questions) * p
	row := fmt.Sprintf("n=%d, c=%d, %s", distributionKeys, distributionRatio, h.name)
	s.note(Row{
		Paper: s.Paper, Table: "Figure 2", Row: row, Quantity: "mean of Q, measured",
		Printed: mean, Measured: x.mean, Tolerance: 0.02*mean + x.margin,
	})
	deviation := math.Sqrt(mean * (1 - p))
	s.note(Row{
		Paper: s.Paper, Table: "Figure 2", Row: row, Quantity: "standard deviation of Q, measured",
		Printed: deviation, Measured: x.deviation, Tolerance: 0.05*deviation + x.spread(normalKurtosis).margin,
	})
}

// hashingFigures returns figures 1 and 2, with the points that the tasks have measured.
func hashingFigures(s *session) []report.Figure {
	var figures []report.Figure
	for _, c := range hashingRatios {
		_, p := hashesFor(c)
		f := report.Figure{
			Name:  fmt.Sprintf("hashing-figure1-c%d", c),
			Title: fmt.Sprintf("Kirsch and Mitzenmacher 2008, figure 1: c = %d", c),
			X:     "elements n", Y: "false-positive probability", LogX: true,
			Lines: []report.Line{{Name: "p", Points: []report.Point{{X: 100, Y: p}, {X: 10_000, Y: p}}}},
		}
		for _, h := range hashSchemes {
			f.Lines = append(f.Lines, s.named(fmt.Sprintf("%s, c=%d", h.name, c), h.name))
		}
		figures = append(figures, f)
	}
	_, p := hashesFor(distributionRatio)
	questions := math.Ceil(10 / p)
	f := report.Figure{
		Name:  "hashing-figure2",
		Title: "Kirsch and Mitzenmacher 2008, figure 2: Q for n = 5000, c = 8",
		X:     "false positives Q of a trial", Y: "trials of 10,000",
		Lines: []report.Line{report.CurveOf("f, normal density", 0, 30, 300, func(q float64) float64 {
			mean, variance := questions*p, questions*p*(1-p)
			return 10_000 * math.Exp(-(q-mean)*(q-mean)/(2*variance)) / math.Sqrt(2*math.Pi*variance)
		})},
	}
	for _, h := range hashSchemes {
		f.Lines = append(f.Lines, s.named("Q, "+h.name, h.name))
	}
	return append(figures, f)
}

// named returns a copy of a curve with another name, for a legend.
func (s *session) named(curve, name string) report.Line {
	l := *s.curve(curve)
	l.Name = name
	return l
}
