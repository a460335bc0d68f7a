package rank

import (
	"bytes"
	"math"
	"slices"

	"github.com/venn-p2p/venn/overlay/bound"
)

// AuditKeys is the most of our own keys that an audit asks for.
const AuditKeys = 20

// Questions are the keys that an audit asks for, in an order that does not tell own and made-up ones apart.
type Questions struct {
	Keys   [][]byte
	owned  int // number of our own keys among them
	claims func(key []byte) bool
}

// Draw draws an audit's keys: up to [AuditKeys] of our own that a peer's summary claims, mixed with at most as many
// made-up keys that it denies. A made-up key joins halves of two of our keys. The sample has our own keys in an order
// that the peer cannot foresee. has reports whether we hold a key. Without a claimed key there are no questions.
func Draw(sample [][]byte, claims func(key []byte) bool, has func(key []byte) (bool, error)) Questions {
	var claimed, denied [][]byte
	for i, k := range sample {
		if len(claimed) < AuditKeys && claims(k) {
			if has, err := has(k); has && err == nil {
				claimed = append(claimed, k)
			}
		}
		next := sample[(i+1)%len(sample)]
		if k = slices.Concat(next[:len(next)/2], k[len(k)/2:]); len(denied) < AuditKeys && !claims(k) {
			if has, err := has(k); !has && err == nil {
				denied = append(denied, k)
			}
		}
	}
	all := append(claimed, denied[:min(len(denied), len(claimed))]...)
	slices.SortFunc(all, bytes.Compare)
	return Questions{all, len(claimed), claims}
}

// Judge returns the number of our own keys that a peer holds and lacks, given its answer for each key. Each yes to a
// made-up key cancels a yes to a claimed one.
func (q Questions) Judge(holds []bool) (hits, misses int) {
	for i, k := range q.Keys {
		switch {
		case holds[i] && q.claims(k):
			hits++
		case holds[i]:
			hits--
		}
	}
	hits = max(hits, 0)
	return hits, q.owned - hits
}

// Audit compares a peer's claims with its answers. The keys asked for, 20 in a first audit, are drawn from the keys
// of our collection that the peer's summary claims. Keys are asked for, not fingerprints, because fingerprints would
// follow from a false summary. Answers to queries count as well; an audit's own answers count only if it refutes.
// Each claim is true with probability Expected at least. The caller lets old answers fade, so that a peer that holds
// its keys again is believed again.
type Audit struct {
	Asked     int     // keys that the peer was asked for
	Confirmed int     // keys that the peer confirmed
	Expected  float64 // least probability that a claim is true, in (0, 1)
}

// Refuted reports whether the outcome is too unlikely for an honest peer: it would confirm Confirmed claims or fewer
// with a probability below [bound.Unlikely], by the lower tail of the binomial distribution. A refuted peer is no
// neighbour by overlap, whatever it claims. O(Confirmed), so the caller bounds the counts.
func (a Audit) Refuted() bool {
	if a.Confirmed >= a.Asked || float64(a.Confirmed) >= a.Expected*float64(a.Asked) {
		return false
	}
	n := float64(a.Asked)
	all, _ := math.Lgamma(n + 1)
	tail := 0.0
	for k := 0.0; k <= float64(a.Confirmed); k++ {
		hit, _ := math.Lgamma(k + 1)
		miss, _ := math.Lgamma(n - k + 1)
		tail += math.Exp(all - hit - miss + float64(k*math.Log(a.Expected)) + float64((n-k)*math.Log1p(-a.Expected)))
	}
	return tail < bound.Unlikely
}
