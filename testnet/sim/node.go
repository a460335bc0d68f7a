package sim

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/venn-p2p/venn/node/core"
	"github.com/venn-p2p/venn/testnet/strategy"
	"github.com/venn-p2p/venn/testnet/strategy/links"
)

// node is a peer of the run, and the host of its machine. A step of its machine touches only the node, its share
// and constant state, so that several processors can step nodes at once.
type node struct {
	sim   *Sim
	share *share // share of the window that has the node's turn
	id    strategy.ID
	peer  strategy.Peer // nil: offline
	rng   generator     // source of randomness for the strategy
	own   generator     // source of randomness for the network: the fate of its messages

	life   uint32        // number of its session, from 1
	leaves time.Duration // when the session ends, by the moves

	links links.Links
	ends  []connection // connections of the links, in the order of links

	up, down line

	wakeAt  time.Duration // when its machine asked to be woken; negative: never
	wakeSet time.Duration // time of the earliest wake in the queue; negative: none

	recent []connection // connections without a link

	now      time.Duration
	delivery strategy.Delivery // the message that its machine is handling
	asker    replyTo
	covered  covered // the latest report of Covered
}

// replyTo is the sender of the message that the machine is handling. Messages that the machine sends back in this
// step go to that session of the sender.
type replyTo struct {
	peer strategy.ID
	life uint32 // session that sent the message; 0: the machine is handling no message
}

const (
	never  = time.Duration(-1)
	always = time.Duration(math.MaxInt64)
)

// run steps a node through its events of a window, which are in order of time, and through its timers until the
// end of the window.
func (n *node) run(events []event, end time.Duration) {
	due := &n.share.due
	for done := 0; ; {
		next := end
		own := done < len(*due) && (len(events) == 0 || (*due)[done].at <= events[0].at)
		switch {
		case own:
			next = (*due)[done].at
		case len(events) > 0:
			next = events[0].at
		}
		switch timer := n.timer(); {
		case timer < next:
			n.now = max(n.now, timer)
			n.ring(timer)
		case own:
			e := (*due)[done]
			done++
			n.now = max(n.now, e.at)
			n.handle(&e)
		case len(events) > 0:
			e := &events[0]
			events = events[1:]
			n.now = max(n.now, e.at)
			n.handle(e)
		default:
			clear(*due)
			*due = (*due)[:0]
			n.rest()
			return
		}
	}
}

// rest ends a window. If the node has to act by itself later, it queues a wake, unless one is queued that is not
// later.
func (n *node) rest() {
	if at := n.timer(); at != always && (n.wakeSet == never || at < n.wakeSet) {
		n.wakeSet = at
		n.emit(event{at: at, to: n.id, from: n.id, toLife: n.life, kind: wake})
	}
}

// timer returns the next time at which the node acts without an event: its machine asked to be woken, or a line
// has a turn for a waiting stream. always: never.
func (n *node) timer() time.Duration {
	at := min(n.up.next, n.down.next)
	if n.peer != nil && n.wakeAt != never {
		at = min(at, n.wakeAt)
	}
	return at
}

// ring takes the action that is due at a time which timer returned.
func (n *node) ring(at time.Duration) {
	switch at {
	case n.up.next:
		n.turn(&n.up)
	case n.down.next:
		n.turn(&n.down)
	default:
		n.wakeAt = never
		n.step(strategy.Woken{})
	}
}

// emit reports an event that the peer caused in its present session.
func (n *node) emit(e event) {
	e.fromLife = n.life
	n.do(&e)
}

func (n *node) step(in strategy.Input) { n.peer.Step(n.now, in) }

