package experiment

import (
	"fmt"
	"math/rand/v2"

	"github.com/venn-p2p/venn/summary/bloom"
	"github.com/venn-p2p/venn/testnet/papers"
	"github.com/venn-p2p/venn/testnet/results/report"
)

// mitzenmacherKeys is the number of keys in the filters that are measured, as in Mitzenmacher's simulations.
const mitzenmacherKeys = 10_000

var compressed = experiment{
	Info: Info{
		Name: "compressed", Title: "tables I to V with measured sizes, figures 1 and 2", Paper: "Mitzenmacher 2002",
	},
	tasks: byRules(
		rule{"base_optimal", 0, func(s *session, p printed) { s.formula(p.Name, papers.CompressedBase(0.5)) }},
		rule{"std_", 0, func(s *session, p printed) {
			s.formula(p.Name, papers.AsymptoticRate(p.in("bits_per_element"), p.in("k")))
		}},
		rule{"theory_", 0, func(s *session, p printed) {
			s.formula(p.Name, standard(p.int("m"), p.int("k")).CompressedBits(p.int("n"))/8)
		}},
		rule{"sim_avg_", 5, func(s *session, p printed) { s.sizes(p.int("m"), p.int("k")) }},
		rule{"sim_max_bytes_m70000", 2, func(s *session, p printed) { s.sizes(70000, 1) }}, // its mean is not printed
		rule{"_z", 1, func(s *session, p printed) {
			c, k := p.in("m_over_n"), p.int("k")
			s.formula(p.Name, papers.CompressedBitsPerKey(c, float64(k)))
			s.bitsPerKey(p.Name, s.messageBytes(int(c*mitzenmacherKeys), k, 30), mitzenmacherKeys)
		}},
		ratesOfTables,
	),
	figures: compressedFigures,
}

// messageBytes measures the bytes of n messages, each a filter of m bits and k hash functions, as the codec encodes it.
func (s *session) messageBytes(m, k, n int) sample {
	p := standard(m, k)
	codec := must(bloom.NewCodec(p))
	return sampleOf(trials(s, fmt.Sprint("message ", m, k), n, func(rng *rand.Rand) float64 {
		return float64(len(must(codec.Append(nil, randomFilter(rng, p, mitzenmacherKeys), nil))))
	}))
}

// ratesOfTables computes and measures the false-positive rates in the tables.
var ratesOfTables = rule{"_f", 0.3, func(s *session, p printed) {
	c, k := p.in("m_over_n"), p.int("k")
	s.formula(p.Name, papers.AsymptoticRate(c, float64(k)))
	params := standard(int(c*mitzenmacherKeys), k)
	s.measured(p.Name, sampleOf(trials(s, fmt.Sprint("rate ", c, k), 40, func(rng *rand.Rand) float64 {
		return falsePositives(rng, randomFilter(rng, params, mitzenmacherKeys).ContainsHash, 200_000)
	})))
}}

// sizes repeats the simulation of section III.A: the mean, deviation and maximum of the messages' sizes. The paper took
// the maximum of 100,000 trials. Ours is extrapolated: the expected maximum of that many trials with the mean and the
// deviation measured here.
func (s *session) sizes(m, k int) {
	const deviationsOfGreatest = 4.38 // expected maximum of 100,000 normal variables
	x := s.messageBytes(m, k, 2000)
	spread := x.spread(normalKurtosis)
	greatest := sample{mean: x.mean + deviationsOfGreatest*spread.mean, margin: deviationsOfGreatest * spread.margin}
	for _, y := range []struct {
		quantity string
		sample
		how string
	}{{"avg", x, "measured"}, {"sd", spread, "measured"}, {"max", greatest, "extrapolated"}} {
		if name := fmt.Sprintf("sim_%s_bytes_m%d", y.quantity, m); isPrinted(name) {
			s.sampled(name, y.sample, y.how)
		}
	}
}

// compressedFigures draws figures 1 and 2: false-positive rates over the number of hash functions.
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
