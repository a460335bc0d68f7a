package node

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/venn-p2p/venn/node/core"
	"github.com/venn-p2p/venn/node/internal/inbox"
	"github.com/venn-p2p/venn/node/internal/links"
	"github.com/venn-p2p/venn/node/internal/pipes"
	"github.com/venn-p2p/venn/overlay/agenda"
	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/tails"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/routing"
)

// tick is the time between two rounds of the loop's own work. The core is woken at the times for which it asks.
const tick = 250 * time.Millisecond

// loop owns the core. All its fields and methods belong to one goroutine.
type loop struct {
	n    *Node
	core *core.Machine
	todo []event.Input // inputs that the core has not been given yet
	busy bool          // the core is being stepped

	checked    *keyCheck        // the key that the core is asked for; nil: none
	unverified inbox.Unverified // tails that the core is to get again

	wake *time.Timer

	links    map[peer.ID]*link
	queries  map[routing.QueryID]*Results
	lastID   routing.QueryID
	replies  map[uint64]reply // streams that wait for an answer of the core
	lastReq  uint64
	standing map[peer.ID]error       // why bootstrap peers are not linked
	asks     map[peer.ID][]event.Ask // confirmations that wait for the batch under way to a peer
	learned  map[event.Transport]int // bytes of parts learned, by the way they came

	deltas, deltaBytes, deltaFull int // number of deltas learned, their bytes, and the bytes of the parts replaced
	fallbacks                     int // newer epochs that began with parts, because there was no delta

	publisher *publisher
	previous  *publisher // publisher under the previous seed; nil: there is none
	watchers  map[*watcher]bool
	ticks     int
	rejoins   agenda.Pause
	hints     []entrance // peers that may be online, dialled while there is no link
	warm      []entrance // peers of the last run, dialled in turns while there is no link
	sleep     sleep
	wall      func() time.Time
}

// link is the loop's state of a link.
type link struct {
	ctx       context.Context // ends with the link, so that no hello of it arrives on the next link with the peer
	end       context.CancelFunc
	greeted   bool          // hello was said with the peer: it took ours, or said its own
	neighbour bool          // the core chose the peer as a neighbour
	since     time.Duration // when the link began, on the core's clock
	session   uint64        // number in the peer's last hello; 0: the peer has said none
	saying    bool          // a hello is under way
	next      *wire.Hello   // latest of the hellos that wait for its end; nil: none
	pipe      *pipes.Pipe   // carries tails to the peer
}

// linked returns the state of the link with p; the zero value if there is none.
func (l *loop) linked(p peer.ID) link {
	if known := l.links[p]; known != nil {
		return *known
	}
	return link{}
}

// greetings returns the number of links on which hello was said.
func (l *loop) greetings() (n int) {
	for _, link := range l.links {
		if link.greeted {
			n++
		}
	}
	return n
}

// newLoop returns a loop without its core, whose hooks may be the loop's methods.
func newLoop(n *Node) *loop {
	l := &loop{
		n:        n,
		wake:     time.NewTimer(time.Hour),
		links:    make(map[peer.ID]*link),
		queries:  make(map[routing.QueryID]*Results),
		replies:  make(map[uint64]reply),
		standing: make(map[peer.ID]error),
		asks:     make(map[peer.ID][]event.Ask),
		learned:  make(map[event.Transport]int),
		watchers: make(map[*watcher]bool),
		wall:     time.Now,
		warm:     n.warm(),
	}
	_ = l.sleep.since(l.wall(), n.now())
	l.publisher, l.previous = newPublishers(n)
	return l
}

// run dials the bootstrap peers. Then it handles the inbox, the core's wake-ups and ticks until the node closes.
func (l *loop) run() {
	defer l.end()
	defer l.fail()
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	l.rejoins.Begin(l.n.now(), rejoinLeast, rejoinMost)
	first := l.bootstrap()
	l.n.tasks.Run(func() { first.Wait(); close(l.n.begun) })
	for {
		select {
		case <-l.n.ctx.Done():
			return
		case c := <-l.n.in.Commands:
			c.(func(*loop))(l)
		case r := <-l.n.in.Results:
			l.result(r)
		case r := <-l.n.in.Requests:
			l.request(r)
		case <-l.n.in.Messages:
			if p, ok := l.n.in.Next(); ok {
				l.message(p)
			}
		case <-l.n.in.Wakeup:
			l.woken()
		case <-l.wake.C:
			l.step(event.Tick{})
		case <-ticker.C:
			l.tick()
		}
	}
}

