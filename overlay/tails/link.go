package tails

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/venn-p2p/venn/overlay/agenda"
	"github.com/venn-p2p/venn/overlay/bound"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// link is the machine's record of a linked peer.
type link struct {
	peer     wire.PeerID
	tag      uint64        // tag of the peer, as an origin
	lot      uint32        // drawn once, for choices between equal links
	lost     int           // repetitions after a loss that were lost as well
	hides    bool          // it holds keys that no summary shows
	spoke    bool          // it has sent a message
	wrote    time.Duration // when the last message went to it
	soonest  time.Duration // nothing in due is due before then
	stated   time.Duration // when it last sent the state of its own tails
	pulse    agenda.Pause  // pause until the state of our own tails is sent to it again
	outdated bool          // our knowledge of it was too old: its state is asked for
	again    time.Duration // when messages that may have been lost are, or were, repeated
	muted    time.Duration // its messages are ignored before then
	came     time.Duration // when its last message came
	lag      time.Duration // time that its messages wait in the driver, see waited
	// Maps by the tag of an origin.
	known    map[uint64]position
	due      map[uint64]pending
	rumours  map[uint64]bool // origins that have advanced since its last rumour, and that it hears of from others
	feeds    map[uint64]bool // origins that it feeds us
	failures map[uint64]failure

	early [2]int // its early items, by kind
}

// position is the state of an origin that a peer has reached.
type position struct {
	epoch  summary.Epoch
	told   time.Duration // when our position was last sent to it
	gone   time.Duration // when it last said that it cannot reach the origin; 0: it did not, or took that back
	number uint32
	fed    bool // it is linked with the origin, or another peer feeds it
	wants  bool // we feed it
	knows  bool // it knows that we need no word from it
}

// pending is a message owed to a link about one origin, with its earliest send time.
type pending struct {
	how due
	at  time.Duration
}

// due is the kind of a message owed to a link about an origin, by its contents.
type due uint8

const (
	tell due = iota // the number of our state
	ask             // the number, even if it has been sent
	gap             // the number, and that tails from state 0 are needed
	push            // the number, and tails
	gone            // the origin cannot be reached
)

// enqueue queues a message about an origin for a link. A queued one gets the larger kind and the earlier time of both.
func (l *link) enqueue(tag uint64, how due, at time.Duration) {
	if d, before := l.due[tag]; before {
		how, at = max(how, d.how), min(at, d.at)
	}
	d := pending{how, at}
	l.due[tag] = d
	l.soonest = min(l.soonest, d.ripe())
}

// linkAt returns the index of the link to a peer among all links, and whether it is there.
func (m *Machine) linkAt(p wire.PeerID) (at int, linked bool) {
	return slices.BinarySearchFunc(m.links, p, func(l *link, p wire.PeerID) int { return cmp.Compare(l.peer, p) })
}

// link returns the link to a peer; nil if there is none.
func (m *Machine) link(p wire.PeerID) *link {
	if at, linked := m.linkAt(p); linked {
		return m.links[at]
	}
	return nil
}

// tellAfter is the least time between two announcements of one origin's state to a link.
const tellAfter = agenda.Brief

// ripe returns the time at which a message is sent because of p alone. A mere number waits up to tellAfter for a
// message that goes anyway.
func (p pending) ripe() time.Duration {
	if p.how == tell {
		return p.at + tellAfter
	}
	return p.at
}

// mostKnown returns the most origins of which a link's position is noted: a link may name any number that there are not.
func (m *Machine) mostKnown() int { return min(bound.Most, len(m.origins)+bound.Many) }

// know notes a link's position in an origin.
func (m *Machine) know(l *link, tag uint64, p position) {
	if _, had := l.known[tag]; had || len(l.known) < m.mostKnown() {
		l.known[tag] = p
	}
}

// strip forgets a link's positions in origins that are not known here, if there is no room for further positions.
func (m *Machine) strip(l *link) {
	if len(l.known) < m.mostKnown() {
		return
	}
	maps.DeleteFunc(l.known, func(tag uint64, _ position) bool {
		return m.tagged(tag) == nil && tag != m.ownTag() && tag != l.tag
	})
}

// serve sends a link the messages due to it, as far as there is room.
func (m *Machine) serve(l *link) {
	if m.header != nil && m.now >= l.pulse.End() {
		l.enqueue(m.ownTag(), tell, 0)
	}
	if !m.ripe(l) || m.now < l.wrote+m.Pace() || m.cfg.Sending(l.peer) {
		return
	}
	room := min(m.cfg.Room(l.peer), wire.MaxTails)
	turns := m.turns(l)
	items := make([]wire.TailItem, 0, min(len(turns), wire.MaxTailItems))
	for _, tag := range turns {
		it, ok := m.itemFor(l, tag)
		if !ok {
			continue
		}
		if len(items) >= wire.MaxTailItems {
			break
		}
		size := it.Size()
		if size > room {
			continue // a smaller one may fit
		}
		room -= size
		items = append(items, it)
		delete(l.due, tag)
		m.sent(l, tag, it)
	}
	if len(items) > 0 {
		l.wrote = m.now
		m.send(l.peer, items...)
	}
}

