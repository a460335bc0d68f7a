package tails

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"time"

	"github.com/venn-p2p/venn/overlay/agenda"
	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// Config holds the parameters of a [Machine].
type Config struct {
	Self wire.PeerID                                        // this node; required
	Seed summary.SeedTag                                    // seed of the network; tails under others are not traded
	Sign func(message []byte) (signature []byte, err error) // nil: the node makes no tails
	// Verify is called by [OpenTail]. It may return ErrUnverified: see [Unverified]. Required.
	Verify func(origin string, message, signature []byte) error
	// Header returns the header of the summary that answers for a peer; false if there is none. Required.
	Header func(wire.PeerID) (summary.Header, bool)
	// Room returns the number of bytes that may go to a linked peer now. Required.
	Room func(wire.PeerID) int
	// Sending reports whether a message to a linked peer is still on its way out of the node. Later messages to the
	// peer then wait and go together. So a line or a processor that is behind carries fewer and longer messages. nil:
	// never.
	Sending func(wire.PeerID) bool
	// Rate returns the rates of a link, to a peer and from it, in bytes a second. Required.
	Rate func(wire.PeerID) (out, in float64)
	// Pulse returns the first pause before a link hears the state of the node's own tails again. Required.
	Pulse func() time.Duration

	// Hides reports whether the node holds keys that a peer may find here and no summary shows. Then the peer asks this
	// node, and does not rely on its knowledge of it.
	Hides func(to wire.PeerID) bool

	MaxChanges int // changes kept of all other origins together; 0: 200,000
	Limits     Limits
}

// Limits bounds what links can make a machine believe. Zero values mean the stated defaults, and no node has others.
// Tests and experiments loosen one to show the attack that it withstands.
type Limits struct {
	// Disbelief is the time for which a link is not believed, after it claimed twice to hold an origin's tails and did
	// not bring them; 0: 1 min. Below 0: it is believed at once.
	Disbelief time.Duration
	// Behind is the quantile of the links' waiting times by which the driver's lag is measured; 0: 0.5.
	Behind float64
}

const (
	// tickEvery is the least time between two rounds, in which messages due to links are sent.
	tickEvery = agenda.Tick / 2
	// overheadBytes is the least number of bytes of headers below the stream that a message costs a line.
	overheadBytes = 40
)

// Machine makes, keeps and trades tails. Make one with [New]. It is not safe for concurrent use.
type Machine struct {
	cfg     Config
	now     time.Duration
	effects []event.Effect

	own      origin
	header   *summary.Header // header of our own summary; nil before the first was published
	leaving  bool            // the node is about to close
	spent    bool            // tails of the present epoch can carry no more changes
	recent   []step          // the node's own changes, one step for each state, for tails that cover several
	origins  origins
	held     int                                   // changes held of other origins
	gone     int                                   // origins that have announced that they leave
	holders  map[summary.Fingerprint][]wire.PeerID // origins whose tails added a fingerprint, sorted
	links    []*link                               // in the order of their peers
	early    []early
	pulse    time.Duration          // see Config.Pulse
	lagging  map[uint64]*laterClaim // by tag: origins of which links claim to hold a later state than we do
	late     lateness
	lag      time.Duration // lag of the driver, at the last tick
	rumoured time.Duration // when the last rumour was sent
	turn     int           // picks the link for the next rumour
	self     uint64        // the node's own tag
	due      agenda.Agenda
	woken    time.Duration // time of the last Wake; negative: none

	refused int // number of tails refused
}

// The tasks that are done only when due.
const (
	dueTick  = iota // messages due to links are sent
	dueTidy         // forgotten origins are searched for
	dueTasks        // number of tasks
)

// step is the change between two states of the node's own.
type step struct{ added, removed []summary.Fingerprint }

// New returns a machine without links and origins. It panics if something required is missing.
func New(cfg Config) *Machine {
	if cfg.Self == "" || cfg.Verify == nil || cfg.Header == nil || cfg.Room == nil || cfg.Rate == nil || cfg.Pulse == nil {
		panic("tails: Self, Verify, Header, Room, Rate or Pulse is missing")
	}
	cfg.Limits.Disbelief, cfg.Limits.Behind = cmp.Or(cfg.Limits.Disbelief, agenda.Seldom), cmp.Or(cfg.Limits.Behind, 0.5)
	if cfg.Sending == nil {
		cfg.Sending = func(wire.PeerID) bool { return false }
	}
	if cfg.Hides == nil {
		cfg.Hides = func(wire.PeerID) bool { return false }
	}
	if cfg.MaxChanges == 0 {
		cfg.MaxChanges = 200_000
	}
	return &Machine{
		cfg: cfg, self: wire.Tag(cfg.Seed, string(cfg.Self)), own: origin{peer: cfg.Self},
		holders: map[summary.Fingerprint][]wire.PeerID{},
		due:     agenda.New(dueTasks), woken: -1,
	}
}

