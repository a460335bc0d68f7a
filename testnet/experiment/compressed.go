package experiment

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/venn-p2p/venn/summary/bloom"
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
			tasks = append(tasks, task{0, func() { s.formula(p.Name, bloom.CompressedBase(0.5)) }})
		case strings.HasPrefix(p.Name, "std_"):
			tasks = append(tasks, task{0, func() { s.formula(p.Name, bloom.AsymptoticRate(p.in("bits_per_element"), p.in("k"))) }})
		case strings.HasPrefix(p.Name, "theory_"):
			tasks = append(tasks, task{0, func() {
				s.formula(p.Name, standard(p.int("m"), k).CompressedBits(p.int("n"))/8)
			}})
		case strings.HasPrefix(p.Name, "sim_avg_"):
			m := p.int("m")
			tasks = append(tasks, task{float64(m) / 4e4, func() { s.sizes(m, k) }})
		case strings.HasSuffix(p.Name, "_z"):
			tasks = append(tasks, task{c / 20, func() {
				s.formula(p.Name, bloom.CompressedBitsPerKey(c, float64(k)))
				s.size(p.Name, s.bitsPerKey(c, k))
			}})
		case strings.HasSuffix(p.Name, "_f"):
			tasks = append(tasks, task{0.3, func() {
				s.formula(p.Name, bloom.AsymptoticRate(c, float64(k)))
				s.measured(p.Name, s.measuredRate(c, k))
			}})
		}
	}
	return append(tasks, task{2, func() { s.sizes(70000, 1) }})
}

// bitsPerKey measures the message of a filter of c bits a key, as a codec sends it.
func (s *session) bitsPerKey(c float64, k int) sample {
	p := standard(int(c*mitzenmacherKeys), k)
	codec := must(bloom.NewCodec(p))
	return sampleOf(trials(s, fmt.Sprint("bits ", c, k), 30, func(rng *rand.Rand) float64 {
		message := must(codec.Append(nil, randomFilter(rng, p, mitzenmacherKeys)))
		return float64(8*len(message)) / mitzenmacherKeys
	}))
}

func (s *session) measuredRate(c float64, k int) sample {
	p := standard(int(c*mitzenmacherKeys), k)
	return sampleOf(trials(s, fmt.Sprint("rate ", c, k), 40, func(rng *rand.Rand) float64 {
		return falsePositives(rng, randomFilter(rng, p, mitzenmacherKeys).ContainsHash, 200_000)
	}))
}

// sizes repeats the simulation of section III.A: the mean, deviation and maximum of the messages' sizes. The paper
// took the maximum of 100,000 trials; ours is what so many of the same mean and deviation would be expected to give.
func (s *session) sizes(m, k int) {
	const deviationsOfGreatest = 4.38 // expected maximum of 100,000 normal variables
	p := standard(m, k)
	codec := must(bloom.NewCodec(p))
	x := sampleOf(trials(s, fmt.Sprint("sizes ", m, k), 2000, func(rng *rand.Rand) float64 {
		return float64(len(must(codec.Append(nil, randomFilter(rng, p, mitzenmacherKeys)))))
	}))
	n := float64(s.scaled(2000))
	spread := sample{x.deviation, x.deviation / math.Sqrt(2*n), 0}
	greatest := sample{x.mean + deviationsOfGreatest*x.deviation, deviationsOfGreatest * spread.err, 0}
	for quantity, y := range map[string]sample{"avg": x, "sd": spread, "max": greatest} {
		if name := fmt.Sprintf("sim_%s_bytes_m%d", quantity, m); isPrinted(name) {
			s.measured(name, y)
		}
	}
}

func compressedFigures(*session) []figure {
	var figures []figure
	for i, z := range []float64{8, 16} {
		most := []float64{10, 20}[i]
		figures = append(figures, figure{
			name:  fmt.Sprintf("compressed-figure%d", i+1),
			title: fmt.Sprintf("Mitzenmacher 2002, figure %d: %v bits an element", i+1, z),
			x:     "hash functions k", y: "false-positive probability", logY: true,
			lines: []line{
				curveOf("standard, m/n = z/n", 0.5, most, 200, func(k float64) float64 { return bloom.AsymptoticRate(z, k) }),
				curveOf("compressed to z/n", 0.5, most, 200, func(k float64) float64 { return bloom.AsymptoticRate(longest(z, k), k) }),
			},
		})
	}
	return figures
}

// longest is the m/n at which a filter of k hash functions is compressed to z bits a key; the size grows with m/n.
func longest(z, k float64) float64 {
	low, high := z, 1e9
	for range 200 {
		if c := (low + high) / 2; bloom.CompressedBitsPerKey(c, k) < z {
			low = c
		} else {
			high = c
		}
	}
	return low
}
