package sim

import (
	"slices"
	"time"

	"github.com/venn-p2p/venn/testnet/strategy"
)

// Model names, for tables and reports, what a simulated network leaves out.
const Model = "streams share lines in packets of 1,500 bytes, each stream alike; a lost packet costs a retransmission time; " +
	"congestion control, acknowledgements, NAT and the time to compute are left out, and all know somebody to connect with"

// packet is the number of bytes that a line carries of one stream before it turns to the next one: the content of a
// frame of Ethernet.
const packet = 1500

// lane distinguishes the streams between two peers, as package drive does. Messages of one lane stay in order.
type lane uint8

const (
	upkeepLane lane = iota
	queryLane
	shakingLane // a handshake; messages of the other two lanes wait until it is over
)

// laneOf returns the lane of a message.
func laneOf(m *strategy.Message) lane {
	if m.Query != 0 {
		return queryLane
	}
	return upkeepLane
}

// wire is the state that the streams of one connection share. Their packets arrive in the order in which they left.
type wire struct {
	latency time.Duration // to the peer; 0: not asked for yet
	ready   time.Duration // when the handshake is over: nothing else leaves before
	last    time.Duration // when the latest packet arrives
}

// line is one way of a peer's line. The streams that wait for it take turns, a packet's worth of bytes each.
type line struct {
	rate float64       // bytes a second
	free time.Duration // when all that was put on the line has passed
	ring []stream      // that wait, the next one first
	next time.Duration // of the next turn of one of them; always: none waits
}

// stream is the parcels that wait for a line in one lane to or from a peer, the next one first.
type stream struct {
	peer    strategy.ID
	life    uint32 // session of the sending peer; 0 for leaving messages
	lane    lane
	wire    *wire // of leaving messages; nil: of arriving ones, or of the answer to a handshake
	waiting []parcel
}

// parcel is something that a line carries: a message, a packet of one, a handshake, or the end of a connection.
type parcel struct {
	event
	left int // bytes that have not passed
}

// ready returns the earliest time of a stream's turn.
func (s *stream) ready() time.Duration {
	if s.wire == nil || s.lane == shakingLane {
		return 0
	}
	return s.wire.ready
}

// bytes returns the number of bytes of a stream that wait.
func (s *stream) bytes() (sum int) {
	for i := range s.waiting {
		sum += s.waiting[i].left
	}
	return sum
}

func newLine(rate uint64) line { return line{rate: float64(rate) / 8, next: always} }

// clear drops all that waits.
func (l *line) clear(now time.Duration) { l.ring, l.free, l.next = nil, now, always }

// takes returns the time that bytes take to pass.
func (l *line) takes(bytes int) time.Duration { return seconds(float64(bytes) / l.rate) }

// carry puts bytes on the line, behind all that is on it.
func (l *line) carry(now time.Duration, bytes int) { l.free = max(l.free, now) + l.takes(bytes) }

// fits reports whether a parcel of a stream can be put on the line at once: nothing waits, and both the parcel and the
// bytes still on the line before it are a packet at most.
func (l *line) fits(now time.Duration, s *stream, bytes int) bool {
	return len(l.ring) == 0 && bytes <= packet && s.ready() <= now && l.free <= now+l.takes(packet)
}

// wait has a parcel wait behind the others of its stream.
func (l *line) wait(s stream, p parcel) {
	at := slices.IndexFunc(l.ring, func(o stream) bool {
		return o.peer == s.peer && o.life == s.life && o.lane == s.lane && o.wire == s.wire
	})
	if at < 0 {
		l.ring, at = append(l.ring, s), len(l.ring)
	}
	l.ring[at].waiting = append(l.ring[at].waiting, p)
	l.plan()
}

// plan sets when the next turn is.
func (l *line) plan() {
	l.next = always
	for i := range l.ring {
		l.next = min(l.next, max(l.free, l.ring[i].ready()))
	}
}

// longest returns the matching stream with the most waiting bytes; nil: none matches.
func (l *line) longest(matches func(*stream) bool) (found *stream) {
	for i := range l.ring {
		if s := &l.ring[i]; matches(s) && (found == nil || s.bytes() > found.bytes()) {
			found = s
		}
	}
	return found
}

