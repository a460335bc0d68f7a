// Package rank chooses neighbours: small pure rules over estimates, without state.
//
// Which policy is for what (8 slots on the collections of 121 Debian machines; `venn experiment run neighbours`):
//
//   - [Similar], the peers that hold most of what I hold: for peers that will want what similar peers have already. An
//     example is the next package of a machine in the same role. The experiment withholds keys that 2 to 10 peers hold
//     from one's own collection: similar neighbours hold several times as many of them as random ones. Of all the keys
//     that one lacks they hold few.
//   - [Near], the shortest round trips: for speed when everybody has the same.
//   - [Random]: keeps the network in one piece, and no attacker can place himself there. Always some.
//   - Some of each is the default ([SimilarSlots], [NearSlots], [RandomSlots]): at most half by overlap.
//
// The experiment also measures the choice of peers that hold most of what we lack. It prefers large collections: their
// peers then carry the load, and a large collection is easy to claim.
//
// Estimates are uncertain, so a neighbour gives way to another only when their intervals separate ([Swap]): the
// challenger's low bound is above the incumbent's high bound. With intervals at 95 %, two peers of equal worth do not
// replace each other for ever. A claim is only worth what confirmations of it show ([Audit]).
//
// All rules cost one pass over the candidates. Each candidate that is among the best so far costs one pass over the
// slots.
package rank

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/venn-p2p/venn/overlay/bound"
	"github.com/venn-p2p/venn/summary/estimate"
)

// Numbers of neighbours by each policy, in the overlay's default configuration.
const (
	SimilarSlots = bound.Handful
	NearSlots    = 1
	RandomSlots  = 3
)

// Candidate is a peer that could be a neighbour.
type Candidate struct {
	Index   int               // the caller's number of the peer
	Overlap estimate.Interval // part of our collection that the peer holds
	Known   bool              // Overlap is set
	RTT     time.Duration     // 0: not measured
}

// Similar returns the n candidates that hold the most of our collection, best first. It leaves out candidates without
// an estimate.
func Similar(cands []Candidate, n int) []Candidate {
	return first(cands, n, func(c Candidate) bool { return c.Known }, func(a, b Candidate) int {
		return cmp.Or(cmp.Compare(b.Overlap.Value, a.Overlap.Value), cmp.Compare(a.Index, b.Index))
	})
}

// first returns the first n candidates by order, of those for which counts is true. Slots are few and candidates
// many, so each candidate is inserted among the first n so far, or dropped.
func first(cands []Candidate, n int, counts func(Candidate) bool, order func(a, b Candidate) int) []Candidate {
	out := make([]Candidate, 0, min(n, len(cands)))
	for _, c := range cands {
		if !counts(c) || len(out) == n && (n == 0 || order(c, out[n-1]) >= 0) {
			continue
		}
		if len(out) == n {
			out = out[:n-1]
		}
		at := len(out)
		for at > 0 && order(c, out[at-1]) < 0 {
			at--
		}
		out = slices.Insert(out, at, c)
	}
	return out
}

// Near returns the n candidates with the shortest round trips, nearest first. It leaves out candidates without a
// measurement.
func Near(cands []Candidate, n int) []Candidate {
	return first(cands, n, func(c Candidate) bool { return c.RTT != 0 }, func(a, b Candidate) int {
		return cmp.Or(cmp.Compare(a.RTT, b.RTT), cmp.Compare(a.Index, b.Index))
	})
}

// Random returns n candidates drawn without replacement, or all in random order if there are fewer.
func Random(cands []Candidate, n int, rng *rand.Rand) []Candidate {
	drawn := slices.Clone(cands)
	rng.Shuffle(len(drawn), func(i, j int) { drawn[i], drawn[j] = drawn[j], drawn[i] })
	return drawn[:min(n, len(drawn))]
}

// Swap returns the incumbent with the lowest high bound, and the challenger with the highest low bound. ok reports
// whether the challenger is better beyond doubt: its low bound is above the incumbent's high bound.
func Swap(incumbents, challengers []Candidate) (out, in Candidate, ok bool) {
	if len(incumbents) == 0 {
		return out, in, false
	}
	out = slices.MinFunc(incumbents, func(a, b Candidate) int {
		return cmp.Or(cmp.Compare(a.Overlap.High, b.Overlap.High), cmp.Compare(a.Index, b.Index))
	})
	for _, c := range challengers {
		if c.Known && c.Overlap.Low > out.Overlap.High && (!ok || c.Overlap.Low > in.Overlap.Low) {
			in, ok = c, true
		}
	}
	return out, in, ok
}
