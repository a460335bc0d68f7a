package tails

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/venn-p2p/venn/overlay/agenda"
	"github.com/venn-p2p/venn/overlay/bound"
	"github.com/venn-p2p/venn/overlay/wire"
)

// A peer that is not linked with an origin has one of its links feed it: that link sends it each tail of the origin as
// it comes. So each tail reaches each peer once, along a tree that nobody knows as a whole. Rumours reveal a dead
// branch, or a circle. If the feeder has not brought in time what another link claims to hold, that link feeds instead.

// lateness estimates the time from the announcement of a state until its tails come: mean and mean deviation, as for
// the retransmission timer of TCP.
type lateness struct{ mean, deviation time.Duration }

func (t *lateness) sample(d time.Duration) {
	if t.mean == 0 {
		t.mean, t.deviation = d, d/2
		return
	}
	t.deviation += ((d - t.mean).Abs() - t.deviation) / 4
	t.mean += (d - t.mean) / 8
}

func (t *lateness) patience() time.Duration {
	return min(max(t.mean+4*t.deviation, agenda.Beat), agenda.Attempt)
}

// covered reports whether an origin's tails come unasked: from the origin itself, or from a feeder.
func (m *Machine) covered(o *origin) bool { return m.link(o.peer) != nil || o.feeder != "" }

// feed makes a link feed us an origin's tails, in place of any other.
func (m *Machine) feed(o *origin, p wire.PeerID) {
	if old := m.link(o.feeder); old != nil && o.feeder != p {
		delete(old.feeds, o.tag)
		old.enqueue(o.tag, ask, m.now)
	}
	o.feeder, o.moved = p, true
	l := m.link(p)
	l.feeds[o.tag] = true
	l.enqueue(o.tag, ask, m.now)
}

// unfeed drops an origin's feeder, if it has one.
func (m *Machine) unfeed(o *origin) {
	if l := m.link(o.feeder); l != nil {
		delete(l.feeds, o.tag)
		l.enqueue(o.tag, ask, m.now)
	}
	o.feeder, o.moved = "", true
}

// uncover replaces an origin's feed that has ended: another link is to feed its tails. If no link is known to hold
// them, all links that believe that we need no word of the origin get our state of it.
func (m *Machine) uncover(o *origin) {
	m.unfeed(o)
	if p, ok := m.feederFor(o); ok {
		m.feed(o, p)
		return
	}
	m.tellState(o)
}

// tellState sends our state of an origin to all links that believe that we need no word of it.
func (m *Machine) tellState(o *origin) {
	for _, l := range m.links {
		if pos := l.known[o.tag]; pos.knows {
			l.enqueue(o.tag, ask, m.now)
		}
	}
}

// feederFor returns the best link to feed an origin's tails, of the links that hold at least our state. Links that we
// feed ourselves are left out. Links that feed us already come first while each origin has the bytes of a longest tail
// a second: a message costs more than a tail, so a few links that carry many tails each are cheaper than many. Then
// comes the link with the highest rate for each origin that it would feed, this one included.
func (m *Machine) feederFor(o *origin) (best wire.PeerID, ok bool) {
	var most offer
	for _, l := range m.links {
		pos := l.known[o.tag]
		if pos.epoch != o.epoch || pos.wants || pos.number == 0 || pos.number < o.number() || l.mistrusted(o.tag, m.now) {
			continue
		}
		_, in := m.cfg.Rate(l.peer)
		each := in / float64(len(l.feeds)+1)
		if is := (offer{len(l.feeds) > 0 && each >= wire.MaxTail, each, l.lot}); !ok || most.less(is) {
			best, most, ok = l.peer, is, true
		}
	}
	return best, ok
}

// offer says how good a link would be as the feeder of an origin: the link that passes on its tails. less compares two.
type offer struct {
	feeds bool    // it feeds us already, and its rate allows one more origin
	each  float64 // bytes a second for each origin
	lot   uint32  // random number that decides between equals; each peer has its own
}

func (a offer) less(b offer) bool {
	if a.feeds != b.feeds {
		return b.feeds
	}
	return cmp.Or(cmp.Compare(a.each, b.each), cmp.Compare(a.lot, b.lot)) < 0
}

// laterClaim records that links claim to hold a later state of an origin than we do.
type laterClaim struct {
	state uint32        // number of the latest state that rival claims to hold, beyond ours
	rival wire.PeerID   // the link that claims to hold it
	since time.Duration // when a link first claimed to hold more than we do
	asked time.Duration // when the feeder was last given time to bring it
	again bool          // the feeder was asked again since then
}

// ahead notes that a link holds a later state of an origin than we do. If the origin is linked, it will send its tails
// itself.
func (m *Machine) ahead(o *origin, p wire.PeerID, number uint32) {
	if m.link(o.peer) != nil || m.link(p).mistrusted(o.tag, m.now) {
		return
	}
	g := m.lagging[o.tag]
	if g == nil {
		if m.lagging == nil {
			m.lagging = map[uint64]*laterClaim{}
		}
		g = &laterClaim{since: m.now, asked: m.now}
		m.lagging[o.tag] = g
	}
	if number > g.state || m.link(g.rival) == nil {
		g.state, g.rival = number, p
	}
	if m.covered(o) {
		return
	}
	if best, ok := m.feederFor(o); ok {
		p = best
	}
	m.feed(o, p)
}

// caughtUp samples the time that announced tails took to come. It counts from the first announcement or, if the feeder
// brought them, from the time at which the feeder was last given time. Waits for earlier feeders do not count.
func (m *Machine) caughtUp(o *origin, from wire.PeerID) {
	g := m.lagging[o.tag]
	if g == nil || o.number() < g.state {
		return
	}
	since := g.since
	if from == o.feeder {
		since = g.asked
	}
	m.late.sample(m.now - since)
	delete(m.lagging, o.tag)
}

// hurry looks for feeders that are too late. A link that claims to hold more is to feed instead. If it does not bring
// the tails either, it is not believed for a while.
func (m *Machine) hurry() {
	if len(m.lagging) == 0 {
		return
	}
	for _, tag := range slices.Sorted(maps.Keys(m.lagging)) {
		o, g := m.tagged(tag), m.lagging[tag]
		if m.now < g.asked+m.late.patience() {
			m.repeat(o, g)
			continue
		}
		g.asked, g.again = m.now, false
		switch rival := m.link(g.rival); {
		case rival == nil || m.link(o.peer) != nil:
			delete(m.lagging, tag)
		case o.feeder != g.rival:
			m.feed(o, g.rival)
		default:
			rival.fail(tag, m.now, m.cfg.Limits.Disbelief)
			delete(m.lagging, tag)
			m.uncover(o)
		}
	}
}

// repeat asks a feeder a second time when half of its time is over: the first message may have been lost.
func (m *Machine) repeat(o *origin, g *laterClaim) {
	if l := m.link(o.feeder); l != nil && !g.again && m.now >= g.asked+m.late.patience()/2 {
		g.again = true
		l.enqueue(o.tag, ask, m.now)
	}
}

// relay returns the time that a tail waits for others that go to the same link.
func (m *Machine) relay(p wire.PeerID) time.Duration { return max(agenda.Tick, m.fill(p)) }

// fill returns the time in which a link's share for headers pays for one message, at most a second.
func (m *Machine) fill(p wire.PeerID) time.Duration {
	out, _ := m.cfg.Rate(p)
	return min(time.Duration(overheadBytes/(bound.Headers*max(1, out))*float64(time.Second)), time.Second)
}
