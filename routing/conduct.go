package routing

import (
	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/venn-p2p/venn/overlay/bound"
	"github.com/venn-p2p/venn/overlay/wire"
)

// maxConducts is the number of peers whose conduct is remembered: those noted last.
const maxConducts = bound.Many

// conduct is a router's memory of a peer from earlier queries: whether it failed to answer, and the worth of its names.
type conduct struct {
	failure    failure // zero: it has answered since, or never failed
	reputation reputation
}

// conduct returns the remembered conduct of a peer.
func (r *Router) conduct(p wire.PeerID) (c conduct) {
	c, _ = r.conducts.Peek(p)
	return c
}

// note remembers the conduct of a peer.
func (r *Router) note(p wire.PeerID, c conduct) {
	r.conducts.Add(p, c)
}

// ofPeers returns a memory of maxConducts peers: those noted last stay.
func ofPeers[V any]() *simplelru.LRU[wire.PeerID, V] {
	l, _ := simplelru.NewLRU[wire.PeerID, V](maxConducts, nil) // it refuses sizes below 1 only
	return l
}
