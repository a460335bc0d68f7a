package sim

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/venn-p2p/venn/testnet/strategy"
)

// node is a peer of the run, and the host of its machine. While its machine is stepped it touches nothing but itself and
// what nobody changes then, so that many are stepped at a time.
type node struct {
	sim  *Sim
	id   strategy.ID
	peer strategy.Peer // nil: offline
	rng  *rand.Rand    // the strategy's
	own  *rand.Rand    // the network's, for what happens to its messages

	links   []strategy.ID // ascending
	dialing []strategy.ID // links asked for

	up, down         float64 // bytes a second
	upFree, downFree time.Duration

	wakeAt  time.Duration // when its machine wants to be woken; negative: never
	wakeSet time.Duration // the earliest wake that is planned; negative: none

	recent   [recentConnections]connection // without a link, used of late
	recentAt int                           // the one to be forgotten next

	now time.Duration
	out []event // what it did in this window
}

// connection is one to a peer without a link: it stays open for a while.
type connection struct {
	peer strategy.ID
	used time.Duration
}

const (
	recentConnections = 8
	idleFor           = 10 * time.Second
)

const never = time.Duration(-1)

// run steps a node through its events of a window, which are in order.
func (n *node) run(events []event, end time.Duration) {
	for i := range events {
		n.wakeBefore(events[i].at)
		n.now = max(n.now, events[i].at)
		n.handle(&events[i], end)
	}
	n.wakeBefore(end)
	if n.peer != nil && n.wakeAt != never && (n.wakeSet == never || n.wakeAt < n.wakeSet) {
		n.wakeSet = n.wakeAt
		n.emit(event{at: n.wakeAt, to: n.id, from: n.id, kind: wake})
	}
}

// wakeBefore wakes the machine as often as it asks for before an instant.
func (n *node) wakeBefore(end time.Duration) {
	for n.peer != nil && n.wakeAt != never && n.wakeAt < end {
		n.now = max(n.now, n.wakeAt)
		n.wakeAt = never
		n.step(strategy.Woken{})
	}
}

func (n *node) emit(e event) { n.out = append(n.out, e) }

func (n *node) step(in strategy.Input) { n.peer.Step(n.now, in) }

func (n *node) handle(e *event, end time.Duration) {
	if e.kind == join {
		n.join()
		return
	}
	if n.peer == nil {
		n.absent(e)
		return
	}
	switch e.kind {
	case leave:
		n.leave()
	case arrive:
		n.arrive(e, end)
	case receive:
		n.receive(e)
	case bounce:
		n.step(strategy.Failed{To: e.from, Message: e.msg})
	case wake:
		n.wakeSet = never // those due were woken before
	case start:
		n.step(strategy.Started{Query: n.sim.query(e.msg.Query)})
	case dialled:
		n.dialled(e.from)
	case accepted:
		n.open(e.from, true)
	case linked:
		n.open(e.from, false)
	case refused:
		n.dialing = without(n.dialing, e.from)
		n.step(strategy.Failed{To: e.from})
	case closed:
		n.close(e.from)
	}
}

func (n *node) join() {
	n.wakeAt, n.wakeSet = never, never
	n.upFree, n.downFree = n.now, n.now
	n.peer = n.sim.factory(n)
	n.step(strategy.Joined{})
	if n.now > 0 { // at the start the topology says whom with
		n.sim.bootstrap(n)
	}
}

// leave closes the links: the others learn of that.
func (n *node) leave() {
	for _, p := range n.links {
		n.emit(event{at: n.now + n.sim.latency(n.id, p), to: p, from: n.id, kind: closed})
	}
	n.peer, n.links, n.dialing = nil, nil, nil
}

// absent is what happens when a peer isn't there.
func (n *node) absent(e *event) {
	at := e.at + n.sim.cfg.GiveUp
	switch e.kind {
	case arrive, receive:
		n.emit(event{at: at, to: e.from, from: n.id, kind: bounce, msg: e.msg})
	case dialled:
		n.emit(event{at: at, to: e.from, from: n.id, kind: refused})
	case accepted: // gone before the link was open
		n.emit(event{at: n.now + n.sim.latency(n.id, e.from), to: e.from, from: n.id, kind: closed})
	case wake:
		n.wakeSet = never
	}
}

