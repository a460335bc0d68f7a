package rank

import (
	"math"

	"github.com/venn-p2p/venn/overlay/bound"
)

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
