package overlay

import (
	"math"
	"time"

	"github.com/venn-p2p/venn/overlay/exchange"
)

// onHello takes in what a peer says of itself: records are the directory's, rates the exchange's, and who is whose
// neighbour the topology's.
func (o *Overlay) onHello(now time.Duration, in HelloReceived) {
	if !o.exchange.IsLinked(in.Peer) {
		return
	}
	for _, r := range in.Hello.Records[:min(len(in.Hello.Records), MaxHelloRecords)] {
		if o.scope.depth > 0 && !o.scope.ownRange().Contains(exchange.PlaceOf(r.Peer)) && r.Peer != in.Peer {
			o.learnPeer(now, in.Peer, Named{Record: r, Depth: in.Hello.Depth})
			continue
		}
		if fault := o.directory.LearnRecord(now, in.Peer, r); fault != "" {
			o.effects.Emit(Report{Peer: in.Peer, Fault: fault})
		}
	}
	o.pass()
	first := o.exchange.Hear(now, in.Peer, in.Hello)
	o.scope.changed = true
	o.topology.Hear(now, in.Peer, in.Hello, o.directory.Lookup(in.Peer))
	o.act(now)
	if e := o.directory.Lookup(in.Peer); e != nil && !o.scope.starting(now) {
		if _, said := o.scope.depthOf(e); said {
			o.scope.keepContact(e) // it covers more than we: a search asks it first
		}
	}
	if first && o.exchange.Newcomer(in.Peer, o.directory.Origins()) {
		o.hello(now, in.Peer, exchange.SomeRecords)
	}
}

// hello tells a linked peer who we are.
func (o *Overlay) hello(now time.Duration, p PeerID, with exchange.Records) {
	o.sayHello(now, p, with, o.topology.IsNeighbour(p), o.topology.Full())
}

func (o *Overlay) sayHello(now time.Duration, p PeerID, with exchange.Records, neighbour, full bool) {
	h := o.exchange.Greet(now, p, Hello{
		FalseMatches: o.directory.FalseMatches(), Origins: o.directory.Origins(), Neighbour: neighbour, Full: full,
		Session: o.session, Records: o.recordsFor(with),
		Depth: o.scope.depth, Network: int(min(o.scope.size, math.MaxInt32)), Again: with == exchange.NoneAndAgain,
	})
	o.effects.Emit(SayHello{To: p, Hello: h})
}

// recordsFor picks the records of a hello: our own, and others at random as far as they fit.
func (o *Overlay) recordsFor(with exchange.Records) []Record {
	var out []Record
	if own := o.directory.Own().Record(); (with == exchange.OwnRecord || with == exchange.SomeRecords) && own.Envelope != nil {
		out = append(out, own)
	}
	if with != exchange.SomeRecords {
		return out
	}
	return append(out, o.directory.SomeRecords(MaxHelloRecords/2-len(out), o.exchange.RecordRoom(), exchange.RecordBytes)...)
}
