package admission

import "time"

// Principal is a party that causes work, such as a peer.
type Principal struct {
	Peer   string
	Group  string // networks that may each belong to one party, the widest first, separated by slashes; "": none
	Linked bool   // the peer has a link with this peer
}

// Gate admits work, and gives places. Only the methods for places are safe for concurrent use.
type Gate struct{ links, strangers standing }

// standing holds the shares of linked peers, or of strangers. The work has two halves: see [Principal.ways].
type standing struct {
	work  [ways]*pool
	slots *Slots
}

// New returns a gate that has admitted nothing yet. Others may cause the given work, above 0, in seconds a second: links
// two thirds, strangers a third, and each of the two what the other leaves. Each has the given number of places.
func New(work float64, slots int) *Gate {
	g := &Gate{newStanding(work*2/3, slots), newStanding(work/3, slots)}
	for i := range ways {
		g.links.work[i].lender, g.strangers.work[i].lender = g.strangers.work[i], g.links.work[i]
	}
	return g
}

func newStanding(work float64, slots int) standing {
	return standing{[ways]*pool{newPool(work/ways, maxUsers), newPool(work/ways, maxUsers)}, NewSlots(slots)}
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
	least := window.Seconds()
	for i, path := range p.ways() {
		lacks := g.of(p).work[i].admit(now, path, work.Seconds(), 0, false)
		if lacks == 0 {
			return 0
		}
		least = min(least, lacks)
	}
	return time.Duration(least*float64(time.Second)) + time.Millisecond
}

// Charge counts work that was done for a principal against its share, half of it in each half. It is for work whose
// amount nobody can know before. Work below 0 was paid before, and is given back. now must not go back.
func (g *Gate) Charge(now time.Duration, p Principal, work time.Duration) {
	ways := p.ways()
	for i, path := range ways {
		g.of(p).work[i].admit(now, path, work.Seconds()/float64(len(ways)), 0, true)
	}
}

// Take takes a place for a principal: see [Slots.Take].
func (g *Gate) Take(p Principal, evict func()) *Slot { return g.of(p).slots.Take(p, evict) }

// Held returns the number of places taken.
func (g *Gate) Held() int { return g.links.slots.Held() + g.strangers.slots.Held() }

// admit counts work for the user of a path if all on the path have the credit, and returns 0. Else it returns the
// seconds until the credit is enough. lacks is what those before on the path lack. If was is set, the work was done
// already, and admit counts it in any case.
func (p *pool) admit(now time.Duration, path []string, work, lacks float64, was bool) float64 {
	u := p.user(now, path[0], work)
	lacks = max(lacks, u.lacks(work, p.level))
	if len(path) > 1 {
		lacks = u.share(now, p.level).admit(now, path[1:], work, lacks, was)
	}
	if lacks == 0 || was {
		p.charge(path[0], u, work)
	}
	return lacks
}
