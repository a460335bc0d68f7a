package tails

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"time"

	"github.com/venn-p2p/venn/overlay"
	"github.com/venn-p2p/venn/overlay/group"
	"github.com/venn-p2p/venn/summary"
)

// Config holds the parameters of a [Machine].
type Config struct {
	Self   overlay.PeerID                                       // this node; required
	Seed   summary.SeedTag                                      // of the network: only tails of summaries under it are traded
	Sign   func(message []byte) (signature []byte, err error)   // nil: the node makes no tails
	Verify func(origin string, message, signature []byte) error // required
	// Header is that of the summary which answers for a peer; nil when there is none. Required.
	Header func(overlay.PeerID) *summary.Header
	// Room is how many bytes may go to a linked peer now. Required.
	Room func(overlay.PeerID) int
	// Pulse is how often a link is told where the node's own tails are when nothing changes. Required.
	Pulse func() time.Duration

	// Hides says whether the node holds keys that no summary shows: then others ask it rather than go by what they know of it.
	Hides func() bool

	MaxChanges int // that are kept of all others together; 0: 200,000
}

const (
	tickEvery = 100 * time.Millisecond
	// tellAfter is how long, to twice as long, a link is not told of what others may tell it.
	tellAfter = 100 * time.Millisecond
	// tellEvery is how long a link is not told of the same origin again.
	tellEvery = 300 * time.Millisecond
	// tidyEvery is how often origins that the overlay has forgotten are forgotten here.
	tidyEvery = time.Minute
	// muteFor is how long nothing is taken from a peer that sent a wrong tail.
	muteFor = 10 * time.Second
	// heldFor is how long tails of an epoch that is not known yet are kept, maxHeld how many of them.
	heldFor = 3 * time.Second
	maxHeld = 64

	messageBytes = 48 // around items
	itemBytes    = 24
)

// Machine is the machine. Make one with [New]. Not safe for concurrent use.
type Machine struct {
	cfg     Config
	now     time.Duration
	effects []Effect

	own     origin
	leaving bool   // the node is about to close
	spent   bool   // tails of the present epoch bear no more
	recent  []step // changes of the node's own, each since the state before, for tails that cover several
	origins map[uint64]*origin
	held    int // changes of others
	holders map[summary.Fingerprint][]overlay.PeerID
	links   map[overlay.PeerID]*link
	order   []overlay.PeerID // of links, sorted
	early   []early
	pulse   time.Duration // see Config.Pulse
	tidyAt  time.Duration // origins are looked through
	next    time.Duration // tick
	woken   time.Duration

	refused int // tails
}

// step is what changed between two states of the node's own.
type step struct{ added, removed []summary.Fingerprint }

// early is a tail that came before the epoch that it belongs to.
type early struct {
	from  overlay.PeerID
	group group.ID
	tails [][]byte
	until time.Duration
}

// link is what is known of what a linked peer holds.
type link struct {
	hides   bool
	heard   time.Duration // when it last said where its own tails are
	pulsed  time.Duration // when it was last told of our own tails
	muted   time.Duration // nothing is taken from it before then
	doubts  int           // peers doubted on its word since doubted
	doubted time.Duration
	known   map[uint64]position
	due     map[uint64]duty
}

// position is the state of an origin that a peer has reached.
type position struct {
	epoch  summary.Epoch
	number uint32
	told   time.Duration // when it was last told ours
	direct bool          // it is linked with the origin, and needs no word from us
	knows  bool          // that we are
}

// duty is what a link is to be sent of an origin, and not before when.
type duty struct {
	how due
	at  time.Duration
}

type due uint8

const (
	tell due = iota // the number
	gap             // the number, and that tails from state 0 are needed
	push            // tails, too
	gone            // that the origin cannot be reached
)

// New returns a machine that knows nobody. It panics when something required is missing.
func New(cfg Config) *Machine {
	if cfg.Self == "" || cfg.Verify == nil || cfg.Header == nil || cfg.Room == nil || cfg.Pulse == nil {
		panic("tails: Self, Verify, Header, Room or Pulse is missing")
	}
	if cfg.Hides == nil {
		cfg.Hides = func() bool { return false }
	}
	if cfg.MaxChanges == 0 {
		cfg.MaxChanges = 200_000
	}
	return &Machine{
		cfg: cfg, own: origin{peer: cfg.Self}, origins: map[uint64]*origin{}, holders: map[summary.Fingerprint][]overlay.PeerID{},
		links: map[overlay.PeerID]*link{}, woken: -1,
	}
}

