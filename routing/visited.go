package routing

import (
	"slices"

	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/routing/match"
)

// Mark returns the 4-byte mark of a peer in the list of peers that have had the query of this nonce. Two peers share a
// mark with probability 2^-32; one of them is then not asked.
func Mark(nonce uint64, p wire.PeerID) uint32 { return uint32(match.Tie(nonce, string(p)) >> 32) }

// hadBefore reports whether a peer had the query before this node, by the word of its senders.
func (q *search) hadBefore(p wire.PeerID) bool {
	return len(q.visited) > 0 && slices.Contains(q.visited, Mark(q.nonce, p))
}

// visitedBy returns the marks that go with a query to these children: the marks that it came with, this node, the peers
// asked here that may have answered, and the children. A peer that failed is left out, because others may reach it.
func (r *Router) visitedBy(q *search, children []wire.PeerID) []uint32 {
	out := append(slices.Clone(q.visited), Mark(q.nonce, r.cfg.Self))
	add := func(p wire.PeerID) {
		if m := Mark(q.nonce, p); !slices.Contains(out, m) {
			out = append(out, m)
		}
	}
	for _, c := range q.candidates {
		if c.state == asking || c.state == lacking || c.state == answered {
			add(c.record.Peer)
		}
	}
	for _, v := range q.referrers {
		if v.child {
			add(v.peer)
		}
	}
	for _, p := range children {
		add(p)
	}
	return r.latest(out)
}

// latest returns the last marks, as many as may travel.
func (r *Router) latest(marks []uint32) []uint32 {
	return slices.Clone(marks[max(0, len(marks)-max(0, r.cfg.Limits.Visited)):])
}