// Step takes an input at a time and returns the effects to carry out, in order. The slice is valid until the next Step.
// Step panics when time goes back, and on an input of an unknown type.
func (m *Machine) Step(now time.Duration, in event.Input) []event.Effect {
	if now < m.now {
		panic(fmt.Sprintf("tails: time goes back from %v to %v", m.now, now))
	}
	m.effects, m.now = m.effects[:0], now
	switch in := in.(type) {
	case event.Published:
		m.published(in.Stream.Header())
	case Changed:
		m.changed(in)
	case event.Learned:
		m.learned(in.Origin)
	case event.HelloReceived:
		if in.Hello.Tails {
			m.opened(in.Peer)
		}
	case event.LinkClosed:
		m.closed(in.Peer)
	case event.Lost:
		m.lost(in.Peer)
	case Leaving:
		m.leave()
	case event.Unreachable:
		m.unreachable(in.Peer)
	case Outdated:
		m.outdated(in.Peer)
	case Received:
		m.received(in)
	case event.Tick:
	default:
		panic(fmt.Sprintf("tails: unknown input %T", in))
	}
	m.tick()
	return m.effects
}

func (m *Machine) emit(e event.Effect) { m.effects = append(m.effects, e) }

// send sends a message, and charges its bytes to the budget of its link.
func (m *Machine) send(to wire.PeerID, items ...wire.TailItem) {
	m.emit(Send{to, items})
	m.emit(event.Charged{Peer: to, Bytes: wire.Tails(items).Size()})
}

// opened notes that a linked peer has said hello and understands tails.
func (m *Machine) opened(p wire.PeerID) {
	at, linked := m.linkAt(p)
	if linked {
		return
	}
	m.back(p)
	l := &link{
		peer: p, tag: wire.Tag(m.cfg.Seed, string(p)),
		known: map[uint64]position{}, due: map[uint64]pending{}, rumours: map[uint64]bool{}, feeds: map[uint64]bool{},
	}
	l.pulse.Begin(-agenda.Lately, agenda.Lately, mostPulse)
	l.lot = lot(p, m.self, 0)
	l.wrote, l.soonest = -maxLag*paceLags, agenda.Never
	m.links = slices.Insert(m.links, at, l)
	for i := range m.origins {
		o := &m.origins[i]
		if o.number() > 0 {
			l.enqueue(o.tag, tell, 0)
		}
	}
	if o := m.tagged(l.tag); o != nil {
		m.unfeed(o) // it sends us its tails itself
	}
}

// lost schedules again, for the link, all recent messages to it, which may be lost. The pause before they are repeated
// doubles with each loss that follows a repetition within the same time. Messages from the link tell nothing of the
// messages to it, and do not end the pauses.
func (m *Machine) lost(p wire.PeerID) {
	l := m.link(p)
	if l == nil {
		return
	}
	switch {
	case m.now < l.again: // messages will be repeated anyway
	case l.again > 0 && m.now < l.again+l.pause():
		l.lost++
		l.again = m.now + l.pause()
	default:
		l.lost = 0
		l.again = m.now + l.pause()
	}
	l.enqueue(m.ownTag(), ask, l.again)
	for tag, pos := range l.known {
		if pos.told == 0 || m.now > pos.told+agenda.Attempt {
			continue
		}
		pos.told, pos.knows = 0, false
		m.know(l, tag, pos)
		if o := m.tagged(tag); l.feeds[tag] || o != nil && o.number() > 0 && !pos.fed {
			l.enqueue(tag, ask, l.again)
		}
	}
}

// pause returns the time from a loss until messages to the link are repeated.
func (l *link) pause() time.Duration { return agenda.Doubled(agenda.Beat, l.lost, agenda.Attempt) }

// closed forgets a link. It looks for new feeders for the origins that the link fed, and for the link's own tails.
func (m *Machine) closed(p wire.PeerID) {
	at, linked := m.linkAt(p)
	if !linked {
		return
	}
	l := m.links[at]
	m.links = slices.Delete(m.links, at, at+1)
	m.drop(func(e *early) bool { return e.from == l })
	for _, tag := range slices.Sorted(maps.Keys(l.feeds)) {
		o := m.tagged(tag)
		o.feeder = ""
		m.uncover(o)
	}
	if o := m.tagged(l.tag); o != nil {
		m.uncover(o)
		m.tellState(o)
	}
}

