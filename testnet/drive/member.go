package drive

import (
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"time"

	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"

	"github.com/venn-p2p/venn/testnet/strategy"
	"github.com/venn-p2p/venn/testnet/strategy/links"
)

// member is a peer of a run. Its goroutine executes run. Other goroutines use only inbox, refusals, host and
// constant fields.
type member struct {
	net      *Network
	id       strategy.ID
	host     host.Host
	address  peer.AddrInfo
	inbox    chan event   // events from other goroutines, which wait for room
	own      chan event   // events from this peer to itself; without room the run ends
	refusals atomic.Int32 // links that could not be opened, or were lost, before the start
	gone     *network.NotifyBundle

	machine strategy.Peer // nil: it has not joined yet, or is away
	rng     *rand.Rand    // source of randomness for the machine
	chance  *rand.Rand    // source of randomness for links that the machine does not choose
	now     time.Duration

	links    links.Links
	early    []strategy.LinkOpened
	outboxes map[way]*outbox

	away   bool          // it has left, or has not come yet
	wakeAt time.Duration // when to wake the machine; negative: never
	timer  *time.Timer
}

// way names an outbox, by its receiver and protocol.
type way struct {
	to strategy.ID
	id protocol.ID
}

// event is something that happens to a peer.
type event struct {
	kind    kind
	peer    strategy.ID
	message strategy.Message
	query   strategy.Query // query that starts, for the kind started
	was     kind           // kind of the frame that could not be delivered, for the kind failed
	change  strategy.Changed
}

type kind uint8

const (
	begun    kind = iota // the run has started
	wanted               // a link is to be opened
	started              // a query starts
	failed               // a frame could not be delivered
	received             // a frame with a message came; the next three kinds are frames, too
	dialled              // a peer asks for a link
	accepted             // a link that was asked for is open
	closed               // a link is closed
	left                 // the peer leaves
	came                 // the peer comes again
	changed              // its collection has changed
	mended               // a link that could not be opened is to be replaced
)

const (
	inboxSize = 256
	never     = time.Duration(-1)
)

func newMember(n *Network, id strategy.ID, h host.Host) *member {
	return &member{
		net: n, id: id, host: h, address: peer.AddrInfo{ID: h.ID(), Addrs: h.Addrs()},
		inbox: make(chan event, inboxSize), own: make(chan event, inboxSize),
		away: !n.cfg.World.Online(id), rng: n.random(id, "drive: a peer's machine"), chance: n.random(id, "drive: a peer's network"), outboxes: map[way]*outbox{}, wakeAt: never,
	}
}

// post gives the member an event to handle, and waits for room in its inbox.
func (m *member) post(e event) {
	m.net.enter(e.message.Query)
	m.put(e)
}

// put posts an event that was entered before, see Network.enter.
func (m *member) put(e event) {
	select {
	case m.inbox <- e:
	case <-m.net.ctx.Done():
	}
}

// later posts an event from the member to itself.
func (m *member) later(e event) {
	m.net.enter(e.message.Query)
	select {
	case m.own <- e:
	default:
		m.net.cancel(ErrOverflow)
	}
}

// run handles events until the run ends.
func (m *member) run() {
	m.timer = time.NewTimer(0)
	m.timer.Stop()
	defer m.timer.Stop()
	for {
		select {
		case <-m.net.ctx.Done():
			return
		case e := <-m.own:
			m.take(e)
		case e := <-m.inbox:
			m.take(e)
		case <-m.timer.C:
			m.wake()
		}
	}
}

// take handles an event. Once the run has started, a peer that is away ignores all events but came.
func (m *member) take(e event) {
	if m.away && m.net.started.Load() && e.kind != came {
		m.net.leave(e.message.Query)
		return
	}
	// any event may be the first: other peers may have started earlier
	if m.machine == nil && m.net.started.Load() && e.kind != came {
		m.join()
	}
	switch e.kind {
	case wanted:
		m.Connect(e.peer)
	case started:
		m.step(strategy.Started{Query: e.query})
	case received:
		m.step(strategy.Received{Delivery: &strategy.Delivery{From: e.peer, Message: e.message}})
	case failed:
		m.failed(e)
	case dialled:
		m.frame(e.peer, accepted)
		m.opened(e.peer, false)
	case accepted:
		m.opened(e.peer, true)
	case closed:
		m.lost(e.peer)
	case left:
		m.leave()
	case came:
		m.come()
	case changed:
		m.step(e.change)
	case mended:
		m.repair()
	}
	m.net.leave(e.message.Query)
}

