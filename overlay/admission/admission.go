package admission

import "time"

// Principal is a party that causes work, such as a peer.
type Principal struct {
	Peer   string
	Group  string // address group that may belong to one party; "": none
	Linked bool   // the peer has a link with this peer
}

// group returns the name of the group in which the principal shares: its address group, or else one of its own.
func (p Principal) group() string {
	if p.Group == "" {
		return "peer " + p.Peer
	}
	return p.Group
}

// Pool is the total capacity for all linked peers, or for all strangers.
type Pool struct {
	Work  float64 // seconds of work a second, above 0
	Slots int     // most places that may be taken at a time
}

// Config has the parameters of a [Gate].
type Config struct {
	Links     Pool // capacity for linked peers
	Strangers Pool // capacity for all other peers
}

// Gate admits work, and gives places. Only the methods for places are safe for concurrent use.
type Gate struct{ links, strangers standing }

// standing holds the pools that linked peers share, or that strangers share.
type standing struct {
	work  *pool
	slots *Slots
}

// New returns a gate that has admitted nothing yet.
func New(c Config) *Gate { return &Gate{newStanding(c.Links), newStanding(c.Strangers)} }

func newStanding(p Pool) standing {
	return standing{newPool(p.Work, maxGroups, func() *pool { return newPool(0, maxPeers, nil) }), NewSlots(p.Slots)}
}

func (g *Gate) of(p Principal) standing {
	if p.Linked {
		return g.links
	}
	return g.strangers
}

// Admit reports whether work may be done for a principal now. Admitted work counts against the principal's share. now
// must not go back.
func (g *Gate) Admit(now time.Duration, p Principal, work time.Duration) bool {
	return g.of(p).work.admit(now, p, work.Seconds(), false)
}

// Wait returns the time after which to ask for refused work again: when the principal has the credit if shares stay, but
// about [window] at most, for they may change.
func (g *Gate) Wait(p Principal, work time.Duration) time.Duration {
	pool := g.of(p).work
	group := pool.account(p.group())
	if group == nil {
		return 0
	}
	lacks := group.lacks(work.Seconds(), pool.level)
	if peer := group.peers.account(p.Peer); peer != nil {
		lacks = max(lacks, peer.lacks(work.Seconds(), group.peers.level))
	}
	return time.Duration(min(window.Seconds(), lacks)*float64(time.Second)) + time.Millisecond
}

// Charge counts work that was done for a principal against its share. It is for work whose amount nobody can know
// before. Work below 0 was paid before, and is given back. now must not go back.
func (g *Gate) Charge(now time.Duration, p Principal, work time.Duration) {
	g.of(p).work.admit(now, p, work.Seconds(), true)
}

// Take takes a place for a principal as [Slots.Take] does, from the places of its standing.
func (g *Gate) Take(who Principal, evict func()) *Slot { return g.of(who).slots.Take(who, evict) }

// Held returns the number of places taken.
func (g *Gate) Held() int { return g.links.slots.Held() + g.strangers.slots.Held() }

// admit reports whether work may be done for a principal, and counts the work if so. If was is set, the work was done
// already, and admit counts it in any case.
func (p *pool) admit(now time.Duration, who Principal, work float64, was bool) bool {
	group := p.user(now, who.group(), work)
	peer := group.peers.user(now, who.Peer, work)
	group.fill(now, p.level)
	group.peers.spread(now, p.level)
	peer.fill(now, group.peers.level)
	if !was && (group.lacks(work, p.level) > 0 || peer.lacks(work, group.peers.level) > 0) {
		return false
	}
	group.credit -= work
	peer.credit -= work
	p.keep(who.group(), group)
	group.peers.keep(who.Peer, peer)
	return true
}
