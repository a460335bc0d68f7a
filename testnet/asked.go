package testnet

import (
	"github.com/venn-p2p/venn/testnet/judge"
	"github.com/venn-p2p/venn/testnet/sim"
	"github.com/venn-p2p/venn/testnet/statistics"
)

// asked is a query that has ended.
type asked struct {
	sim.Query
	All   bool `json:"all"`
	Wrong int  `json:"wrong"` // peers named that do not hold the key
}

// ended returns the record of a query whose answer has the mark m. began is in seconds from the start of churn, 0
// without churn. latency is in milliseconds.
func (q query) ended(m judge.Mark, began, latency float64) asked {
	return asked{Query: sim.Query{At: began, Asker: int(q.Peer), Key: q.Key, Findable: m.Findable, Found: m.Found, Latency: latency}, All: q.all, Wrong: m.Wrong}
}

// sums adds up queries.
type sums struct {
	queries, answered int // answered: the queries that found a holder
	judge.Mark
	probes, wasted, messages int
}

// of sums up the queries of a kind.
func of(queries []asked, kind func(asked) bool) (s sums) {
	for _, q := range queries {
		if !kind(q) {
			continue
		}
		s.queries++
		s.answered += min(1, q.Found)
		s.Found, s.Findable, s.Wrong = s.Found+q.Found, s.Findable+q.Findable, s.Wrong+q.Wrong
		s.probes, s.wasted, s.messages = s.probes+q.Probes, s.wasted+q.Wasted, s.messages+q.Messages
	}
	return s
}

// The kinds of queries.
func anyKind(asked) bool  { return true }
func forOne(q asked) bool { return !q.All }
func forAll(q asked) bool { return q.All }

// recall returns the recall; nil where there was nothing to find.
func (s sums) recall() *float64 {
	if s.Findable == 0 {
		return nil
	}
	return pointer(float64(s.Found) / float64(s.Findable))
}

// costs returns the means over the queries; nil if there were none.
func (s sums) costs() Costs {
	if s.queries == 0 {
		return Costs{}
	}
	mean := func(count int) *float64 { return pointer(float64(count) / float64(s.queries)) }
	return Costs{ProbesPerQuery: mean(s.probes), FalseProbes: mean(s.wasted), MessagesPerQuery: mean(s.messages), HoldersPerQuery: mean(s.Found)}
}

// latency returns the time in milliseconds that a share of the queries did not exceed; 0 without queries.
func latency(queries []asked, share float64) float64 {
	all := make([]float64, len(queries))
	for i, q := range queries {
		all[i] = q.Latency
	}
	return statistics.Quantile(all, share)
}
