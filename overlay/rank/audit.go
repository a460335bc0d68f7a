package rank

import "math"

// Doubt is how improbable for an honest peer an audit's outcome must be to refute its claims. Six of six keys not held
// are, of claims that are true with probability 0.9.
const Doubt = 1.000001e-6

// Audit is a check of what a peer's summary claims against what the peer confirms. The asked keys are drawn from the
// whole of the own collection among those that the summary claims, 20 for a first audit. They are not fingerprints:
// those the peer would have from its own false claim. Answers to queries count as well. Each claim is true with
// probability Expected, at least. The counts are of late: the caller lets earlier answers count less, so that a peer
// that holds its keys again is believed again.
type Audit struct {
	Asked     int
	Confirmed int
	Expected  float64 // in (0, 1)
}

// Refuted reports that an honest peer would confirm no more than this with a probability below [Doubt]: the lower tail
// of the binomial distribution. A peer is no neighbour by overlap while it is refuted, whatever it claims.
// O(Confirmed), so the caller bounds the counts.
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
	return tail < Doubt
}
