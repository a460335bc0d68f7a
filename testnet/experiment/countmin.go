package experiment

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/venn-p2p/venn/testnet/papers"
)

var countmin = experiment{
	Info: Info{
		Name: "countmin", Title: "section 9: count-min with two hash functions", Paper: "Kirsch and Mitzenmacher 2008",
	},
	tasks: countminTasks,
}

func countminTasks(s *session) []task {
	var tasks []task
	for _, eps := range []float64{0.1, 0.01, 0.001} {
		tasks = append(tasks, task{1, func() { s.countMin(eps) }})
	}
	return append(tasks, task{0, func() { s.copies() }})
}

// countMin checks Theorem 9.1. No estimate is too low. An estimate exceeds its count by eps of all counts with
// probability at most eps. This is measured on keys that never came: collisions raise their estimates the most. Counts
// are Zipf's.
func (s *session) countMin(eps float64) {
	p := papers.CountMinFor(eps, eps)
	row := fmt.Sprintf("eps=%v, w=%d, d=%d", eps, p.Width, p.Depth)
	type outcome struct{ low, exceeded float64 }
	all := trials(s, fmt.Sprint("stream ", eps), 400, func(rng *rand.Rand) outcome {
		const keys, asked = 5000, 500
		sketch := papers.NewCountMin(p, rng.Uint64())
		names, counts := make([]uint64, keys), make([]uint32, keys)
		for i := range keys {
			names[i], counts[i] = rng.Uint64(), uint32(keys/(i+1))
			sketch.Add(names[i], counts[i])
		}
		var o outcome
		for i, name := range names {
			if sketch.Estimate(name) < counts[i] {
				o.low++
			}
		}
		for range asked {
			if float64(sketch.Estimate(rng.Uint64())) > eps*float64(sketch.Total) {
				o.exceeded += 1.0 / asked
			}
		}
		return o
	})
	var low float64
	for _, o := range all {
		low += o.low
	}
	x := column(all, func(o outcome) float64 { return o.exceeded })
	s.note(Row{Paper: s.Paper, Table: "Theorem 9.1", Row: row, Quantity: "estimates too low, measured", Printed: 0, Measured: low})
	s.atMost(row, "probability of an error above eps (at most)", eps, papers.CountMinExceeds(p, eps), 0)
	s.atMost(row, "part of the errors above eps (at most the bound), measured", papers.CountMinExceeds(p, eps), x.mean, x.margin)
}

// atMost adds a row for a bound: it agrees when the measured number is not above it.
func (s *session) atMost(row, quantity string, bound, measured, tolerance float64) {
	r := Row{
		Paper: s.Paper, Table: "Theorem 9.1", Row: row, Quantity: quantity,
		Printed: bound, Measured: measured, Tolerance: tolerance, Verdict: Agrees,
	}
	if !(measured <= bound+tolerance) {
		r.Verdict = Differs
	}
	s.note(r)
}

// copies checks the number of hash functions of section 9.2, 2⌈ln(1/δ)/ln(1/ε)⌉, and the probability of error that it
// gives.
func (s *session) copies() {
	for _, form := range []struct{ eps, delta float64 }{{0.01, 1e-6}, {0.001, 1e-6}, {0.1, 1e-3}} {
		p := papers.CountMinFor(form.eps, form.delta)
		row := fmt.Sprintf("eps=%v, delta=%v", form.eps, form.delta)
		s.note(Row{
			Paper: s.Paper, Table: "section 9.2", Row: row, Quantity: "hash functions",
			Printed:  2 * math.Ceil(math.Log10(1/form.delta)/math.Log10(1/form.eps)-1e-9),
			Measured: float64(2 * p.Copies),
		})
		s.atMost(row, "probability of an error above eps (at most delta)", form.delta, papers.CountMinExceeds(p, form.eps), 0)
	}
}