// turn gives the first stream that is ready its turn. It calls passed for every parcel of which some bytes pass.
func (n *node) turn(l *line) {
	at := slices.IndexFunc(l.ring, func(s stream) bool { return s.ready() <= n.now })
	if at < 0 {
		l.plan()
		return
	}
	s := l.ring[at]
	l.ring = slices.Delete(l.ring, at, at+1)
	for room := packet; room > 0 && len(s.waiting) > 0; {
		p := &s.waiting[0]
		bytes := min(p.left, room)
		l.carry(n.now, bytes)
		p.left, room = p.left-bytes, room-bytes
		n.passed(l, &s, p, bytes)
		if p.left == 0 {
			s.waiting[0] = parcel{}
			s.waiting = s.waiting[1:]
		}
	}
	if len(s.waiting) > 0 {
		l.ring = append(l.ring, s)
	}
	l.plan()
}

// put has a line carry an event's bytes: at once, or when its stream has its turn.
func (n *node) put(l *line, s stream, e *event, bytes int) {
	p := parcel{*e, bytes}
	if !l.fits(n.now, &s, bytes) {
		l.wait(s, p)
		return
	}
	l.carry(n.now, bytes)
	p.left = 0
	n.passed(l, &s, &p, bytes)
}

// passed handles bytes of a parcel that have been put on a line.
func (n *node) passed(l *line, s *stream, p *parcel, bytes int) {
	switch {
	case l == &n.down:
		if p.left == 0 {
			n.taken(&p.event)
		}
	case s.lane == shakingLane:
		if p.left == 0 && s.wire != nil {
			n.shaken(s, &p.event)
		}
	case p.kind == arrive:
		n.depart(s, p, bytes)
	default: // a request for a link, or the end of a connection
		e := p.event
		e.at = max(l.free+n.latencyOf(s), s.wire.last)
		if l.free <= n.leaves || e.kind == closed {
			n.emit(e)
		}
	}
}

// latencyOf returns the latency of a stream's connection.
func (n *node) latencyOf(s *stream) time.Duration {
	if s.wire.latency == 0 {
		s.wire.latency = n.sim.latency(n.id, s.peer)
	}
	return s.wire.latency
}

// shaken handles the departure of this end's part of a handshake: the connection is ready after its round trips.
func (n *node) shaken(s *stream, e *event) {
	s.wire.ready = n.up.free + 2*roundTrips*n.latencyOf(s)
	if e.kind == dialled && s.wire.ready <= n.leaves {
		e.at = s.wire.ready + n.latencyOf(s)
		n.emit(*e)
	}
}

// depart sends a packet of a message. Each loss of it costs a retransmission, which the packets behind it on the same
// connection wait for. The message comes with its last packet.
func (n *node) depart(s *stream, p *parcel, bytes int) {
	sent, latency := n.up.free, n.latencyOf(s)
	if sent > n.leaves {
		return
	}
	if n.sim.beyond(n.now, n.id, s.peer) {
		if p.left == 0 {
			n.unreachable(s.peer, &p.event)
		}
		return
	}
	for n.happens(n.sim.cfg.Loss) {
		sent += max(2*latency, leastRetransmission)
	}
	e := p.event
	e.at, e.packet = max(sent+latency, s.wire.last), uint16(bytes)
	if p.left > 0 {
		e.kind, e.msg = piece, strategy.Message{Query: e.msg.Query}
		s.wire.last = e.at
		n.emit(e)
		return
	}
	if n.happens(n.sim.cfg.Reordered) { // the ones behind it pass
		e.at += time.Duration(n.own.Float64() * float64(heldBack))
	} else {
		s.wire.last = e.at
	}
	n.emit(e)
	if n.happens(n.sim.cfg.Duplicated) {
		e.at += time.Duration(n.own.Float64() * float64(heldBack))
		n.emit(e)
	}
}

// unreachable has a message bounce, after the time to give up, from a peer that nothing reaches.
func (n *node) unreachable(to strategy.ID, e *event) {
	n.emit(event{at: n.now + n.sim.cfg.GiveUp, to: n.id, from: to, toLife: n.life, kind: bounce, msg: e.msg})
}

// taken handles the complete arrival of a packet, or of the end of a connection.
func (n *node) taken(e *event) {
	in := *e
	in.at = n.down.free
	switch e.kind {
	case arrive:
		in.kind = receive
	case closed:
		in.kind = ended
	default:
		return
	}
	n.soon(&in)
}

// soon plans an event of this peer, in this window or a later one. It passes it on unchanged: emit would set this peer
// as its origin.
func (n *node) soon(e *event) {
	if e.at < n.share.end {
		n.share.due = append(n.share.due, *e)
		return
	}
	n.do(e)
}
