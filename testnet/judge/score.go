package judge

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// Answer is what a query brought its asker.
type Answer struct {
	Asker int
	Key   uint32
	All   bool  // all holders were wanted; else one
	Found []int // peers named as holders
	Cost
	Latency time.Duration // until the query was done
}

// Cost is what queries cost in messages.
type Cost struct {
	Probes      int // confirmations asked
	FalseProbes int // of them, those that found nothing
	Messages    int // requests and answers, those of other peers on the query's behalf too
}

// Score sums up answers. Recall is holders found ÷ holders findable; of a query that wants one holder, one is findable.
// Its zero value is the score of no answers.
type Score struct {
	FindOne, FindAll Tally
	Wrong            int // peers named as holders that hold nothing of the kind
	Cost
	Latencies []time.Duration // of all answers, in no order
}

// Tally counts queries of one kind.
type Tally struct {
	Queries  int // asked
	Answered int // of them, those that found at least one holder
	Found    int // holders found
	Findable int // holders there were
}

// Recall is the share of the holders found; 1 where there was nothing to find.
func (t Tally) Recall() float64 {
	if t.Findable == 0 {
		return 1
	}
	return float64(t.Found) / float64(t.Findable)
}

// verdict is what naming a peer is worth.
type verdict uint8

const (
	wrong    verdict = iota // it does not hold the key
	right                   // it does
	changing                // it began or ceased to of late
)

// Add judges an answer: a holder named twice counts once, the asker itself and peers that do not hold the key never.
func (s *Score) Add(t *Truth, a Answer) {
	s.add(a, t.Findable(a.Asker, a.Key), func(p int) verdict {
		if p < 0 || p >= t.Peers() || !t.Has(p, a.Key) {
			return wrong
		}
		return right
	})
}

// Mark is what an answer is worth, of what it could be worth.
type Mark struct{ Found, Findable int }

// MarkOf marks an answer that names some of the holders that were findable. Of a query that wants one holder, one is
// findable. This is the one place where recall begins, of the simulator's queries and of those on real hosts.
func MarkOf(found, findable int, all bool) Mark {
	if !all {
		findable = min(1, findable)
	}
	return Mark{min(found, findable), findable}
}

// add judges an answer where findable holders can be found. Who wanted one holder is content with one that is changing.
func (s *Score) add(a Answer, findable int, judge func(peer int) verdict) {
	found, passing := 0, 0
	for _, p := range slices.Compact(slices.Sorted(slices.Values(a.Found))) {
		if p == a.Asker {
			continue
		}
		switch judge(p) {
		case wrong:
			s.Wrong++
		case right:
			found++
		case changing:
			passing++
		}
	}
	tally := &s.FindAll
	if !a.All {
		tally, found = &s.FindOne, found+passing
	}
	mark := MarkOf(found, findable, a.All)
	tally.Queries++
	tally.Found += mark.Found
	tally.Findable += mark.Findable
	if mark.Found > 0 {
		tally.Answered++
	}
	s.Probes += a.Probes
	s.FalseProbes += a.FalseProbes
	s.Messages += a.Messages
	s.Latencies = append(s.Latencies, a.Latency)
}

// Merge adds what o has judged to s.
func (s *Score) Merge(o *Score) {
	s.FindOne.merge(o.FindOne)
	s.FindAll.merge(o.FindAll)
	s.Wrong += o.Wrong
	s.Probes += o.Probes
	s.FalseProbes += o.FalseProbes
	s.Messages += o.Messages
	s.Latencies = append(s.Latencies, o.Latencies...)
}

func (t *Tally) merge(o Tally) {
	t.Queries += o.Queries
	t.Answered += o.Answered
	t.Found += o.Found
	t.Findable += o.Findable
}

// Queries is the number of answers judged.
func (s *Score) Queries() int { return s.FindOne.Queries + s.FindAll.Queries }

// PerQuery divides a count by the number of queries; 0 where there were none.
func (s *Score) PerQuery(count int) float64 {
	if s.Queries() == 0 {
		return 0
	}
	return float64(count) / float64(s.Queries())
}

// Latency is the smallest latency that at least the share q of the answers did not exceed; 0 without answers.
func (s *Score) Latency(q float64) time.Duration {
	return Quantile(s.Latencies, q)
}

// Quantile returns the smallest value that at least a share of all do not exceed, the zero value of none. O(n log n)
// time.
func Quantile[T cmp.Ordered](values []T, share float64) (q T) {
	if len(values) == 0 {
		return q
	}
	sorted := slices.Sorted(slices.Values(values))
	rank := int(math.Ceil(share*float64(len(sorted)))) - 1
	return sorted[min(max(rank, 0), len(sorted)-1)]
}