// handle handles an event of the peer. An event for an earlier session of the peer does not reach the present one.
func (n *node) handle(e *event) {
	switch {
	case e.kind == join:
		n.join()
		return
	case n.peer == nil:
		n.absent(e)
		return
	case e.toLife != 0 && e.toLife != n.life:
		n.outlived(e)
		return
	}
	switch e.kind {
	case leave:
		n.leave(false)
	case killed:
		n.leave(true)
	case piece, arrive:
		n.arrive(e)
	case receive:
		n.receive(e)
	case bounce:
		n.forget(e.from, e.fromLife)
		n.step(strategy.Failed{To: e.from, Message: e.msg})
	case wake:
		n.wakeSet = never // earlier wakes are done
	case start:
		n.step(strategy.Started{Query: n.sim.query(e.msg.Query)})
	case dialled:
		n.dialled(e)
	case accepted:
		n.open(e.from, e.fromLife, true)
	case linked:
		n.open(e.from, e.fromLife, false)
	case refused:
		n.links.Dialled(e.from)
		n.step(strategy.Failed{To: e.from})
		n.sim.repair(n)
	case changed:
		n.step(e.msg.Body.(strategy.Changed))
	case closed:
		n.closed(e)
	case ended:
		n.close(e.from, e.fromLife)
	}
}

func (n *node) join() {
	n.life++
	n.leaves = n.sim.churn.leaves(n.id, n.now)
	n.wakeAt, n.wakeSet = never, never
	n.up.clear(n.now)
	n.down.clear(n.now)
	n.peer = n.sim.factory(n)
	n.step(strategy.Joined{})
	if n.now > 0 { // at the start, the topology sets the links
		n.sim.bootstrap(n)
	}
}

// leave ends the session and closes all connections. The other ends learn of that behind the peer's last
// messages.
func (n *node) leave(killed bool) {
	if !killed {
		n.leaves = n.now + core.GoodbyeTime
		n.step(strategy.Leaving{})
		n.empty()
	}
	for _, s := range n.down.ring {
		n.lose(&s)
	}
	n.up.clear(n.now)
	n.down.clear(n.now)
	for i := range n.ends {
		n.hangUp(&n.ends[i])
	}
	for i := range n.recent {
		n.hangUp(&n.recent[i])
	}
	n.peer, n.links, n.ends, n.recent = nil, links.Links{}, nil, nil
}

// empty sends the waiting messages that the line can carry until the peer has left, at n.leaves.
func (n *node) empty() {
	now := n.now
	for n.up.next <= n.leaves {
		n.now = max(n.now, n.up.next)
		n.turn(&n.up)
	}
	n.now = now
}

// lose has the messages of an incoming stream bounce.
func (n *node) lose(s *stream) {
	for i := range s.waiting {
		if p := &s.waiting[i]; p.kind == arrive {
			n.absent(&p.event)
		}
	}
}

// absent handles an event for a peer that is away.
func (n *node) absent(e *event) {
	at := max(n.now, e.at) + links.GiveUp
	switch e.kind {
	case arrive, receive:
		n.emit(event{at: at, to: e.from, from: n.id, toLife: e.fromLife, kind: bounce, msg: e.msg})
	case dialled:
		n.emit(event{at: at, to: e.from, from: n.id, toLife: e.fromLife, kind: refused})
	case accepted: // the peer left before the link was open
		n.emit(event{at: n.now + n.sim.latency(n.id, e.from), to: e.from, from: n.id, toLife: e.fromLife, kind: closed})
	}
}

// outlived handles an event for an earlier session, whose connections are closed: messages bounce.
func (n *node) outlived(e *event) {
	back := event{at: n.now + n.sim.latency(n.id, e.from), to: e.from, from: n.id, toLife: e.fromLife, fromLife: e.toLife}
	switch e.kind {
	case arrive, receive:
		back.kind, back.msg = bounce, e.msg
	case accepted:
		back.kind = closed
	default:
		return
	}
	n.do(&back)
}

// arrive puts an arriving packet on the line down.
func (n *node) arrive(e *event) {
	n.heard(e.from, e.fromLife)
	n.put(&n.down, stream{peer: e.from, life: e.fromLife, lane: laneOf(&e.msg)}, e, int(e.packet))
}

func (n *node) receive(e *event) {
	n.asker = replyTo{e.from, e.fromLife}
	n.delivery = strategy.Delivery{From: e.from, Message: e.msg}
	n.step(strategy.Received{Delivery: &n.delivery})
	n.delivery = strategy.Delivery{}
	n.asker = replyTo{}
}

