package experiment

import (
	"cmp"
	"container/heap"
	"math/rand/v2"
	"slices"

	"github.com/venn-p2p/venn/overlay/index"
	"github.com/venn-p2p/venn/summary"
)

// budgetQueries is the number of queries for each budget. budgetHeader is the bytes of a header, its signature and the
// origin's record, which go with each summary.
const (
	budgetQueries = 4000
	budgetHeader  = 512
)

// budget fills a directory of the given bytes as the planner does: samples first, then the part of most value a byte.
// Each query is for a key that the asker lacks. It asks the peers that match, the likeliest first, until one has it.
func (c *collectionRun) budget() {
	prefixes := c.prefixes()
	bytes := c.Bytes
	if c.Share > 0 {
		all := 0
		for _, p := range prefixes {
			all += p.EncodedBytes() + budgetHeader
		}
		bytes = int(c.Share * float64(all))
	}
	held := fillBudget(prefixes, bytes, c.rng)
	var x index.Index
	known, sigma := 0, 0.0
	for i, p := range held {
		if p == nil {
			sigma++
			continue
		}
		x.Set(i, p)
		known++
		sigma += p.FalsePositiveRate()
	}
	found, wasted := c.probe(&x, held)
	c.add("planner", "", bytes, "peers known", float64(known))
	c.add("planner", "", bytes, "expected false matches", sigma)
	c.add("planner", "", bytes, "recall", found)
	c.add("planner", "", bytes, "wasted probes per query", wasted)
}

// fillBudget returns the prefix of each summary that a directory of the given bytes holds; nil: it holds none.
func fillBudget(prefixes []*summary.Prefix, bytes int, rng *rand.Rand) []*summary.Prefix {
	held := make([]*summary.Prefix, len(prefixes))
	var steps nextSteps
	for _, i := range rng.Perm(len(prefixes)) {
		plan := prefixes[i].Plan()
		if cost := plan.EncodedBytes(1) + budgetHeader; cost <= bytes {
			bytes -= cost
			steps = append(steps, stepOf(plan, i, 1))
		}
	}
	heap.Init(&steps)
	depth := map[int]int{}
	for _, s := range steps {
		depth[s.peer] = 1
	}
	for len(steps) > 0 {
		s := steps[0]
		plan := prefixes[s.peer].Plan()
		if s.end > plan.Parts() || s.bytes > bytes {
			heap.Pop(&steps)
			continue
		}
		bytes -= s.bytes
		depth[s.peer] = s.end
		steps[0] = stepOf(plan, s.peer, s.end)
		heap.Fix(&steps, 0)
	}
	for i, parts := range depth {
		held[i] = prefixes[i].Truncate(parts)
	}
	return held
}

// nextStep is the next part of a peer's summary: the number of parts with it, its bytes, and its value a byte.
type nextStep struct {
	peer, end, bytes int
	value            float64
}

func stepOf(plan *summary.Plan, peer, from int) nextStep {
	bytes := max(1, plan.EncodedBytes(from+1)-plan.EncodedBytes(from))
	return nextStep{peer, from + 1, bytes, (plan.ExpectedRate(from) - plan.ExpectedRate(from+1)) / float64(bytes)}
}

// nextSteps is a heap, the greatest value first.
type nextSteps []nextStep

func (s nextSteps) Len() int { return len(s) }
func (s nextSteps) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(s[j].value, s[i].value), cmp.Compare(s[i].peer, s[j].peer)) < 0
}
func (s nextSteps) Swap(i, j int) { s[i], s[j] = s[j], s[i] }
func (s *nextSteps) Push(x any)   { *s = append(*s, x.(nextStep)) }
func (s *nextSteps) Pop() any {
	last := (*s)[len(*s)-1]
	*s = (*s)[:len(*s)-1]
	return last
}

// probe looks for keys. It returns the share of the keys that it found, and the mean number of vain questions a key.
func (c *collectionRun) probe(x *index.Index, held []*summary.Prefix) (found, wasted float64) {
	asked, hits, vain := 0, 0, 0
	var matches []int
	for asked < budgetQueries && c.ctx.Err() == nil {
		a, k := c.rng.IntN(len(held)), uint32(c.rng.IntN(c.held.Keys()))
		if c.held.Holds(peer(a), k) || c.held.Others(peer(a), k) == 0 {
			continue
		}
		asked++
		matches = x.Candidates(matches[:0], c.held.Key(k).Fingerprint)
		slices.SortStableFunc(matches, func(p, q int) int { return cmp.Compare(held[p].FalsePositiveRate(), held[q].FalsePositiveRate()) })
		for _, b := range matches {
			if b == a {
				continue
			}
			if c.held.Holds(peer(b), k) {
				hits++
				break
			}
			vain++
		}
	}
	return float64(hits) / float64(max(1, asked)), float64(vain) / float64(max(1, asked))
}