// fail ends the node if the loop panics: a fault in the core must not end the program that the node is embedded in.
func (l *loop) fail() {
	fault := recover()
	if fault == nil {
		return
	}
	l.n.log.Error("the node closes: its loop panicked", "fault", fault, "stack", string(debug.Stack()))
	l.n.cancel(fmt.Errorf("%w: %v", ErrFault, fault))
	go l.n.Close() //nolint:errcheck // who calls Close gets the error
}

// end tells everybody who still waits that the node is closed.
func (l *loop) end() {
	close(l.n.ended)
	l.wake.Stop()
	for p := range l.links {
		links.Release(l.n.host, p)
	}
	for _, r := range l.queries {
		r.finish(QueryStats{}, context.Cause(l.n.ctx))
	}
}

// step gives the core an input and carries out the effects. The core gets inputs that arise meanwhile afterwards.
func (l *loop) step(in event.Input) {
	l.todo = append(l.todo, in)
	if l.busy {
		return
	}
	l.busy = true
	for len(l.todo) > 0 {
		in := l.todo[0]
		l.todo = l.todo[1:]
		for _, e := range l.core.Step(l.n.now(), in) {
			l.carryOut(e)
		}
	}
	l.todo, l.busy = nil, false
	l.leaveUnverified()
}

// leaveUnverified hands over the tails whose signatures are to be verified outside the loop: to the stream on which
// they came, or to a new goroutine if they came before their epoch.
func (l *loop) leaveUnverified() {
	u := l.unverified
	l.unverified = inbox.Unverified{}
	switch {
	case u.Took != nil:
		u.Took <- u
	case len(u.Items) > 0:
		l.n.tasks.Run(func() { l.n.openEarly(u) })
	}
}

func (l *loop) tick() {
	l.ticks++
	l.n.mesh.Retry()
	l.awake()
	l.woken()
	if l.ticks%4 == 1 {
		l.snap()
		l.closeStale(l.n.now())
	}
	l.rejoin()
}

// woken handles what the inbox keeps besides messages: the changed states of peers, and changes of the keys.
func (l *loop) woken() {
	l.n.in.Take(l.stateChanged)
	l.changed()
}

// stateChanged handles what the inbox noted of a peer: its link and its place in the mesh, which began or ended, bytes
// charged, and messages lost.
func (l *loop) stateChanged(p peer.ID, s inbox.PeerState) {
	if s.Dropped {
		l.unlink(p)
	}
	gone := s.Link == inbox.Ended || s.Link == inbox.EndedAndBegun
	switch {
	case !gone || l.links[p] == nil:
	case s.Link == inbox.EndedAndBegun || !l.n.reached(p):
		if closed := l.n.closing.was(p, time.Now()); closed {
			l.n.closing.forget(p)
			l.unlink(p)
		} else {
			if l.n.cfg.isBootstrap(p) {
				l.rejoins.Shorten(0)
			}
			l.n.parted.note(p, time.Now())
			l.endLink(p, core.LinkLost{Peer: wire.PeerID(p)})
		}
	case !l.n.links.Linked(p): // it reconnected before the end was noted, which took the new link out of the table
		if l.n.admit(p, false) != nil {
			l.unlink(p)
			l.n.part(p)
		}
	}
	if s.Link == inbox.Begun || s.Link == inbox.EndedAndBegun {
		_ = l.link(p, true, s.Wanted)
	}
	if s.Charged > 0 {
		l.step(event.Charged{Peer: wire.PeerID(p), Bytes: s.Charged})
	}
	if s.Lost {
		l.step(event.Lost{Peer: wire.PeerID(p)})
	}
	if s.Unheard {
		l.step(event.Lost{Peer: wire.PeerID(p), Tails: true})
	}
	if s.Mesh == inbox.Ended || s.Mesh == inbox.EndedAndBegun {
		l.n.links.Meshed(p, false)
		l.step(event.Meshed{Peer: wire.PeerID(p)})
	}
	if (s.Mesh == inbox.Begun || s.Mesh == inbox.EndedAndBegun) && l.link(p, false, false) == nil {
		l.n.links.Meshed(p, true)
		l.step(event.Meshed{Peer: wire.PeerID(p), In: true})
	}
}

// link makes a link of the connection to p, unless there is a link. The error says why there is none now. wanted means
// that this node asked for the link.
func (l *loop) link(p peer.ID, outbound, wanted bool) error { return l.linkIn(0, p, outbound, wanted) }

