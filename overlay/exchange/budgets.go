package exchange

import (
	"slices"
	"time"

	"github.com/venn-p2p/venn/overlay/directory"
	"github.com/venn-p2p/venn/overlay/space"
	"github.com/venn-p2p/venn/overlay/wire"
)

// LinkBudget is the budget of a link for summaries.
type LinkBudget struct {
	Peer    wire.PeerID
	Out, In float64 // bytes a second to the peer and from it, as declared or measured; 0 until it has said hello
	// Spent is the used share of the burst to the peer: 0 after a pause, 1 when nothing but a hello may go, and above 1
	// after a message larger than a burst.
	Spent float64
}

// Budgets holds the byte budgets for summaries, of the own line and of each link, and the bytes counted against them.
type Budgets struct {
	LineOut, LineIn float64 // bytes a second of the node's own line
	Sent, Received  uint64  // bytes counted so far; Received may exceed the bytes asked for
	Announced       uint64  // the part of Received that came as announcements
	Links           []LinkBudget
}

// Budgets returns the budgets at a time that is not before the last Step, links in the order of their peers.
func (x *Exchange) Budgets(now time.Duration) Budgets {
	b := Budgets{LineOut: x.up.rate, LineIn: x.down.rate, Sent: x.sent, Received: x.came, Announced: x.news}
	b.Links = make([]LinkBudget, len(x.links))
	for i, l := range x.links {
		out := l.out
		out.refill(now)
		b.Links[i] = LinkBudget{Peer: l.Peer, Out: out.rate, In: l.inRate, Spent: 1 - out.tokens/Burst(out.rate)}
	}
	return b
}

// LineIn returns the rate of summaries that the node's own line may receive, in bytes a second.
func (x *Exchange) LineIn() float64 { return x.down.rate }

// LineOut returns the rate of summaries that the node's own line may send, in bytes a second.
func (x *Exchange) LineOut() float64 { return x.up.rate }

// Room returns the number of bytes that may go to a linked peer now: what its link and the node's own line have left.
// now is not before the last Step. The room is below 0 after a message larger than a burst, and 0 without a link.
func (x *Exchange) Room(now time.Duration, p wire.PeerID) int {
	l := x.link(p)
	if l == nil {
		return 0
	}
	out, up := l.out, x.up
	out.refill(now)
	up.refill(now)
	return int(min(out.tokens, up.tokens))
}

// Rates returns the rates of summaries on a link, to the peer and from it, in bytes a second; 0 until it has said
// hello.
func (x *Exchange) Rates(p wire.PeerID) (out, in float64) {
	l := x.link(p)
	if l == nil {
		return 0, 0
	}
	return l.out.rate, l.inRate
}

// Idle reports whether no ask of a peer is outstanding.
func (x *Exchange) Idle(p wire.PeerID) bool {
	l := x.link(p)
	return l == nil || l.inFlight == 0
}

// Offered reports whether any link claims to hold parts of the entry with index i.
func (x *Exchange) Offered(i int) bool {
	return slices.ContainsFunc(x.links, func(l *link) bool { return l.trade(i).have > 0 })
}

// Offers reports whether a link whose word is enough offers parts of an entry of which nothing is held here.
func (x *Exchange) Offers(e *directory.Entry) bool {
	return e.Held() == nil && !e.Gone() && slices.ContainsFunc(x.links, func(l *link) bool {
		return l.trade(e.Index()).have > 0 && x.vouches(l, e)
	})
}

// OriginsSaid returns the largest number of peers that linked peers claim to know, without the third that claims most.
func (x *Exchange) OriginsSaid() int {
	said := make([]int, len(x.links))
	for i, l := range x.links {
		said[i] = l.Hello.Origins
	}
	return space.MostSaid(said, x.cfg.Limits.Boasters)
}