// arrive takes a message in at the rate of the line.
func (n *node) arrive(e *event, end time.Duration) {
	n.downFree = max(n.downFree, e.at) + seconds(float64(e.msg.Bytes)/n.down)
	if n.downFree >= end {
		late := *e
		late.kind, late.at = receive, n.downFree
		n.emit(late)
		return
	}
	n.receive(e)
}

func (n *node) receive(e *event) {
	if !n.linked(e.from) {
		n.connected(e.from)
	}
	n.step(strategy.Received{From: e.from, Message: e.msg})
}

// connected says whether there is a connection to a peer without a link, and notes that it is used.
func (n *node) connected(p strategy.ID) bool {
	for i := range n.recent {
		if c := &n.recent[i]; c.peer == p && c.used > 0 && n.now-c.used < idleFor {
			c.used = n.now
			return true
		}
	}
	n.recent[n.recentAt] = connection{p, n.now}
	n.recentAt = (n.recentAt + 1) % recentConnections
	return false
}

// dialled opens a link that another asks for.
func (n *node) dialled(from strategy.ID) {
	n.emit(event{at: n.now + n.sim.latency(n.id, from), to: from, from: n.id, kind: accepted})
	n.open(from, false)
}

func (n *node) open(p strategy.ID, outbound bool) {
	n.dialing = without(n.dialing, p)
	at, there := slices.BinarySearch(n.links, p)
	if there {
		return
	}
	n.links = slices.Insert(n.links, at, p)
	n.step(strategy.LinkOpened{Peer: p, Outbound: outbound})
}

func (n *node) close(p strategy.ID) {
	if !n.linked(p) {
		return
	}
	n.links = without(n.links, p)
	n.step(strategy.LinkClosed{Peer: p})
	n.sim.repair(n)
}

func (n *node) linked(p strategy.ID) bool {
	_, there := slices.BinarySearch(n.links, p)
	return there
}

func without(list []strategy.ID, p strategy.ID) []strategy.ID {
	if i := slices.Index(list, p); i >= 0 {
		return slices.Delete(list, i, i+1)
	}
	return list
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// What follows is strategy.Host.

func (n *node) Self() strategy.ID         { return n.id }
func (n *node) Rand() *rand.Rand          { return n.rng }
func (n *node) Links() []strategy.ID      { return n.links }
func (n *node) Holds(k strategy.Key) bool { return n.sim.cfg.Data.Holds(n.id, k.Number) }
func (n *node) Wake(at time.Duration)     { n.wakeAt = later(at, n.now) }
func (n *node) Done(q strategy.QueryID) {
	n.emit(event{at: n.now, to: n.id, kind: done, msg: strategy.Message{Query: q}})
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

// Send puts a message on the line, behind those before it.
func (n *node) Send(to strategy.ID, m strategy.Message) {
	n.upFree = max(n.upFree, n.now) + seconds(float64(m.Bytes)/n.up)
	latency := n.sim.latency(n.id, to)
	at := n.upFree + latency
	if !n.linked(to) && !n.connected(to) {
		at += 4 * latency
	}
	for loss := n.sim.cfg.Loss; loss > 0 && n.own.Float64() < loss; {
		at += max(2*latency, leastRetransmission)
	}
	n.emit(event{at: at, to: to, from: n.id, kind: arrive, msg: m})
}

// leastRetransmission is how long a stream waits at least before it sends again what was lost.
const leastRetransmission = 200 * time.Millisecond

func (n *node) Connect(to strategy.ID) {
	if to == n.id || n.linked(to) || slices.Contains(n.dialing, to) {
		return
	}
	n.dialing = append(n.dialing, to)
	n.emit(event{at: n.now + 3*n.sim.latency(n.id, to), to: to, from: n.id, kind: dialled})
}

func (n *node) Disconnect(to strategy.ID) {
	if n.linked(to) {
		n.emit(event{at: n.now + n.sim.latency(n.id, to), to: to, from: n.id, kind: closed})
		n.emit(event{at: n.now + n.sim.cfg.Least, to: n.id, from: to, kind: closed})
	}
}