// learned notes that there may be a newer epoch of an origin.
func (m *Machine) learned(p wire.PeerID) {
	h, ok := m.cfg.Header(p)
	if !ok || h.Seed != m.cfg.Seed || p == m.cfg.Self {
		if o := m.of(p); o != nil {
			m.forget(o.tag)
		}
		return
	}
	tag := m.tagOf(p)
	o, feeder := m.tagged(tag), wire.PeerID("")
	if o != nil && o.epoch == h.Epoch {
		return
	}
	is := origin{peer: p, tag: tag, epoch: h.Epoch}
	if o == nil {
		o = m.origins.add(is)
	} else {
		feeder = o.feeder
		m.release(o)
		*o = is
	}
	switch l := m.link(p); {
	case l != nil: // it sends what we lack
		l.enqueue(tag, ask, 0)
	case feeder != "":
		m.feed(o, feeder)
	default:
		for _, l := range m.links {
			if pos := l.known[tag]; pos.epoch == h.Epoch && pos.number > 0 {
				l.enqueue(tag, ask, 0)
			}
		}
	}
	m.retry(o)
}

// tidy drops, from time to time, the origins of which no summary is held. It also drops positions of links in
// unknown origins, see strip.
func (m *Machine) tidy() {
	if !m.due.Take(dueTidy, m.now) {
		return
	}
	m.due.By(dueTidy, m.now+agenda.Seldom)
	var without []uint64
	for i := range m.origins {
		o := &m.origins[i]
		if _, ok := m.cfg.Header(o.peer); !ok {
			without = append(without, o.tag)
		}
	}
	for _, tag := range without {
		m.forget(tag)
	}
	for _, l := range m.links {
		m.strip(l)
	}
}

// forget drops an origin and its tails, and stops its feeder.
func (m *Machine) forget(tag uint64) {
	o := m.tagged(tag)
	if o == nil {
		return
	}
	if m.link(o.feeder) != nil {
		it := wire.TailItem{Number: o.number(), Fed: true}
		it.Name(o.group())
		m.send(o.feeder, it)
	}
	m.release(o)
	m.origins.remove(tag)
}

// release removes an origin's tails from the counts and the holders, and the origin from the due, rumours and feeds of
// links.
func (m *Machine) release(o *origin) {
	m.held -= o.held
	m.leaves(o, false)
	m.show(o, nil)
	delete(m.lagging, o.tag)
	for _, l := range m.links {
		delete(l.due, o.tag)
		delete(l.rumours, o.tag)
		delete(l.feeds, o.tag)
	}
}

// received handles a message of a linked peer.
func (m *Machine) received(in Received) {
	l := m.link(in.From)
	if l == nil {
		return
	}
	l.waited(m.now, in.Waited)
	for _, it := range in.Items[:min(len(in.Items), wire.MaxTailItems)] {
		if m.now < l.muted {
			return
		}
		m.item(l, it, in.Opened)
	}
}

// item handles one item of a link's message; see [Received] for opened.
func (m *Machine) item(l *link, it wire.TailItem, opened bool) {
	if it.About(l.tag) {
		l.hides, l.stated = it.Hides, m.now
		if o := m.tagged(l.tag); o != nil {
			m.leaves(o, it.Left)
		}
	} else if o := m.tagged(it.Group.OriginTag()); it.Left && o != nil {
		m.hear(l, o)
	}
	fit := m.fitting(make([]*origin, 0, 4), &it)
	for _, o := range fit {
		m.about(l, o, it, len(fit) == 1, opened)
	}
	if len(fit) == 0 {
		m.unknown(l, it)
	}
}

// unknown handles an item of an epoch that is not known yet, or no longer.
func (m *Machine) unknown(l *link, it wire.TailItem) {
	switch tag := it.Group.OriginTag(); {
	case !it.Short:
		pos := l.known[tag]
		pos.epoch, pos.number = it.Group.Epoch(), it.Number
		m.know(l, tag, pos)
		if o := m.tagged(tag); o != nil && o.epoch.After(it.Group.Epoch()) {
			return // the peer will hear of the newer epoch
		}
	case it.About(l.tag):
		pos := l.known[l.tag]
		pos.epoch = summary.Epoch{}
		m.know(l, l.tag, pos)
	}
	m.keep(l, it)
}

