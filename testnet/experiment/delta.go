package experiment

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/venn-p2p/venn/summary/bloom"
	"github.com/venn-p2p/venn/testnet/papers"
)

var delta = experiment{
	Info:  Info{Name: "delta", Title: "tables VI and VII: updates sent as compressed differences", Paper: "Mitzenmacher 2002"},
	tasks: deltaTasks,
}

func deltaTasks(s *session) []task {
	var tasks []task
	for _, p := range printedOf("delta") {
		c, k, change := p.in("m_over_n"), p.int("k"), p.in("change_fraction")
		switch {
		case strings.HasPrefix(p.Name, "theory_"):
			tasks = append(tasks, task{0, func() {
				perKey := papers.DeltaBitsPerKey(p.in("m")/p.in("n"), p.in("k"), change)
				s.formula(p.Name, perKey*p.in("n")/8)
			}})
		case strings.HasPrefix(p.Name, "sim_"):
			tasks = append(tasks, task{4, func() {
				s.measured(p.Name, s.deltaBytes(p.int("m"), k, change, 500))
			}})
		case strings.HasSuffix(p.Name, "_z"):
			tasks = append(tasks, task{c / 10, func() {
				s.formula(p.Name, papers.DeltaBitsPerKey(c, float64(k), change))
				s.bitsPerKey(p.Name, s.deltaBytes(int(c*mitzenmacherKeys), k, change, 100), mitzenmacherKeys)
			}})
		case strings.HasSuffix(p.Name, "_f"):
			tasks = append(tasks, task{0.3, func() {
				s.formula(p.Name, papers.AsymptoticRate(c, float64(k)))
				s.measured(p.Name, s.measuredRate(c, k))
			}})
		}
	}
	return tasks
}

// deltaBytes measures the message that updates a filter after a part of its keys was replaced.
func (s *session) deltaBytes(m, k int, change float64, n int) sample {
	p := standard(m, k)
	codec := must(bloom.NewCodec(p))
	replaced := int(change * mitzenmacherKeys)
	return sampleOf(trials(s, fmt.Sprint("delta ", m, k, change), n, func(rng *rand.Rand) float64 {
		kept := randomFilter(rng, p, mitzenmacherKeys-replaced)
		before, after := kept.Clone(), kept
		for range replaced {
			before.AddHash(randomHash(rng))
			after.AddHash(randomHash(rng))
		}
		return float64(len(must(codec.Append(nil, after, before))))
	}))
}
