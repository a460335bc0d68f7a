package overlay

import "time"

// LinkBudget is what a link carries for summaries.
type LinkBudget struct {
	Peer    PeerID
	Out, In float64 // bytes a second to the peer and from it, as declared or measured; 0 until it has said hello
	// Spent is the share of the burst to the peer that is used up: 0 after a pause, 1 when nothing may go but a hello, above
	// it when a message was larger than a burst.
	Spent float64
}

// Budgets is what lines and links carry for summaries, and what they have carried.
type Budgets struct {
	LineOut, LineIn float64 // bytes a second of the node's own line
	Sent, Received  uint64  // bytes so far that counted: what came may be more than was asked for
	Links           []LinkBudget
}

// Budgets returns the budgets at a time that is not before the last Step, links in the order of their peers.
func (o *Overlay) Budgets(now time.Duration) Budgets {
	b := Budgets{LineOut: o.up.rate, LineIn: o.down.rate, Sent: o.sent, Received: o.received}
	b.Links = make([]LinkBudget, len(o.order))
	for i, l := range o.order {
		out := l.out
		out.refill(now)
		b.Links[i] = LinkBudget{Peer: l.peer, Out: out.rate, In: l.inRate, Spent: 1 - out.tokens/Burst(out.rate)}
	}
	return b
}
