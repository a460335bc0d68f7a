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
	return g.Ask(now, p, work) == 0
}

// Ask does what Admit does. It returns 0 if the work may be done, else the time after which to ask again: when the
// principal has the credit if shares stay, but about [window] at most, for they may change.
func (g *Gate) Ask(now time.Duration, p Principal, work time.Duration) (wait time.Duration) {
	lacks := g.of(p).work.admit(now, p, work.Seconds(), false)
	if lacks == 0 {
		return 0
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

// admit counts work for a principal if the principal has the credit, and returns 0. Else it returns the seconds until
// the credit is enough. If was is set, the work was done already, and admit counts it in any case.
func (p *pool) admit(now time.Duration, who Principal, work float64, was bool) (lacks float64) {
	group := p.user(now, who.group(), work)
	group.peers.spread(now, p.level*known)
	peer := group.peers.user(now, who.Peer, work)
	lacks = max(group.lacks(work, p.level), peer.lacks(work, group.peers.level))
	if lacks > 0 && !was {
		return lacks
	}
	p.charge(who.group(), group, work)
	group.peers.charge(who.Peer, peer, work)
	return 0
}
