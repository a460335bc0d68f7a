package exchange

import (
	"time"

	"github.com/venn-p2p/venn/overlay/agenda"
	"github.com/venn-p2p/venn/overlay/bound"
	"github.com/venn-p2p/venn/overlay/space"
	"github.com/venn-p2p/venn/overlay/wire"
)

// FewOrigins is the number of known peers below which a peer is a newcomer, which is sent records.
const FewOrigins = bound.Handful

// Records is the choice of records that go with a hello.
type Records uint8

const (
	// NoRecords is for peers that have them already.
	NoRecords Records = iota
	// OwnRecord is for peers that may not have our record.
	OwnRecord
	// SomeRecords stands for our own record and some of other peers.
	SomeRecords
	// NoneAndAgain sends no records, and asks the peer to announce all of our range again.
	NoneAndAgain
)

// Hear notes a peer's hello without its records, and sets the link's rates by it. first is set for the first hello on
// the link.
func (x *Exchange) Hear(now time.Duration, p wire.PeerID, h wire.Hello) (first bool) {
	l := x.link(p)
	x.at(now)
	if l.Heard && l.Hello.Session != h.Session {
		x.restarted(l)
	}
	first = !l.Heard
	wider := h.Depth < l.Hello.Depth
	l.Hello = h
	l.Hello.Records = nil
	l.Hello.Depth = min(max(h.Depth, 0), space.MaxDepth)
	if wider || h.Again {
		x.tellAgain(l, h.Again)
	}
	l.pace.report(h.Measured)
	if first { // bytes spent before the rate was known count
		spent := Burst(0) - l.out.tokens
		l.out = newBudget(x.outRate(l), now)
		l.out.tokens -= spent
	}
	l.Heard = true
	x.setRates(now, l)
	return first
}

// restarted forgets what was exchanged with a peer that has restarted and forgotten it, too. The peer's standing
// outlives the session, as it would the link.
func (x *Exchange) restarted(l *link) {
	x.part(x.now, l.standing)
	l.standing = x.recall(x.now, l.Peer)
	l.trades, l.wants = nil, nil
	l.untold.addAll(len(x.origins))
}

// Newcomer reports whether a peer knows far fewer peers than the given number of origins. A newcomer is sent some
// records. A peer that covers only a part of the network is no newcomer: it looks for the few peers that it wants.
func (x *Exchange) Newcomer(p wire.PeerID, origins int) bool { return x.link(p).newcomer(origins) }

func (l *link) newcomer(origins int) bool {
	return l.Hello.Depth == 0 && (l.Hello.Origins < FewOrigins || 4*l.Hello.Origins < origins)
}

// Greet fills in the rates in a hello to a peer, notes its contents, and charges its bytes, records included.
func (x *Exchange) Greet(now time.Duration, p wire.PeerID, h wire.Hello) wire.Hello {
	l := x.link(p)
	records := h.Records
	h.Up, h.Down, h.Measured, h.Records = x.cfg.DeclaredUp, x.cfg.DeclaredDown, x.measured(l), nil
	l.said, l.saidAt = said{h.FalseMatches, h.Origins, h.Network, h.Depth}, now
	if h.Measured > 0 {
		l.inPace.report(h.Measured)
		l.inTrain.forget()
		x.setRates(now, l)
	}
	h.Records = records
	x.charge(l, Cost(h))
	return h
}

// measured returns the measured rate of incoming trains for a hello, in bit/s; 0 if our line is declared.
func (x *Exchange) measured(l *link) uint64 {
	if x.cfg.DeclaredDown > 0 || !l.Heard {
		return 0
	}
	return l.inTrain.measured()
}

// RecordRoom returns the number of bytes of other peers' records that a hello, or the refusal of one, may carry.
// Records come before summaries: without records a newcomer finds nobody.
func (x *Exchange) RecordRoom() int { return int(noticeShare * Burst(x.up.rate)) }

// HelloDue reports whether another hello to a peer is due, because something that the peer acts upon has changed, and
// with which records. falseMatches, origins and network are the hello's contents. wide is set if our range is far wider
// than the ranges of others, which then act upon the share of it that we know. Peers choose their ranges by the size of
// the network, so one that has doubled is told after a second. A peer that hears of more origins than it knows counts
// itself as incomplete, so a small change of their number is told, too, but once a minute at most.
func (x *Exchange) HelloDue(now time.Duration, p wire.PeerID, falseMatches float64, origins, network int, wide bool) (with Records, due bool) {
	l := x.link(p)
	if since := now - l.saidAt; since < agenda.Patience {
		return NoRecords, since >= agenda.Beat && network > 2*max(l.said.network, FewOrigins)
	}
	if l.Heard && l.newcomer(origins) && origins > FewOrigins && !x.paceChanged(l) {
		return SomeRecords, true
	}
	due = x.paceChanged(l) || falseMatches < 0.5*l.said.falseMatches || falseMatches > 2*l.said.falseMatches ||
		origins > 2*l.said.origins || origins != l.said.origins && now >= l.saidAt+agenda.Seldom || wide && 3*origins > 4*l.said.origins ||
		x.directory.Range().Depth() != l.said.depth || network > FewOrigins && 2*network > 3*l.said.network
	return NoRecords, due
}

// paceChanged reports whether incoming trains show another rate than the one that both ends reckon with.
func (x *Exchange) paceChanged(l *link) bool {
	m := float64(x.measured(l))
	return m > 0 && (m > 1.25*l.inPace.rate || m < 0.8*l.inPace.rate && l.inPace.rate > leastRate)
}
