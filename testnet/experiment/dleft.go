package experiment

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/venn-p2p/venn/summary/counting"
	"github.com/venn-p2p/venn/testnet/papers"
)

// The setting of section 5.1: average load 6 in 4 subtables of 2048 buckets, and 2^20 steps of removing and adding.
const (
	dleftKeys  = 49152
	dleftSteps = 1 << 20
)

var dleft = experiment{
	Info:  Info{Name: "dleft", Title: "table 1, sections 4 and 5: the d-left counting filter", Paper: "Bonomi et al. 2006"},
	tasks: dleftTasks,
}

func dleftTasks(s *session) []task {
	return []task{
		{0, func() { s.dleftFormulas() }},
		{0.2, func() { s.fluidLimits() }},
		{12, func() { s.churnDLeft() }},
		{6, func() { s.failsafe() }},
		{2, func() { s.countingRates() }},
		{1, func() { s.messages() }},
	}
}

func newDLeft(n, r int, seed uint64) *counting.DLeft {
	p := counting.ParamsForFingerprint(n, 48)
	p.RemainderBits = r
	p.Seed, p.Fixed = seed, true
	return must(counting.NewDLeft(p))
}

// messages measures the size of a counting filter when it is sent (Mitzenmacher 2002, section V), beside the entropy of
// its content: a set of distinct fingerprints.
func (s *session) messages() {
	for _, q := range []int{24, 32, 48} {
		least := float64(q) - math.Log2(dleftKeys) + math.Log2E
		sizes := sampleOf(trials(s, fmt.Sprint("message of ", q), 10, func(rng *rand.Rand) float64 {
			f := must(counting.NewDLeft(counting.ParamsForFingerprint(dleftKeys, q)))
			for f.Len() < dleftKeys {
				if x := rng.Uint64(); !f.Contains(x) {
					if err := f.Add(x); err != nil {
						panic(err) // the filter grows
					}
				}
			}
			return float64(8*len(must(f.MarshalBinary()))) / dleftKeys
		}))
		row := fmt.Sprintf("%d members, fingerprints of %d bits", dleftKeys, q)
		s.note(Row{
			Paper: "Mitzenmacher 2002", Table: "section V", Row: row, Quantity: "bits a member, the entropy and the message, measured",
			Printed: least, Measured: sizes.mean, Tolerance: least / 100,
		})
	}
}

// dleftUpper returns section 4's bound of the false-positive rate: one of 24 cells has the same remainder of r bits.
func dleftUpper(r float64) float64 { return 24 * math.Exp2(-r) }

// dleftFormulas adds rows for the printed numbers that follow from formulas.
func (s *session) dleftFormulas() {
	s.formula("std_c10_k7", papers.AsymptoticRate(10, 7))
	s.formula("fp_upper_r14", dleftUpper(14))
	s.formula("dl_r11", dleftUpper(11))
	s.formula("total_bits", float64(8*newDLeft(dleftKeys, 14, 0).SizeBytes()))
	s.formula("dl_r11_bits", float64(8*newDLeft(dleftKeys, 11, 0).SizeBytes())/dleftKeys)
	s.formula("cbf_bits", float64(8*papers.NewCountingBloom(663552, 9).SizeBytes()))
	s.formula("ratio_r14", math.Exp2(-16.0/3*math.Ln2)/dleftUpper(14))
	least := 5.0
	for math.Exp2(-(least+2)*math.Ln2/3) <= dleftUpper(least) {
		least++
	}
	s.formula("crossover_r", least)
	// Probability that five of the members share a fingerprint of 25 bits.
	s.formula("counter_overflow_printed", choose5(dleftKeys)/math.Pow(1<<25, 4))
	factorial, _ := math.Lgamma(17)
	s.formula("cbf_counter_overflow", math.Exp(-math.Ln2+16*math.Log(math.Ln2)-factorial))
}

func choose5(n float64) float64 { return n * (n - 1) * (n - 2) * (n - 3) * (n - 4) / 120 }

func (s *session) fluidLimits() {
	tails := papers.FluidLimit(4, 9, 6)
	for _, p := range printedOf("dleft") {
		if strings.HasPrefix(p.Name, "T1_fluid") {
			s.formula(p.Name, tails[p.int("tail")])
		}
	}
	s.formula("fluid_6.5_ge9", papers.FluidLimit(4, 9, 6.5)[9])
}

