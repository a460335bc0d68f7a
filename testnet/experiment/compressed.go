package experiment

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/venn-p2p/venn/summary/bloom"
	"github.com/venn-p2p/venn/testnet/papers"
	"github.com/venn-p2p/venn/testnet/results/report"
)

// keys in the filters whose sizes are measured, as in Mitzenmacher's simulations.
const mitzenmacherKeys = 10_000

var compressed = experiment{
	Info: Info{
		Name: "compressed", Title: "tables I to V with measured sizes, figures 1 and 2", Paper: "Mitzenmacher 2002",
	},
	tasks:   compressedTasks,
	figures: compressedFigures,
}

func compressedTasks(s *session) []task {
	var tasks []task
	for _, p := range printedOf("compressed") {
		c, k := p.in("m_over_n"), p.int("k")
		switch {
		case p.Name == "base_optimal":
			tasks = append(tasks, task{0, func() { s.formula(p.Name, papers.CompressedBase(0.5)) }})
		case strings.HasPrefix(p.Name, "std_"):
			tasks = append(tasks, task{0, func() { s.formula(p.Name, papers.AsymptoticRate(p.in("bits_per_element"), p.in("k"))) }})
		case strings.HasPrefix(p.Name, "theory_"):
			tasks = append(tasks, task{0, func() {
				s.formula(p.Name, standard(p.int("m"), k).CompressedBits(p.int("n"))/8)
			}})
		case strings.HasPrefix(p.Name, "sim_avg_"):
			m := p.int("m")
			tasks = append(tasks, task{float64(m) / 4e4, func() { s.sizes(m, k) }})
		case strings.HasSuffix(p.Name, "_z"):
			tasks = append(tasks, task{c / 20, func() {
				s.formula(p.Name, papers.CompressedBitsPerKey(c, float64(k)))
				s.bitsPerKey(p.Name, s.messageBytes(int(c*mitzenmacherKeys), k, 30), mitzenmacherKeys)
			}})
		case strings.HasSuffix(p.Name, "_f"):
			tasks = append(tasks, task{0.3, func() {
				s.formula(p.Name, papers.AsymptoticRate(c, float64(k)))
				s.measured(p.Name, s.measuredRate(c, k))
			}})
		}
	}
	return append(tasks, task{2, func() { s.sizes(70000, 1) }})
}

// messageBytes measures the messages of filters of m bits, as a codec sends them.
func (s *session) messageBytes(m, k, n int) sample {
	p := standard(m, k)
	codec := must(bloom.NewCodec(p))
	return sampleOf(trials(s, fmt.Sprint("message ", m, k), n, func(rng *rand.Rand) float64 {
		return float64(len(must(codec.Append(nil, randomFilter(rng, p, mitzenmacherKeys), nil))))
	}))
}

func (s *session) measuredRate(c float64, k int) sample {
	p := standard(int(c*mitzenmacherKeys), k)
	return sampleOf(trials(s, fmt.Sprint("rate ", c, k), 40, func(rng *rand.Rand) float64 {
		return falsePositives(rng, randomFilter(rng, p, mitzenmacherKeys).ContainsHash, 200_000)
	}))
}

// sizes repeats the simulation of section III.A: the mean, deviation and maximum of the messages' sizes. The paper took
// the maximum of 100,000 trials. Ours is the expected maximum of that many trials of the same mean and deviation.
func (s *session) sizes(m, k int) {
	const deviationsOfGreatest = 4.38 // expected maximum of 100,000 normal variables
	x := s.messageBytes(m, k, 2000)
	spread := x.spread(normalKurtosis)
	greatest := sample{mean: x.mean + deviationsOfGreatest*spread.mean, margin: deviationsOfGreatest * spread.margin}
	for _, y := range []struct {
		quantity string
		sample
	}{{"avg", x}, {"sd", spread}, {"max", greatest}} {
		if name := fmt.Sprintf("sim_%s_bytes_m%d", y.quantity, m); isPrinted(name) {
			s.measured(name, y.sample)
		}
	}
}

func compressedFigures(*session) []report.Figure {
	var figures []report.Figure
	for i, z := range []float64{8, 16} {
		most := []float64{10, 20}[i]
		figures = append(figures, report.Figure{
			Name:  fmt.Sprintf("compressed-figure%d", i+1),
			Title: fmt.Sprintf("Mitzenmacher 2002, figure %d: %v bits an element", i+1, z),
			X:     "hash functions k", Y: "false-positive probability", From: 0, To: []float64{0.1, 0.002}[i],
			Lines: []report.Line{
				report.CurveOf("standard, m/n = z/n", 0.5, most, 200, func(k float64) float64 { return papers.AsymptoticRate(z, k) }),
				report.CurveOf("compressed to z/n", 0.5, most, 200, func(k float64) float64 { return papers.AsymptoticRate(longest(z, k), k) }),
			},
		})
	}
	return figures
}

// longest returns the m/n at which a filter of k hash functions is compressed to z bits a key; the size grows with m/n.
func longest(z, k float64) float64 {
	low, high := z, 1e9
	for range 200 {
		if c := (low + high) / 2; papers.CompressedBitsPerKey(c, k) < z {
			low = c
		} else {
			high = c
		}
	}
	return low
}
