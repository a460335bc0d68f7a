package experiment

import (
	"fmt"
	"math/rand/v2"

	"github.com/venn-p2p/venn/summary/bloom"
	"github.com/venn-p2p/venn/testnet/papers"
)

var delta = experiment{
	Info: Info{Name: "delta", Title: "tables VI and VII: updates sent as compressed differences", Paper: "Mitzenmacher 2002"},
	tasks: byRules(
		rule{"theory_", 0, func(s *session, p printed) {
			s.formula(p.Name, papers.DeltaBitsPerKey(p.in("m")/p.in("n"), p.in("k"), p.in("change_fraction"))*p.in("n")/8)
		}},
		rule{"sim_", 4, func(s *session, p printed) {
			s.measured(p.Name, s.deltaBytes(p.int("m"), p.int("k"), p.in("change_fraction"), 500))
		}},
		rule{"_z", 2, func(s *session, p printed) {
			c, k, change := p.in("m_over_n"), p.int("k"), p.in("change_fraction")
			s.formula(p.Name, papers.DeltaBitsPerKey(c, float64(k), change))
			s.bitsPerKey(p.Name, s.deltaBytes(int(c*mitzenmacherKeys), k, change, 100), mitzenmacherKeys)
		}},
		ratesOfTables,
	),
}

// deltaBytes measures the bytes of the message that updates a filter after a part of its keys was replaced.
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
