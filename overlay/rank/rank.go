// Package rank chooses neighbours: small pure rules over estimates, without state.
//
// A rule sees candidates with what is known of them and says which to take. Estimates are uncertain, so a neighbour is only given up for another when their
// intervals separate: the challenger's low bound above the incumbent's high bound. With intervals at 95 % that
// keeps two peers of equal worth from replacing each other for ever.
//
// All rules cost one pass over the candidates, or one sort.
package rank

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/venn-p2p/venn/summary/estimate"
)

// Candidate is a peer that could be a neighbour.
type Candidate struct {
	Index int               // the caller's name for it
	Share estimate.Interval // share of the own collection that it holds
	Known bool              // Share is an estimate
	RTT   time.Duration     // 0: not measured
}

// bySimilarity orders by estimated share, greatest first; equal ones by index.
func bySimilarity(a, b Candidate) int {
	return cmp.Or(cmp.Compare(b.Share.Value, a.Share.Value), cmp.Compare(a.Index, b.Index))
}

// Similar returns the n candidates that hold the most of the own collection, best first. Candidates without an estimate are not taken.
func Similar(cands []Candidate, n int) []Candidate {
	known := slices.DeleteFunc(slices.Clone(cands), func(c Candidate) bool { return !c.Known })
	slices.SortFunc(known, bySimilarity)
	return known[:min(n, len(known))]
}

// Near returns the n candidates with the shortest round trips, nearest first. Candidates without a measurement are not taken.
func Near(cands []Candidate, n int) []Candidate {
	known := slices.DeleteFunc(slices.Clone(cands), func(c Candidate) bool { return c.RTT == 0 })
	slices.SortFunc(known, func(a, b Candidate) int {
		return cmp.Or(cmp.Compare(a.RTT, b.RTT), cmp.Compare(a.Index, b.Index))
	})
	return known[:min(n, len(known))]
}

// Random returns n candidates drawn without replacement.
func Random(cands []Candidate, n int, rng *rand.Rand) []Candidate {
	drawn := slices.Clone(cands)
	rng.Shuffle(len(drawn), func(i, j int) { drawn[i], drawn[j] = drawn[j], drawn[i] })
	return drawn[:min(n, len(drawn))]
}

// Swap returns the weakest incumbent and the strongest challenger when the challenger is better beyond doubt: its low
// bound above the incumbent's high bound.
func Swap(incumbents, challengers []Candidate) (out, in Candidate, ok bool) {
	if len(incumbents) == 0 {
		return out, in, false
	}
	out = slices.MinFunc(incumbents, func(a, b Candidate) int {
		return cmp.Or(cmp.Compare(a.Share.High, b.Share.High), cmp.Compare(a.Index, b.Index))
	})
	for _, c := range challengers {
		if c.Known && c.Share.Low > out.Share.High && (!ok || c.Share.Low > in.Share.Low) {
			in, ok = c, true
		}
	}
	return out, in, ok
}