// Step takes an input at a time, which never goes back, and returns what to do, in order. The slice is valid until the next Step.
func (m *Machine) Step(now time.Duration, in Input) []Effect {
	m.effects, m.now = m.effects[:0], max(m.now, now)
	switch in := in.(type) {
	case Published:
		m.published(in.Header)
	case Changed:
		m.changed(in)
	case Learned:
		m.learned(in.Origin)
	case LinkOpened:
		m.opened(in)
	case LinkClosed:
		m.closed(in.Peer)
	case Leaving:
		m.leave()
	case Unreachable:
		m.unreachable(in.Peer)
	case Received:
		m.received(in)
	case Tick:
	default:
		panic(fmt.Sprintf("tails: unknown input %T", in))
	}
	m.tick()
	return m.effects
}

func (m *Machine) emit(e Effect) { m.effects = append(m.effects, e) }

func (m *Machine) opened(in LinkOpened) {
	if m.links[in.Peer] != nil {
		return
	}
	m.back(in.Peer)
	l := &link{known: map[uint64]position{}, due: map[uint64]duty{}, pulsed: -m.cfg.Pulse()}
	m.links[in.Peer] = l
	at, _ := slices.BinarySearch(m.order, in.Peer)
	m.order = slices.Insert(m.order, at, in.Peer)
	for tag, o := range m.origins {
		if o.number() > 0 {
			l.owe(tag, tell, 0)
		}
	}
}

// owe notes what a link is to be sent of an origin: the more, and the sooner, of this and what it was owed before.
func (l *link) owe(tag uint64, how due, at time.Duration) {
	if d, before := l.due[tag]; before {
		how, at = max(how, d.how), min(at, d.at)
	}
	l.due[tag] = duty{how, at}
}

func (m *Machine) closed(p overlay.PeerID) {
	if m.links[p] == nil {
		return
	}
	delete(m.links, p)
	tag := group.Tag(m.cfg.Seed, string(p))
	for _, l := range m.links { // they no longer may leave it to the peer to tell us
		if pos := l.known[tag]; pos.knows {
			pos.knows = false
			l.know(tag, pos)
			l.owe(tag, tell, 0)
		}
	}
	at, _ := slices.BinarySearch(m.order, p)
	m.order = slices.Delete(m.order, at, at+1)
}

// learned takes in that there may be a newer epoch of an origin.
func (m *Machine) learned(p overlay.PeerID) {
	h := m.cfg.Header(p)
	if h == nil || h.Seed != m.cfg.Seed || p == m.cfg.Self {
		m.forget(group.Tag(m.cfg.Seed, string(p)))
		return
	}
	tag := group.Of(h).OriginTag()
	o := m.origins[tag]
	if o != nil && o.header.Epoch == h.Epoch {
		return
	}
	m.forget(tag)
	m.origins[tag] = &origin{peer: p, header: h, tokens: tailBurst, filled: m.now}
	m.retry(group.Of(h))
	// Those who hold the epoch may hold tails of it: told where we are, they send what we lack.
	for _, l := range m.links {
		if pos := l.known[tag]; pos.epoch == h.Epoch && pos.number > m.origins[tag].number() {
			l.owe(tag, tell, 0)
		}
	}
	if l := m.links[p]; l != nil {
		l.owe(tag, tell, 0)
	}
}

// tidy drops the origins of which no summary is held any more, now and then.
func (m *Machine) tidy() {
	if m.now < m.tidyAt {
		return
	}
	m.tidyAt = m.now + tidyEvery
	for tag, o := range m.origins {
		if m.cfg.Header(o.peer) == nil {
			m.forget(tag)
		}
	}
}

// forget drops an origin and its tails.
func (m *Machine) forget(tag uint64) {
	o := m.origins[tag]
	if o == nil {
		return
	}
	m.held -= o.held
	m.show(o, nil)
	delete(m.origins, tag)
	for _, l := range m.links {
		delete(l.due, tag)
	}
}