// closed handles the end of a connection, behind the messages of the other peer that the line is still carrying.
func (n *node) closed(e *event) {
	from := func(s *stream) bool { return s.peer == e.from && s.life == e.fromLife }
	switch s := n.down.longest(from); {
	case s != nil:
		s.waiting = append(s.waiting, parcel{event: *e})
	case n.down.free > e.at:
		n.taken(e)
	default:
		n.close(e.from, e.fromLife)
	}
}

// dialled opens a link that another peer asked for.
func (n *node) dialled(e *event) {
	if n.passing(e.from) == nil {
		n.shake(e.from)
	}
	n.emit(event{at: n.now + n.sim.latency(n.id, e.from), to: e.from, from: n.id, toLife: e.fromLife, kind: accepted})
	n.open(e.from, e.fromLife, false)
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// The methods of strategy.Host:

func (n *node) Self() strategy.ID         { return n.id }
func (n *node) Rand() *rand.Rand          { return &n.rng.Rand }
func (n *node) Links() []strategy.ID      { return n.links.Open() }
func (n *node) Holds(k strategy.Key) bool { return n.sim.held.Holds(n.id, k.Number) }
func (n *node) Wake(at time.Duration)     { n.wakeAt = later(at, n.now) }
func (n *node) Covered(q strategy.QueryID, share float64) {
	n.covered = covered{q, share}
}

func (n *node) Done(q strategy.QueryID) {
	e := event{at: n.now, to: n.id, kind: done, msg: strategy.Message{Query: q}}
	if n.covered.query == q {
		e.msg.Body = n.covered
	}
	n.emit(e)
}

func later(at, now time.Duration) time.Duration {
	if at <= now {
		return now + time.Millisecond
	}
	return at
}

func (n *node) Look(q strategy.QueryID, k strategy.Key) bool {
	e := event{at: n.now, to: n.id, kind: missed, msg: strategy.Message{Query: q}}
	if n.Holds(k) {
		e.kind = looked
	}
	n.emit(e)
	return e.kind == looked
}

func (n *node) Found(q strategy.QueryID, holder strategy.ID, hops int) {
	n.emit(event{at: n.now, to: n.id, from: holder, kind: found, msg: strategy.Message{Query: q, Bytes: hops}})
}

// Send puts a message on the line, behind the others of its stream. A message that has not left when the peer
// leaves is never sent.
func (n *node) Send(to strategy.ID, m strategy.Message) {
	if n.sim.beyond(n.now, n.id, to) {
		n.unreachable(to, &event{msg: m})
		return
	}
	c := n.connectionTo(to)
	e := event{to: to, from: n.id, toLife: c.life, kind: arrive, msg: m}
	if n.asker.life != 0 && n.asker.peer == to {
		e.toLife = n.asker.life
	}
	n.put(&n.up, stream{peer: to, lane: laneOf(&m), wire: c.wire}, &e, m.Bytes)
}

// heldBack is the longest time by which a reordered packet, or the copy of a duplicated message, comes late.
const heldBack = time.Second

// happens returns true with probability p.
func (n *node) happens(p float64) bool { return p > 0 && n.own.Float64() < p }

// leastRetransmission is the shortest time before a lost packet is sent again.
const leastRetransmission = 200 * time.Millisecond

func (n *node) Connect(to strategy.ID) {
	if to == n.id || !n.links.Dial(to) {
		return
	}
	if n.sim.beyond(n.now, n.id, to) {
		n.emit(event{at: n.now + links.GiveUp, to: n.id, from: to, toLife: n.life, kind: refused})
		return
	}
	e := event{to: to, from: n.id, kind: dialled}
	if c := n.passing(to); c != nil {
		n.put(&n.up, stream{peer: to, wire: c.wire}, &e, 0)
		return
	}
	n.handshake(to, &wire{ready: always}, &e)
}

// Disconnect implements strategy.Host.
func (n *node) Disconnect(to strategy.ID) {
	if c := n.linkTo(to); c != nil {
		n.hangUp(c)
		n.do(&event{at: n.now + n.sim.cfg.Least, to: n.id, from: to, toLife: n.life, fromLife: c.life, kind: closed})
	}
}
