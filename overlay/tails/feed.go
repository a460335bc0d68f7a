package tails

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/venn-p2p/venn/overlay/wire"
)

// A peer that is not linked with an origin has one of its links feed it. That link sends it each tail of the origin as
// it comes. So each tail reaches each peer once, along a tree that nobody knows as a whole. Rumours show that a branch
// is dead, or a circle. If the feeder has not brought in time what a link says it holds, that link feeds instead.

const (
	// relayAfter is how long a tail of another waits for more that go to the same link.
	relayAfter = 400 * time.Millisecond
	// relayShare is the part of a link's rate that may go to the messages around tails.
	relayShare = 0.01
	// A feeder may be late by leastPatience, or by what others have been of late, at most mostPatience.
	leastPatience = time.Second
	mostPatience  = 8 * time.Second
)

// lateness is how long it has taken from a rumour to the tails: mean and mean deviation, as for the retransmission
// timer of TCP.
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
	return min(max(t.mean+4*t.deviation, leastPatience), mostPatience)
}

// covered says whether an origin's tails come without being asked for.
func (m *Machine) covered(o *origin) bool { return m.links[o.peer] != nil || o.feeder != "" }

// feed has a link feed us an origin's tails, in place of any other.
func (m *Machine) feed(o *origin, p wire.PeerID) {
	if old := m.links[o.feeder]; old != nil && o.feeder != p {
		delete(old.feeds, o.tag)
		old.enqueue(o.tag, ask, m.now)
	}
	o.mutable().feeder, o.moved = p, true
	o.stir(^uint64(0))
	l := m.links[p]
	l.feeds.add(o.tag)
	l.enqueue(o.tag, ask, m.now)
}

// unfeed lets go of an origin's feeder, if any.
func (m *Machine) unfeed(o *origin) {
	if l := m.links[o.feeder]; l != nil {
		delete(l.feeds, o.tag)
		l.enqueue(o.tag, ask, m.now)
	}
	o.stir(^uint64(0))
	o.leaveFeeder()
	o.mutable().moved = true
}

// leaveFeeder notes that nobody feeds us an origin.
func (o *origin) leaveFeeder() {
	if o.feeder != "" {
		o.feeder = ""
	}
}

// uncover takes in that the tails of an origin come no longer. Another link is to feed them. If none is known to hold
// them, all links that think that we need no word learn otherwise.
func (m *Machine) uncover(o *origin) {
	m.unfeed(o)
	if p, ok := m.feederFor(o); ok {
		m.feed(o, p)
		return
	}
	m.admit(o)
}

// admit tells all links that think that we need no word of an origin, or need it less, how it is now.
func (m *Machine) admit(o *origin) {
	for _, l := range m.links {
		if pos := l.at(o.tag); pos.knows {
			l.enqueue(o.tag, ask, m.now)
		}
	}
}

// feederFor is the link that is best to feed an origin's tails, of those that hold as many as we. Those that we feed
// ourselves cannot. Of the others, those that feed us already come first while their rate bears it: a message costs
// more than a tail, so a few links that carry many tails each are cheaper than many. Then that one comes first whose
// rate for each origin is highest, this one included.
func (m *Machine) feederFor(o *origin) (best wire.PeerID, ok bool) {
	var most offer
	for _, p := range m.order {
		l := m.links[p]
		pos := l.at(o.tag)
		if pos.epoch != o.epoch || pos.wants || pos.number == 0 || pos.number < o.number() || l.mistrusted(o.tag, m.now) {
			continue
		}
		_, in := m.cfg.Rate(p)
		each := in / float64(len(l.feeds)+1)
		if is := (offer{len(l.feeds) > 0 && each >= feedRate, each, l.lot}); !ok || most.less(is) {
			best, most, ok = p, is, true
		}
	}
	return best, ok
}

// feedRate is how many bytes a second, for each origin that it feeds, make a link one that bears more.
const feedRate = 1 << 10

// offer is what a link would be as a feeder.
type offer struct {
	feeds bool    // it is one already, and bears more
	each  float64 // bytes a second for each origin
	lot   uint32  // between equals: another at each peer
}

func (a offer) less(b offer) bool {
	if a.feeds != b.feeds {
		return b.feeds
	}
	return cmp.Or(cmp.Compare(a.each, b.each), cmp.Compare(a.lot, b.lot)) < 0
}

// ahead takes in that a link holds a later state of an origin than we. If the origin is linked, it will send that
// itself.
func (m *Machine) ahead(o *origin, p wire.PeerID, number uint32) {
	if m.links[o.peer] != nil || m.links[p].mistrusted(o.tag, m.now) {
		return
	}
	if o.behind == 0 {
		p := o.mutable()
		p.lags, p.asked, p.again = m.now, m.now, false
		m.lagging.add(o.tag)
	}
	if number > o.behind || m.links[o.rival] == nil {
		state := o.mutable()
		state.behind, state.rival = number, p
	}
	if m.covered(o) {
		return
	}
	if best, ok := m.feederFor(o); ok {
		p = best
	}
	m.feed(o, p)
}

// caughtUp notes how long the tails took that links had announced: since then, or, of a feeder that has been chosen
// because another was late, since it was. The waits for those others say nothing of it.
func (m *Machine) caughtUp(o *origin, from wire.PeerID) {
	if o.behind == 0 || o.number() < o.behind {
		return
	}
	since := o.lags
	if from == o.feeder {
		since = o.asked
	}
	m.late.sample(m.now - since)
	m.forgive(o)
}

func (m *Machine) forgive(o *origin) {
	if o.behind > 0 {
		o.behind, o.rival = 0, ""
	}
	delete(m.lagging, o.tag)
}

// hurry looks for feeders that are too late. A link that says it holds more is to feed instead. If it does not bring it
// either, it is not believed for a while.
func (m *Machine) hurry() {
	if len(m.lagging) == 0 {
		return
	}
	for _, tag := range slices.Sorted(maps.Keys(m.lagging)) {
		o := m.tagged(tag)
		if m.now < o.asked+m.late.patience() {
			m.repeat(o)
			continue
		}
		o.asked, o.again = m.now, false
		switch rival := m.links[o.rival]; {
		case rival == nil || m.links[o.peer] != nil:
			m.forgive(o)
		case o.feeder != o.rival:
			m.feed(o, o.rival)
		default:
			rival.fail(tag, m.now, m.cfg.Limits.Disbelief)
			m.stir(tag, rival)
			m.forgive(o)
			m.uncover(o)
		}
	}
}

// repeat asks a feeder a second time when half of its time is over: the first word may have been lost.
func (m *Machine) repeat(o *origin) {
	if l := m.links[o.feeder]; l != nil && !o.again && m.now >= o.asked+m.late.patience()/2 {
		o.again = true
		l.enqueue(o.tag, ask, m.now)
	}
}

// relay is how long a tail waits for others that go to the same link.
func (m *Machine) relay(p wire.PeerID) time.Duration {
	return max(relayAfter, m.fill(p))
}

// fill is how long a link takes to earn what a message costs besides its items.
func (m *Machine) fill(p wire.PeerID) time.Duration {
	out, _ := m.cfg.Rate(p)
	return min(time.Duration(overheadBytes/(relayShare*max(1, out))*float64(time.Second)), time.Second)
}
