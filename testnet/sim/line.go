package sim

import (
	"slices"
	"time"

	"github.com/venn-p2p/venn/testnet/strategy"
	"github.com/venn-p2p/venn/testnet/strategy/links"
)

// Model tells, for tables and reports, how a simulated network differs from a real one.
const Model = "streams share lines in packets of 1,500 bytes, each stream alike; a lost packet costs a retransmission time; " +
	"congestion control, acknowledgements, NAT and the time to compute are left out, and all know somebody to connect with"

// packet is the number of bytes of one stream that a line carries before it turns to the next stream: the content
// of an Ethernet frame.
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

// wire is the state that the streams of one connection share. Their packets arrive in the order in which they
// left.
type wire struct {
	latency time.Duration // latency to the peer; 0: not read from Config yet
	ready   time.Duration // when the handshake is over; no other packet leaves before
	last    time.Duration // when the latest packet arrives
}

// line is one direction of a peer's line. The streams that wait for it take turns, a packet's worth of bytes
// each.
type line struct {
	rate float64       // bytes a second
	free time.Duration // when all bytes put on the line so far have passed
	ring []stream      // streams that wait, the next one first
	next time.Duration // time of the next stream's turn; always: no stream waits
}

// stream queues the parcels of one lane, to or from one peer, that wait for a line. The next parcel is first.
type stream struct {
	peer    strategy.ID
	life    uint32 // session of the sending peer; 0 for leaving messages
	lane    lane
	wire    *wire // the connection of leaving messages; nil: for arriving ones, and for the answer to a handshake
	waiting []parcel
}

// parcel is a unit that a line carries. It is a message that leaves, a packet that arrives, a handshake, a request
// for a link, or the end of a connection.
type parcel struct {
	event
	left int // bytes that were not put on the line yet
}

// ready returns the earliest time at which a stream may take its turn.
func (s *stream) ready() time.Duration {
	if s.wire == nil || s.lane == shakingLane {
		return 0
	}
	return s.wire.ready
}

// bytes returns the number of bytes that wait in the stream.
func (s *stream) bytes() (sum int) {
	for i := range s.waiting {
		sum += s.waiting[i].left
	}
	return sum
}

func newLine(rate uint64) line { return line{rate: float64(rate) / 8, next: always} }

// clear drops all waiting parcels, and frees the line.
func (l *line) clear(now time.Duration) { l.ring, l.free, l.next = nil, now, always }

// takes returns the time that a number of bytes takes to pass.
func (l *line) takes(bytes int) time.Duration { return seconds(float64(bytes) / l.rate) }

// carry puts bytes on the line, behind the bytes that are on it.
func (l *line) carry(now time.Duration, bytes int) { l.free = max(l.free, now) + l.takes(bytes) }

// fits reports whether a parcel of a stream can be put on the line at once. No stream may wait, the connection must
// be ready, and the parcel must have at most a packet's bytes. The line must be free within a packet's time.
func (l *line) fits(now time.Duration, s *stream, bytes int) bool {
	return len(l.ring) == 0 && bytes <= packet && s.ready() <= now && l.free <= now+l.takes(packet)
}

// wait adds a parcel to the end of its stream.
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

// plan sets the time of the next turn.
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

// turn lets the first stream that is ready put up to a packet's bytes on the line. It calls passed for every
// parcel, or part of one, that is put on.
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

// put has a line carry an event's bytes: at once if they fit, else when the stream has its turn.
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

// passed handles bytes of a parcel that were put on a line.
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

// shaken handles the departure of this end's part of a handshake. The connection is ready after the round trips.
func (n *node) shaken(s *stream, e *event) {
	s.wire.ready = n.up.free + 2*roundTrips*n.latencyOf(s)
	if e.kind == dialled && s.wire.ready <= n.leaves {
		e.at = s.wire.ready + n.latencyOf(s)
		n.emit(*e)
	}
}

// depart sends a packet of a message. Each loss delays it, and the packets behind it on the same connection, by a
// retransmission time. The last packet has the message.
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
	if n.happens(n.sim.cfg.Reordered) { // packets behind it overtake it
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

// unreachable has a message to a peer that cannot be reached bounce, after the time to give up.
func (n *node) unreachable(to strategy.ID, e *event) {
	n.emit(event{at: n.now + links.GiveUp, to: n.id, from: to, toLife: n.life, kind: bounce, msg: e.msg})
}

// taken handles a packet, or the end of a connection, that has passed the line down.
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

// soon plans an event for this peer, in this window or a later one. It leaves the event as it is: emit would set
// this peer's session in place of the sender's.
func (n *node) soon(e *event) {
	if e.at < n.share.end {
		n.share.due = append(n.share.due, *e)
		return
	}
	n.do(e)
}