// churned is the result of one trial of section 5.1.
type churned struct {
	tails     []float64 // fraction of buckets with at least i items
	positives float64   // share of 10,000 random items that the filter takes for members
	moves     int       // buckets that would have overflowed
	failed    bool
}

// churnTrial fills a filter with n random items, replaces random items in a number of steps, and measures the filter.
func churnTrial(rng *rand.Rand, n, steps int) churned {
	f := newDLeft(dleftKeys, 14, rng.Uint64())
	members := make([]uint64, n)
	for i := range members {
		members[i] = rng.Uint64()
		if f.Add(members[i]) != nil {
			return churned{failed: true}
		}
	}
	for range steps {
		x := &members[rng.IntN(n)]
		f.Remove(*x)
		*x = rng.Uint64()
		if f.Add(*x) != nil {
			return churned{failed: true}
		}
	}
	loads, moves := f.Loads()
	result := churned{tails: make([]float64, 10), moves: moves}
	for i := len(loads) - 1; i >= 0; i-- {
		result.tails[i] = result.tails[i+1] + float64(loads[i])/8192
	}
	for range 10_000 {
		if f.Contains(rng.Uint64()) {
			result.positives += 1.0 / 10_000
		}
	}
	return result
}

// churnDLeft repeats section 5.1. If a filter overflows in any trial, it adds only the row about overflows.
func (s *session) churnDLeft() {
	all := trials(s, "churn", 100, func(rng *rand.Rand) churned { return churnTrial(rng, dleftKeys, dleftSteps) })
	if s.ctx.Err() != nil {
		return
	}
	overflows := column(all, func(c churned) float64 {
		if c.failed || c.moves > 0 {
			return 1
		}
		return 0
	})
	s.note(Row{
		Paper: s.Paper, Table: "section 5.1", Row: "average load 6", Quantity: "part of the trials with an overflow, measured",
		Printed: 0, Measured: overflows.mean,
	})
	if overflows.mean > 0 {
		return // there is no distribution of a trial that ended early
	}
	for _, p := range printedOf("dleft") {
		if strings.HasPrefix(p.Name, "T1_sim") {
			s.measured(p.Name, column(all, func(c churned) float64 { return c.tails[p.int("tail")] }))
		}
	}
	s.measured("fp_measured_r14", column(all, func(c churned) float64 { return c.positives }))
}

// failsafe repeats section 5.2: at average load 6.75 overflows are resolved by moving, 40 to 100 times a trial.
func (s *session) failsafe() {
	all := trials(s, "failsafe", 40, func(rng *rand.Rand) churned { return churnTrial(rng, 55296, dleftSteps) })
	if s.ctx.Err() != nil {
		return
	}
	failed := column(all, func(c churned) float64 {
		if c.failed {
			return 1
		}
		return 0
	})
	moves := column(all, func(c churned) float64 { return float64(c.moves) })
	const row = "average load 6.75, elements of the first subtable moved"
	s.note(Row{
		Paper: s.Paper, Table: "section 5.2", Row: row, Quantity: "part of the trials with an overflow, measured",
		Printed: 0, Measured: failed.mean,
	})
	s.note(Row{
		Paper: s.Paper, Table: "section 5.2", Row: row, Quantity: "moves a trial (40 to 100), measured",
		Printed: 70, Measured: moves.mean, Tolerance: 30,
	})
}

// countingRates measures the false-positive rates of the counting Bloom filters that the paper compares with.
func (s *session) countingRates() {
	for _, form := range []struct {
		name   string
		perKey float64
		k      int
	}{{"cbf_13.5_9", 13.5, 9}, {"cbf_9_6", 9, 6}} {
		s.measured(form.name, sampleOf(trials(s, form.name, 40, func(rng *rand.Rand) float64 {
			c := papers.NewCountingBloom(int(form.perKey*dleftKeys), form.k)
			for range dleftKeys {
				if err := c.Add(rng.Uint64()); err != nil {
					panic(err) // a counter at 16 has probability 10^-16
				}
			}
			hits := 0
			for range 200_000 {
				if c.Contains(rng.Uint64()) {
					hits++
				}
			}
			return float64(hits) / 200_000
		})))
	}
}
