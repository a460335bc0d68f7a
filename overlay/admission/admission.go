package admission

import "time"

// Principal is who causes work.
type Principal struct {
	Peer   string
	Group  string // what its addresses have in common with those of peers that may be the same party's; "": nothing
	Linked bool   // it has a link with this peer
}

// group returns the key under which the principal shares with others: its own id where its addresses say nothing.
func (p Principal) group() string {
	if p.Group == "" {
		return "peer " + p.Peer
	}
	return p.Group
}

// Config has the parameters of a [Gate]. Each is the work that a pool may do, in seconds a second, above 0.
type Config struct {
	Links     float64 // for linked peers
	Strangers float64 // for all others
}

// Gate admits work. It is not safe for concurrent use.
type Gate struct{ links, strangers *pool }

// New returns a gate that nobody has asked.
func New(c Config) *Gate {
	return &Gate{
		links:     newPool(c.Links, maxGroups, func() *pool { return newPool(0, maxPeers, nil) }),
		strangers: newPool(c.Strangers, maxGroups, func() *pool { return newPool(0, maxPeers, nil) }),
	}
}

// Admit reports whether work may be done for a principal now. What is admitted counts against its share. The time must
// not go back.
func (g *Gate) Admit(now time.Duration, p Principal, work time.Duration) bool {
	pool := g.strangers
	if p.Linked {
		pool = g.links
	}
	return pool.admit(now, p, work.Seconds())
}

// admit is Admit for one pool.
func (p *pool) admit(now time.Duration, who Principal, work float64) bool {
	group := p.user(now, who.group(), work)
	peer := group.peers.user(now, who.Peer, work)
	group.fill(now, p.level)
	group.peers.spread(now, p.level)
	peer.fill(now, group.peers.level)
	if !group.may(work, p.level) || !peer.may(work, group.peers.level) {
		return false
	}
	group.credit -= work
	peer.credit -= work
	return true
}