// retry takes in tails that came before their epoch.
func (m *Machine) retry(g group.ID) {
	waiting := m.early
	m.early = nil
	for _, e := range waiting {
		switch {
		case m.now >= e.until:
		case e.group != g:
			m.early = append(m.early, e)
		default:
			m.take(e.from, m.origins[g.OriginTag()], e.tails)
		}
	}
}

// received takes in a message.
func (m *Machine) received(in Received) {
	l := m.links[in.From]
	if l == nil {
		return
	}
	if m.now < l.muted {
		return
	}
	for _, it := range in.Items[:min(len(in.Items), MaxItems)] {
		m.item(in.From, l, it)
	}
}

func (m *Machine) item(from overlay.PeerID, l *link, it Item) {
	tag, epoch := it.Group.OriginTag(), it.Group.Epoch()
	o := m.origins[tag]
	if tag == m.ownTag() {
		o = &m.own
	}
	pos := l.known[tag]
	pos.epoch, pos.number, pos.direct = epoch, it.Number, it.Direct
	l.know(tag, pos)
	if tag == group.Tag(m.cfg.Seed, string(from)) {
		l.hides, l.heard = it.Hides, m.now
		if o != nil {
			o.left = it.Left
		}
	} else if it.Left && o != nil && o != &m.own {
		m.hear(l, o)
	}
	switch {
	case o == nil || o.header == nil || epoch.After(o.header.Epoch):
		m.keep(from, it)
		return
	case epoch != o.header.Epoch:
		return // the peer will hear of the newer epoch
	}
	applied := o == &m.own || it.Number <= o.number() || m.take(from, o, it.Tails)
	switch {
	case it.Gap:
		pos.number = 0
		l.know(tag, pos)
		l.owe(tag, push, 0)
	case it.Number < o.number() && (!it.Direct || o == &m.own):
		l.owe(tag, push, 0)
	case it.Number > o.number() && o != &m.own && !applied:
		l.owe(tag, gap, 0)
	case it.Number > o.number() && o != &m.own, o.peer != from && !pos.knows && m.links[o.peer] != nil:
		l.owe(tag, tell, 0)
	}
}

// maxKnown bounds what is noted of a link: beyond it only origins known here are.
const maxKnown = 1 << 14

func (l *link) know(tag uint64, p position) {
	if _, had := l.known[tag]; had || len(l.known) < maxKnown {
		l.known[tag] = p
	}
}

// keep holds a tail of an epoch that is not known yet for a moment.
func (m *Machine) keep(from overlay.PeerID, it Item) {
	m.early = slices.DeleteFunc(m.early, func(e early) bool { return m.now >= e.until })
	if len(it.Tails) > 0 && len(it.Tails) <= MaxItemTails && len(m.early) < maxHeld {
		m.early = append(m.early, early{from, it.Group, it.Tails, m.now + heldFor})
	}
}

// take takes in tails of an origin. It is false when one of them starts at a state that is not known here.
func (m *Machine) take(from overlay.PeerID, o *origin, signed [][]byte) bool {
	before := o.number()
	for _, b := range signed[:min(len(signed), MaxItemTails)] {
		t, err := OpenTail(b, o.header, m.cfg.Verify)
		if err != nil {
			m.refuse(from, FaultTail)
			if l := m.links[from]; l != nil {
				l.muted = m.now + muteFor
			}
			break
		}
		if t.Number() <= o.number() {
			continue
		}
		if !o.allow(m.now) {
			m.refuse(from, FaultRate)
			break
		}
		if ok, fits := m.install(o, t); !fits {
			m.refuse(from, FaultLong)
			break
		} else if !ok {
			return false
		}
	}
	if o.number() > before {
		m.advanced(o, tell)
	}
	return true
}

func (m *Machine) refuse(from overlay.PeerID, f overlay.Fault) {
	m.refused++
	m.emit(Report{from, f})
}

// install puts a verified tail in its place. ok is false when it does not start at a state in force, fits when there is no room.
func (m *Machine) install(o *origin, t *Tail) (ok, fits bool) {
	n, ok := o.before(t.From())
	if !ok {
		return false, true
	}
	held := t.Len()
	for _, t := range o.chain[:n] {
		held += t.Len()
	}
	if n >= maxSegments || held > maxChain || m.held-o.held+held > m.cfg.MaxChanges {
		return false, false
	}
	m.held += held - o.held
	continues := t.From() == o.number() && o.state != nil
	o.extend(t)
	if continues {
		m.showMore(o, t)
	} else {
		m.show(o, fold(o.chain))
	}
	return true, true
}