// linkIn does what link does. session is the number in the hello that began the peer's link; 0: no hello began it.
func (l *loop) linkIn(session uint64, p peer.ID, outbound, wanted bool) error {
	if l.links[p] != nil {
		return nil
	}
	if err := l.n.admit(p, wanted); err != nil {
		return err
	}
	if !l.n.reached(p) { // the connection has just ended
		l.n.links.Closed(p)
		return errParted
	}
	begun := &link{session: session, since: l.n.now(), pipe: l.n.pipes.To(p)}
	begun.ctx, begun.end = context.WithCancel(l.n.ctx)
	l.links[p] = begun
	links.Keep(l.n.host, p, false)
	l.step(event.LinkOpened{Peer: wire.PeerID(p), Group: l.n.groupOf(p), Outbound: outbound})
	l.n.tasks.Run(func() { l.n.mesh.Meet(p) })
	return nil
}

// greeted notes that hello was said with a linked peer: it took ours, or said its own.
func (l *loop) greeted(p peer.ID) {
	if link := l.links[p]; link != nil && !link.greeted {
		link.greeted = true
		delete(l.standing, p)
		l.n.events.emit(EvtLinkOpened{p})
	}
}

// unlink ends a link. Its connection is not touched.
func (l *loop) unlink(p peer.ID) { l.endLink(p, event.LinkClosed{Peer: wire.PeerID(p)}) }

// endLink forgets a link that has ended, and gives the core the input ended.
func (l *loop) endLink(p peer.ID, ended event.Input) {
	l.n.links.Unlink(p)
	link := l.links[p]
	if link == nil {
		return
	}
	l.setNeighbour(p, false)
	delete(l.links, p)
	link.end()
	link.pipe.Close()
	l.n.mesh.Unlinked(p)
	links.Release(l.n.host, p)
	l.step(ended)
	if link.greeted {
		l.n.events.emit(EvtLinkClosed{p})
	}
}

// message gives the core a message of pubsub or of tails.
func (l *loop) message(p *inbox.Message) {
	switch {
	case l.link(p.From, false, false) != nil:
		if p.Took != nil {
			p.Took <- inbox.Unverified{}
		}
	case p.Tails != nil:
		l.unverified.Took = p.Took
		l.step(tails.Received{From: wire.PeerID(p.From), Items: p.Tails, Waited: l.n.now() - p.Came, Opened: p.Opened})
	case p.Parts == nil:
		l.step(event.CatalogueReceived{From: wire.PeerID(p.From), Items: p.Catalogue, Bytes: p.Bytes})
	default:
		l.step(event.PartsReceived{
			From: wire.PeerID(p.From), Transport: p.Transport, Group: p.Group, Parts: *p.Parts, Bytes: p.Bytes, Came: p.Came,
		})
	}
}

// request gives the core a hello or a question that came on a stream.
func (l *loop) request(r any) {
	switch r := r.(type) {
	case gotHello:
		l.gotHello(r)
	case asked:
		l.checked = &r.held
		l.step(event.Asked{From: wire.PeerID(r.from), Group: r.group, Request: l.expect(r.reply), Question: r.question})
		l.checked = nil
	}
}

// expect notes that a stream waits for the core's answer, and returns the number of its request.
func (l *loop) expect(r reply) uint64 {
	l.lastReq++
	l.replies[l.lastReq] = r
	return l.lastReq
}

// result handles the result of an order of the core.
func (l *loop) result(r any) {
	switch r := r.(type) {
	case event.Input:
		l.step(r)
	case dialed:
		l.dialed(r)
	case saidHello:
		l.saidHello(r)
	case unreached:
		if !errors.Is(r.err, errFull) {
			l.stands(r.peer, ErrSilent, r.err)
		}
	case confirmed:
		l.confirmed(r)
	case built:
		r.of.built(l, r)
	}
}

// start begins a query.
func (l *loop) start(q routing.Query, held keyCheck, r *Results) {
	l.lastID++
	r.id, q.ID = l.lastID, l.lastID
	l.queries[r.id] = r
	l.checked = &held
	l.step(routing.Start{Query: q})
	l.checked = nil
}

// cancel ends a query, unless it is over.
func (l *loop) cancel(r *Results) {
	if l.queries[r.id] == r {
		l.step(routing.Cancel{ID: r.id})
	}
}

func (l *loop) finish(id routing.QueryID, s routing.Stats, err string) {
	if r := l.queries[id]; r != nil {
		l.n.metrics.ended(s)
		delete(l.queries, id)
		r.finish(queryStats(s), queryError(err))
	}
}

// forgetReplies forgets the streams that no longer wait for an answer. Otherwise questions that the core never answers
// would add up.
func (l *loop) forgetReplies() {
	for id, r := range l.replies {
		if r.gave() {
			delete(l.replies, id)
		}
	}
}
