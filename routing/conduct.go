package routing

import (
	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/venn-p2p/venn/overlay/wire"
)

// maxConducts is how many peers' conduct is remembered: that of those noted last.
const maxConducts = 1024

// conduct is what a router remembers of a peer from earlier queries: whether it failed to answer, and what its names were
// worth.
type conduct struct {
	failure    failure // zero: it has answered since, or never failed
	reputation reputation
}

// conduct returns what is remembered of a peer.
func (r *Router) conduct(p wire.PeerID) (c conduct) {
	if r.conducts != nil {
		c, _ = r.conducts.Peek(p)
	}
	return c
}

// note remembers the conduct of a peer.
func (r *Router) note(p wire.PeerID, c conduct) {
	if r.conducts == nil {
		r.conducts, _ = simplelru.NewLRU[wire.PeerID, conduct](maxConducts, nil) // it refuses sizes below 1 only
	}
	r.conducts.Add(p, c)
}

// hears reports whether there is a place for what is only said of a peer. It takes the place of no other.
func (r *Router) hears(p wire.PeerID) bool {
	return r.conducts == nil || r.conducts.Len() < maxConducts || r.conducts.Contains(p)
}
