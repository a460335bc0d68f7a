package admission

import "time"

// Principal is a party that causes work.
type Principal struct {
	Peer   string
	Group  string // address group that may be one party's; "": none
	Linked bool   // it has a link with this peer
}

// group returns the key under which the principal shares with others: its own id if it has no address group.
func (p Principal) group() string {
	if p.Group == "" {
		return "peer " + p.Peer
	}
	return p.Group
}

// Pool is the total that linked peers, or strangers, may use.
type Pool struct {
	Work  float64 // work, in seconds a second, above 0
	Slots int     // places at a time
}

// Config has the parameters of a [Gate].
type Config struct {
	Links     Pool // for linked peers
	Strangers Pool // for all others
}

// Gate admits work, and gives places. Only the places are safe for concurrent use.
type Gate struct{ links, strangers standing }

// standing holds the shared pools of linked peers, or of strangers.
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

// Admit reports whether work may be done for a principal now. Admitted work counts against its share. The time must not
// go back.
func (g *Gate) Admit(now time.Duration, p Principal, work time.Duration) bool {
	return g.of(p).work.admit(now, p, work.Seconds(), false)
}

// Charge counts work that was done for a principal against its share. It is for work whose amount nobody can know
// before. The time must not go back.
func (g *Gate) Charge(now time.Duration, p Principal, work time.Duration) {
	g.of(p).work.admit(now, p, work.Seconds(), true)
}

// Take is [Slots.Take] of the places for a principal's standing.
func (g *Gate) Take(who Principal, evict func()) *Slot { return g.of(who).slots.Take(who, evict) }

// Held returns the number of places taken.
func (g *Gate) Held() int { return g.links.slots.Held() + g.strangers.slots.Held() }

// admit reports whether work may be done for a principal, and counts it if so, or if it was done already.
func (p *pool) admit(now time.Duration, who Principal, work float64, was bool) bool {
	group := p.user(now, who.group(), work)
	peer := group.peers.user(now, who.Peer, work)
	group.fill(now, p.level)
	group.peers.spread(now, p.level)
	peer.fill(now, group.peers.level)
	if !was && (!group.may(work, p.level) || !peer.may(work, group.peers.level)) {
		return false
	}
	group.credit -= work
	peer.credit -= work
	return true
}
