package routing

import (
	"github.com/venn-p2p/venn/overlay"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/routing/match"
)

// Claim is the match of one peer's summary with a key.
type Claim struct {
	Record wire.Record
	Likely float64 // probability that the match is true, by the summary alone
	Trust  float64 // factor of Likely by the peer's record, in (0, 1]
}

// Claims returns the matches of a key in the directory, of trusted peers, in a fixed order. They serve to choose among
// peers for many keys at once (package cover). Summaries that tell too little are left out.
func (r *Router) Claims(key []byte) (out []Claim) {
	prior := r.prior.Share()
	for _, v := range r.view.Candidates(key, r.cfg.Fingerprint(key)) {
		trust := r.trust(v)
		if v.Peer == r.cfg.Self || trust < match.MinTrust || v.Rate > overlay.VagueRate {
			continue
		}
		v.Record.Peer = v.Peer
		out = append(out, Claim{Record: v.Record, Likely: match.Posterior(prior, v.Rate), Trust: trust})
	}
	return out
}