// showMore changes what an origin's tails say by one that continues them.
func (m *Machine) showMore(o *origin, t *Tail) {
	for f := range t.Added() {
		if !o.state[f] {
			o.state[f] = true
			m.hold(f, o.peer)
		}
	}
	for f := range t.Removed() {
		if o.state[f] {
			m.letGo(f, o.peer)
		}
		o.state[f] = false
	}
}

func (m *Machine) hold(f summary.Fingerprint, p overlay.PeerID) {
	at, _ := slices.BinarySearch(m.holders[f], p)
	m.holders[f] = slices.Insert(m.holders[f], at, p)
}

func (m *Machine) letGo(f summary.Fingerprint, p overlay.PeerID) {
	rest := slices.DeleteFunc(m.holders[f], func(q overlay.PeerID) bool { return q == p })
	if m.holders[f] = rest; len(rest) == 0 {
		delete(m.holders, f)
	}
}

// show changes what an origin's tails say.
func (m *Machine) show(o *origin, state map[summary.Fingerprint]bool) {
	for f, added := range o.state {
		if added && !state[f] {
			m.letGo(f, o.peer)
		}
	}
	for f, added := range state {
		if added && !o.state[f] {
			m.hold(f, o.peer)
		}
	}
	o.state = state
}

// advanced says that an origin's tails lead to a newer state, and notes that links may lack it.
func (m *Machine) advanced(o *origin, how due) {
	added, removed := o.changes()
	m.emit(Advanced{o.peer, o.header.Epoch, o.number(), added, removed})
	tag := group.Of(o.header).OriginTag()
	at := m.now
	for p, l := range m.links {
		pos := l.known[tag]
		if pos.direct && o != &m.own || pos.epoch == o.header.Epoch && pos.number >= o.number() {
			continue
		}
		if how == tell {
			at = m.now + waitFor(tag, o.number(), p)
		}
		l.owe(tag, how, at)
	}
}

// waitFor is how long the peers of an origin wait before they tell a link of a tail, each another time: it may hear of it
// from others meanwhile, and tell so.
func waitFor(tag uint64, number uint32, p overlay.PeerID) time.Duration {
	h := fnv.New32a()
	_, _ = h.Write(binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint64([]byte(p), tag), number))
	return tellAfter + time.Duration(h.Sum32()%16)*tellAfter/16
}

// Added are the peers whose tails say that they have a fingerprint since their summary, in order. Valid until the next Step.
func (m *Machine) Added(f summary.Fingerprint) []overlay.PeerID { return m.holders[f] }

// Removed says whether a peer's tails say that it no longer has a fingerprint, or the peer that it leaves.
func (m *Machine) Removed(p overlay.PeerID, f summary.Fingerprint) bool {
	if len(m.origins) == 0 {
		return false
	}
	o := m.origins[group.Tag(m.cfg.Seed, string(p))]
	if o == nil || o.peer != p {
		return false
	}
	added, said := o.state[f]
	return o.left || said && !added
}

// Fresh says how old the knowledge of what a linked peer holds is: it has said what it holds so long ago, and nothing is
// missing. ok is false when that is not known, as of a peer that holds keys that no summary shows.
func (m *Machine) Fresh(now time.Duration, p overlay.PeerID) (age time.Duration, ok bool) {
	l := m.links[p]
	if l == nil || l.hides {
		return 0, false
	}
	tag := group.Tag(m.cfg.Seed, string(p))
	o := m.origins[tag]
	pos, said := l.known[tag]
	if o == nil || o.peer != p || !said || pos.epoch != o.header.Epoch || pos.number > o.number() {
		return 0, false
	}
	return now - l.heard, true
}

// State is the number of a peer's state that is known, and how many fingerprints were added and removed since its summary.
func (m *Machine) State(p overlay.PeerID) (number uint32, added, removed int) {
	o := m.origins[group.Tag(m.cfg.Seed, string(p))]
	if p == m.cfg.Self {
		o = &m.own
	}
	if o == nil {
		return 0, 0, 0
	}
	added, removed = o.changes()
	return o.number(), added, removed
}