// mostPulse is the longest pause between two pulses: messages that tell the number of our own tails, in case one was lost.
// A link that heard a new state hears it again within half a minute.
const mostPulse = agenda.Longest

// outdated asks a link for the state of its tails.
func (m *Machine) outdated(p wire.PeerID) {
	if l := m.link(p); l != nil {
		l.outdated = true
		l.enqueue(l.tag, ask, m.now)
	}
}

// ripe reports whether anything is due to a link now.
func (m *Machine) ripe(l *link) bool {
	if m.now < l.soonest {
		return false
	}
	l.soonest = agenda.Never
	for _, d := range l.due {
		l.soonest = min(l.soonest, d.ripe())
	}
	return m.now >= l.soonest
}

// turns returns the origins with something due to a link: our own first, then those that have waited longest.
func (m *Machine) turns(l *link) []uint64 {
	own := m.ownTag()
	first := func(tag uint64) int {
		if tag == own {
			return 0
		}
		return 1
	}
	return slices.SortedFunc(maps.Keys(l.due), func(a, b uint64) int {
		return cmp.Or(cmp.Compare(first(a), first(b)), cmp.Compare(l.due[a].at, l.due[b].at), cmp.Compare(a, b))
	})
}

// itemFor returns the item to send a link about an origin; ok is false if there is none, or not yet. A tail that was to
// wait for others goes with the first message.
func (m *Machine) itemFor(l *link, tag uint64) (it wire.TailItem, ok bool) {
	o := m.tagged(tag)
	if tag == m.ownTag() {
		o = &m.own
	}
	if o == nil || o == &m.own && m.header == nil {
		delete(l.due, tag)
		return wire.TailItem{}, false
	}
	pos, d := l.known[tag], l.due[tag]
	same := pos.epoch == o.epoch
	it = m.position(l, o)
	it.Name(o.group())
	it.Gap = d.how == gap
	it.Left = o == &m.own && m.leaving || o != &m.own && d.how == gone && !it.Direct
	if it.Left {
		it.Group, it.Short = o.group(), false
	}
	switch {
	case d.how != push && m.now < d.at:
		return wire.TailItem{}, false
	case d.how == tell && o != &m.own && m.now < pos.told+tellAfter && same && pos.told > 0:
		return wire.TailItem{}, false
	case d.how == tell && o != &m.own && same && pos.number == o.number() && pos.knows == (it.Direct || it.Fed):
		delete(l.due, tag) // it is known to have the same state
		return wire.TailItem{}, false
	}
	if d.how == push {
		from := uint32(0)
		if same {
			from = pos.number
		}
		it.Tails = append(it.Tails, o.since(from)...)
	}
	if len(it.Tails) > 0 {
		it.Direct, it.Fed, it.Wants = false, false, false
	}
	return it, true
}

// position returns an item for a link that states our state of an origin, and how its tails reach us.
func (m *Machine) position(l *link, o *origin) wire.TailItem {
	it := wire.TailItem{Number: o.number()}
	if o == &m.own {
		it.Hides = m.cfg.Hides(l.peer)
		return it
	}
	it.Direct = m.link(o.peer) != nil
	it.Wants = !it.Direct && o.feeder == l.peer || o.peer == l.peer && l.outdated
	it.Fed = !it.Direct && o.feeder != "" && !it.Wants
	return it
}

// sent notes an item that a link was sent.
func (m *Machine) sent(l *link, tag uint64, it wire.TailItem) {
	o, pos := m.tagged(tag), l.known[tag]
	if tag == m.ownTag() {
		o = &m.own
		if l.pulse.Begin(m.now, m.pulse, mostPulse); pos.epoch != o.epoch || len(it.Tails) > 0 {
			l.pulse.Shorten(agenda.Lately)
		}
	}
	l.outdated = l.outdated && tag != l.tag
	if pos.epoch != o.epoch {
		pos.epoch, pos.number = o.epoch, 0
	}
	pos.told = m.now
	if len(it.Tails) > 0 {
		pos.number = max(pos.number, it.Number)
	} else {
		pos.knows = it.Direct || it.Fed
	}
	m.know(l, tag, pos)
	delete(l.rumours, tag)
}