// join makes the machine, and tells it of the links that are open already.
func (m *member) join() {
	m.machine = m.net.factory(m)
	m.step(strategy.Joined{})
	early := m.early
	m.early = nil
	for _, l := range early {
		m.opened(l.Peer, l.Outbound)
	}
}

// leave ends the machine. Its last messages are sent if its connections stay open long enough.
func (m *member) leave() {
	m.step(strategy.Leaving{})
	for _, p := range m.links.Open() {
		m.keep(p, false)
	}
	m.machine, m.links, m.early, m.away = nil, links.Links{}, nil, true
	m.setWake(never)
	m.timer.Stop()
}

// come makes the machine of a peer that was away, and opens links to peers drawn at random.
func (m *member) come() {
	m.away = false
	m.join()
	for range m.net.rules.Coming() {
		m.linkAnywhere()
	}
}

func (m *member) wake() {
	m.net.enter(0)
	m.setWake(never)
	m.step(strategy.Woken{})
	m.net.leave(0)
}

// setWake sets when to wake the machine, and counts the peers that wait to be woken.
func (m *member) setWake(at time.Duration) {
	switch {
	case m.wakeAt == never && at != never:
		m.net.armed.Add(1)
	case m.wakeAt != never && at == never:
		m.net.armed.Add(-1)
	}
	m.wakeAt = at
}

// step steps the machine.
func (m *member) step(in strategy.Input) {
	if m.machine == nil { // before the start, only links are opened
		return
	}
	m.now = max(m.now, m.net.now())
	m.machine.Step(m.now, in)
	if m.wakeAt == never {
		m.timer.Stop()
	} else {
		m.timer.Reset(m.wakeAt - m.net.now())
	}
}

// failed handles a frame that could not be delivered.
func (m *member) failed(e event) {
	switch e.was {
	case received:
		m.step(strategy.Failed{To: e.peer, Message: e.message})
	case dialled:
		m.links.Dialled(e.peer)
		if m.machine == nil {
			m.refusals.Add(1)
		}
		m.step(strategy.Failed{To: e.peer})
		m.repairSoon()
	}
	m.lost(e.peer)
}

// opened notes that a link is open.
func (m *member) opened(p strategy.ID, outbound bool) {
	m.links.Dialled(p)
	if m.linked(p) {
		return
	}
	m.keep(p, true)
	in := strategy.LinkOpened{Peer: p, Outbound: outbound}
	if m.machine == nil {
		m.early = append(m.early, in)
		return
	}
	m.links.Add(p)
	m.step(in)
}

// lost notes that a link is gone, if there was one, and opens another if the member has too few.
func (m *member) lost(p strategy.ID) {
	if !m.linked(p) {
		return
	}
	m.keep(p, false)
	if m.machine == nil {
		m.early = slices.DeleteFunc(m.early, func(l strategy.LinkOpened) bool { return l.Peer == p })
		m.refusals.Add(1)
		return
	}
	m.links.Remove(p)
	m.step(strategy.LinkClosed{Peer: p})
	m.repair()
}

// repair opens a link to a random peer if the member has fewer than the rules ask for.
func (m *member) repair() {
	if m.machine != nil && m.net.rules.Missing(&m.links) > 0 {
		m.linkAnywhere()
	}
}

// repairSoon repairs links after links.GiveUp, if there are too few. A real dial to an absent peer fails at once.
func (m *member) repairSoon() {
	if m.machine == nil || m.net.rules.Missing(&m.links) == 0 {
		return
	}
	m.net.spawn(func() {
		select {
		case <-time.After(links.GiveUp):
			m.post(event{kind: mended})
		case <-m.net.ctx.Done():
		}
	})
}

// linkAnywhere opens a link to a peer drawn at random.
func (m *member) linkAnywhere() {
	if p, ok := links.Draw(m.chance, m.id, &m.net.cfg.World, m.linked); ok {
		m.Connect(p)
	}
}

// disconnected is called when a connection has ended. It posts the end of the link if that was the last connection
// to the peer.
func (m *member) disconnected(net network.Network, c network.Conn) {
	from, known := m.net.numbers[c.RemotePeer()]
	if known && net.Connectedness(c.RemotePeer()) != network.Connected {
		m.net.spawn(func() { m.post(event{kind: closed, peer: from}) })
	}
}

func (m *member) linked(p strategy.ID) bool {
	_, there := m.links.Index(p)
	return there || slices.ContainsFunc(m.early, func(l strategy.LinkOpened) bool { return l.Peer == p })
}
