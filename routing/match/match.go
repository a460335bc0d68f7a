// Package match computes the probability that a candidate holds a key, and the order in which candidates are asked. It
// is pure: values in, values out, no state but [Prior].
//
// The rule. A summary of false-positive rate f matches every key that its origin holds and a share f of the others.
// With π the share of peers that hold a wanted key, a match is true with probability π/(π+(1-π)f) ([Posterior]). This
// is Bayes, as in Papapetrou, Siberski and Nejdl 2010, section 6, where summaries choose the peers that a query goes
// to. Reputation multiplies it ([Trust]). When candidates are asked in turn until one has the key, the order of falling
// probability per cost ends soonest on average ([Rank]). Swapping two neighbours of that order can only lengthen the
// wait.
//
// Ranking n candidates costs O(n log n) and no allocation.
package match

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/venn-p2p/venn/overlay/bound"
)

// A round trip that was not measured counts as unknownRTT. With half of it p50 is 3 ms longer, with twice the same. With
// twice askCost all figures are the same (scenario routing, 100 peers).
const (
	// MinTrust is the trust under which a peer is passed over: six misses that count, in a row, bring a peer there.
	MinTrust = 0.15

	unknownRTT = 100 * time.Millisecond // round trip assumed for a peer without a measurement
	dialRTTs   = 3                      // round trips to connect, to secure the connection, and to ask
	askCost    = 50 * time.Millisecond  // cost of a question besides its time
)

// Posterior returns the probability that a match is true. prior is the share of peers that hold a random wanted key,
// and rate the false-positive rate of the prefix that matched, both in [0, 1]. At rate 1 a match tells nothing and the
// prior is left.
func Posterior(prior, rate float64) float64 {
	if prior <= 0 {
		return 0
	}
	return prior / (prior + float64((1-prior)*rate))
}

// Sized returns the share of peers that hold a wanted key, among peers with n keys. prior is the share of all peers,
// which have mean keys on average. The result is at most a half.
func Sized(prior float64, n int, mean float64) float64 {
	if mean <= 0 {
		return prior
	}
	return min(prior*float64(n)/mean, EvenOdds)
}

// Trust returns the factor, in (0, 1], by which a peer's record lowers belief in its claims. It is the mean of a Beta
// distribution over the share of its sure matches that proved true, relative to the mean for a peer without a record.
func Trust(hits, misses int) float64 {
	h, m := float64(max(hits, 0)), float64(max(misses, 0))
	return (h + 1) / (h + m + 1)
}

// Cost returns the cost of asking a peer, in seconds: a constant for the messages, and the round trip, tripled when a
// connection must be made first. An rtt of 0 is unknown and counts as 100 ms. The constant counts once more for every
// question to the peer that waits for its answer.
func Cost(rtt time.Duration, connected bool, load int) float64 {
	if rtt <= 0 {
		rtt = unknownRTT
	}
	if !connected {
		rtt *= dialRTTs
	}
	return (time.Duration(1+load)*askCost + rtt).Seconds()
}

// Entry is a candidate to be ranked.
type Entry struct {
	Index       int     // the caller's name for it
	Probability float64 // probability that it holds the key
	Cost        float64 // cost of asking, in seconds; positive
	Last        int     // entries of a higher number come after all others, whatever their value
	Tie         uint64  // decides between equals; differs by peer and key, to spread the load
}

// Value returns the probability per cost, by which [Rank] sorts.
func (e Entry) Value() float64 { return e.Probability / e.Cost }

// Rank sorts candidates into the order in which to ask: rising Last, then falling value, then rising tie, then index.
func Rank(entries []Entry) {
	slices.SortFunc(entries, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(a.Last, b.Last), cmp.Compare(b.Value(), a.Value()),
			cmp.Compare(a.Tie, b.Tie), cmp.Compare(a.Index, b.Index))
	})
}

// Cut returns the number of candidates to name to an asker: at most limit, with no more than allowance false matches.
// rates are the false-positive rates of their prefixes, in the order of ranking.
func Cut(rates []float64, allowance float64, limit int) int {
	sum := 0.0
	for i, f := range rates {
		sum += f
		if i >= limit || sum > allowance {
			return i
		}
	}
	return len(rates)
}

// Tie mixes a key's fingerprint and a peer's name into the tie of an [Entry]. It is rendezvous hashing: every key has
// its own order of the peers. FNV-1a, finished by a multiplication.
func Tie(fingerprint uint64, peer string) uint64 {
	h := uint64(14695981039346656037) ^ fingerprint
	for i := range len(peer) {
		h = (h ^ uint64(peer[i])) * 1099511628211
	}
	h ^= h >> 32
	h *= 0x9e3779b97f4a7c15
	return h ^ h>>29
}

// Prior estimates the share of peers that hold a wanted key from the answers to confirmations. By [Posterior], the
// log-odds of a hit are logit(π) - ln f. That is a logistic regression with one unknown and a known offset, and Learn
// makes one step of gradient ascent. The zero value is not usable; see [NewPrior].
type Prior struct{ logit float64 }

const (
	learningRate = 0.05           // step of the gradient ascent
	minPrior     = bound.Unlikely // least estimated share

	// EvenOdds caps the estimated share of peers that hold a wanted key. It is also the probability below which a poor
	// directory's match is not trusted.
	EvenOdds = bound.Half
)

// NewPrior returns an estimate that starts at share, clamped to [minPrior, EvenOdds].
func NewPrior(share float64) Prior { return Prior{logit(min(max(share, minPrior), EvenOdds))} }

func logit(share float64) float64 { return math.Log(share / (1 - share)) }

// Share returns the estimate, in [minPrior, EvenOdds].
func (p *Prior) Share() float64 { return 1 / (1 + math.Exp(-p.logit)) }

// Learn updates the estimate by a match of the given rate that proved true or false.
func (p *Prior) Learn(rate float64, has bool) {
	expected := Posterior(p.Share(), rate)
	if has {
		p.logit += float64(learningRate * (1 - expected))
	} else {
		p.logit -= float64(learningRate * expected)
	}
	p.logit = min(max(p.logit, logit(minPrior)), logit(EvenOdds))
}