// Refused is how many tails were refused so far.
func (m *Machine) Refused() int { return m.refused }

func (m *Machine) ownTag() uint64 { return group.Tag(m.cfg.Seed, string(m.cfg.Self)) }

// tick sends what is due, every tickEvery at most.
func (m *Machine) tick() {
	if m.now >= m.next {
		m.next, m.pulse = m.now+tickEvery, m.cfg.Pulse()
		m.tidy()
		for _, p := range m.order {
			m.serve(p, m.links[p])
		}
	}
	at, due := m.wakeAt()
	if due && at != m.woken {
		m.woken = at
		m.emit(Wake{at})
	}
}

// wakeAt is when there will be something to do.
func (m *Machine) wakeAt() (at time.Duration, due bool) {
	for _, l := range m.links {
		t := l.pulsed + m.pulse
		if len(l.due) > 0 {
			t = m.next
		}
		if !due || t < at {
			at, due = t, true
		}
	}
	return max(at, m.next), due
}

// serve sends a link what is due to it, as far as there is room.
func (m *Machine) serve(p overlay.PeerID, l *link) {
	if m.own.header != nil && m.now >= l.pulsed+m.pulse {
		l.owe(m.ownTag(), tell, 0)
	}
	if len(l.due) == 0 {
		return
	}
	room := min(m.cfg.Room(p), maxMessage) - messageBytes
	var items []Item
	bytes := messageBytes
	for _, tag := range m.turns(l) {
		it, size, ok := m.itemFor(l, tag)
		if !ok {
			continue
		}
		if len(items) >= MaxItems {
			break
		}
		if size > room {
			continue // a smaller one may fit
		}
		room -= size
		bytes += size
		items = append(items, it)
		delete(l.due, tag)
		m.sent(l, tag, it)
	}
	if len(items) > 0 {
		m.emit(Send{p, items, bytes})
	}
}

// turns are the origins of which something is due to a link: our own first.
func (m *Machine) turns(l *link) []uint64 {
	own := m.ownTag()
	first := func(tag uint64) int {
		if tag == own {
			return 0
		}
		return 1
	}
	return slices.SortedFunc(maps.Keys(l.due), func(a, b uint64) int {
		return cmp.Or(cmp.Compare(first(a), first(b)), cmp.Compare(a, b))
	})
}

// itemFor is what a link is to be sent of an origin; ok is false when nothing is, or not yet.
func (m *Machine) itemFor(l *link, tag uint64) (it Item, bytes int, ok bool) {
	o := m.origins[tag]
	if tag == m.ownTag() {
		o = &m.own
	}
	if o == nil || o.header == nil {
		delete(l.due, tag)
		return Item{}, 0, false
	}
	pos := l.known[tag]
	how := l.due[tag].how
	same := pos.epoch == o.header.Epoch
	it = Item{Group: group.Of(o.header), Number: o.number(), Gap: how == gap, Direct: m.links[o.peer] != nil}
	it.Left = o == &m.own && m.leaving || o != &m.own && how == gone && !it.Direct
	it.Hides = o == &m.own && m.cfg.Hides()
	if m.now < l.due[tag].at {
		return Item{}, 0, false
	}
	if how < push && o != &m.own && m.now < pos.told+tellEvery && same && pos.told > 0 {
		return Item{}, 0, false
	}
	if how == tell && o != &m.own && same && pos.number == o.number() && pos.knows == it.Direct {
		delete(l.due, tag) // it has told us the same
		return Item{}, 0, false
	}
	bytes = itemBytes
	if how == push {
		from := uint32(0)
		if same {
			from = pos.number
		}
		for _, t := range o.since(from) {
			it.Tails = append(it.Tails, t)
			bytes += len(t) + 3
		}
	}
	return it, bytes, true
}

// sent notes what a link was sent.
func (m *Machine) sent(l *link, tag uint64, it Item) {
	pos := l.known[tag]
	if pos.epoch != it.Group.Epoch() {
		pos = position{epoch: it.Group.Epoch(), direct: pos.direct}
	}
	if len(it.Tails) > 0 {
		pos.number = max(pos.number, it.Number)
	}
	pos.told, pos.knows = m.now, it.Direct
	l.know(tag, pos)
	if tag == m.ownTag() {
		l.pulsed = m.now
	}
}