// about handles an item of a known origin. sure is set if the item cannot be of another origin.
func (m *Machine) about(l *link, o *origin, it wire.TailItem, sure, opened bool) {
	from, pos := l.peer, l.known[o.tag]
	pos.epoch, pos.number = o.epoch, it.Number
	if it.Gap {
		pos.number = 0
	}
	if len(it.Tails) == 0 {
		pos.fed, pos.wants = it.Direct || it.Fed, it.Wants
	}
	m.know(l, o.tag, pos)
	if o == &m.own {
		if it.Wants {
			l.enqueue(o.tag, ask, m.now)
			l.pulse = agenda.Pause{}
		}
		if it.Gap || it.Number < o.number() {
			l.enqueue(o.tag, push, m.now)
		}
		return
	}
	if sure && !it.Left {
		m.takesBack(l, o)
	}
	before, how := o.number(), done
	if it.Number > before && m.now >= o.waits {
		how = m.take(from, o, it.Tails, sure, opened)
	}
	switch how {
	case unverified:
		m.emit(Unverified{from, it})
		return
	case unsigned: // the link is not asked for the same tails again
		l.fail(o.tag, m.now, m.cfg.Limits.Disbelief)
		if o.feeder == from {
			m.uncover(o)
		}
		return
	}
	if o.number() > before {
		l.brought(o.tag, m.now)
	}
	switch needs := !it.Direct && !it.Fed && !it.Wants && len(it.Tails) == 0; {
	case it.Number > o.number() && m.now < o.waits: // the link is asked again at that time
		if from == o.peer || from == o.feeder {
			l.enqueue(o.tag, ask, o.waits)
		}
	case it.Number > o.number() && how == apart: // something is missing between
		l.enqueue(o.tag, gap, m.now)
	case it.Number > o.number():
		if from == o.peer || from == o.feeder { // what it has sent was lost or is on the way, or it does not know that it feeds us
			l.enqueue(o.tag, ask, m.now)
		}
		m.ahead(o, from, it.Number)
	case it.Wants:
		if o.feeder == from {
			m.uncover(o)
		}
		if it.Gap || it.Number < o.number() {
			l.enqueue(o.tag, push, m.now)
		}
	case from == o.peer:
	case len(it.Tails) > 0 && from != o.feeder && o.number() == before && m.covered(o): // once is enough
		l.enqueue(o.tag, ask, m.now)
	case needs && it.Number < o.number():
		l.enqueue(o.tag, tell, m.now-tellAfter)
	case m.covered(o):
		pos.knows = true // our silence tells the link so
		m.know(l, o.tag, pos)
	}
}

// advanced reports that an origin's tails lead to a newer state, by a message of the peer from, and notes that links
// may lack it.
func (m *Machine) advanced(o *origin, from wire.PeerID) {
	added, removed := o.changes()
	m.emit(Advanced{o.peer, o.epoch, o.number(), added, removed})
	m.caughtUp(o, from)
	moved := o.moved // the branch of the tree was torn: others on it hear at once
	o.moved = false
	for _, l := range m.links {
		pos := l.known[o.tag]
		switch {
		case pos.epoch == o.epoch && pos.number >= o.number():
		case o == &m.own:
			l.enqueue(o.tag, push, m.now)
		case l.peer == o.peer || l.peer == o.feeder: // we have it from there
		case pos.wants:
			l.enqueue(o.tag, push, m.now+m.relay(l.peer))
		case !moved && (pos.fed || pos.epoch == o.epoch && pos.told > 0): // a peer that needs more than a rumour has asked for it since
			l.rumours[o.tag] = true
		default:
			l.enqueue(o.tag, tell, m.now+m.waitFor(o, l.peer))
		}
	}
}

// waitFor returns the time to wait before an origin's new state is announced to a link. It differs by link and state.
// Meanwhile the link may hear of the state from others, and announce it here. Slow links wait longer.
func (m *Machine) waitFor(o *origin, p wire.PeerID) time.Duration {
	return tickEvery + time.Duration(lot(p, o.tag, o.number())%16)*tickEvery/16 + m.fill(p)
}

// lot draws a number, by a hash.
func lot(p wire.PeerID, tag uint64, number uint32) uint32 {
	h := fnv.New32a()
	_, _ = h.Write(binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint64([]byte(p), tag), number))
	return h.Sum32()
}

func (m *Machine) ownTag() uint64 { return m.self }

// tick sends what is due, every tickEvery at most.
func (m *Machine) tick() {
	if m.due.Take(dueTick, m.now) {
		m.due.By(dueTick, m.now+tickEvery)
		m.pulse, m.lag = m.cfg.Pulse(), m.behind()
		m.tidy()
		m.hurry()
		m.rumour()
		for _, l := range m.links {
			m.serve(l)
		}
	}
	at, due := m.wakeAt()
	if due && at != m.woken {
		m.woken = at
		m.emit(event.Wake{At: at})
	}
}

// wakeAt returns the time of the next thing to do; due is false without links.
func (m *Machine) wakeAt() (at time.Duration, due bool) {
	gossip := false
	for _, l := range m.links {
		t := min(l.pulse.End(), l.soonest)
		if len(m.lagging) > 0 {
			t = m.due.At(dueTick)
		}
		if !due || t < at {
			at, due = t, true
		}
		gossip = gossip || len(l.rumours) > 0
	}
	if gossip && due {
		at = min(at, m.rumoured+rumourEvery)
	}
	return max(at, m.due.At(dueTick)), due
}
