package overlay

import (
	"math"
	"time"

	"github.com/venn-p2p/venn/overlay/exchange"
	"github.com/venn-p2p/venn/overlay/topology"
)

// onHello takes in what a peer says of itself: records are the directory's, rates the exchange's, and who is whose
// neighbour the topology's.
func (o *Overlay) onHello(now time.Duration, in HelloReceived) {
	if !o.exchange.IsLinked(in.Peer) {
		return
	}
	for _, r := range in.Hello.Records[:min(len(in.Hello.Records), MaxHelloRecords)] {
		if !o.scope.Range().Contains(exchange.PlaceOf(r.Peer)) && r.Peer != in.Peer {
			depth := in.Hello.Depth
			if o.scope.Wider(in.Hello) { // few of those that it knows are as it is
				depth = o.scope.Depth()
			}
			o.learnPeer(now, in.Peer, Named{Record: r, Depth: depth})
			continue
		}
		if fault := o.directory.LearnRecord(now, in.Peer, r); fault != "" {
			o.effects.Emit(Report{Peer: in.Peer, Fault: fault})
		}
	}
	o.pass()
	first := o.exchange.Hear(now, in.Peer, in.Hello)
	o.topology.Hear(now, in.Peer, in.Hello, o.directory.Lookup(in.Peer), o.scope.Wider(in.Hello) && o.wideNeighbours() >= mostWide)
	o.act(now)
	o.scope.Hear(now, in.Peer)
	if first && o.exchange.Newcomer(in.Peer, o.directory.Origins()) {
		o.hello(now, in.Peer, exchange.SomeRecords)
	}
}

// mostWide is how many of those who chose us may cover far more than we. Where many peers are strong, each of them
// would have a link to everybody.
const mostWide = 4

// wideNeighbours is how many of those who chose us cover far more than we.
func (o *Overlay) wideNeighbours() (n int) {
	for _, p := range o.exchange.Linked() {
		if k, is := o.topology.KindOf(p); is && k == topology.Inbound {
			if h, said := o.exchange.Said(p); said && o.scope.Wider(h) {
				n++
			}
		}
	}
	return n
}

// hello tells a linked peer who we are.
func (o *Overlay) hello(now time.Duration, p PeerID, with exchange.Records) {
	o.sayHello(now, p, with, o.topology.IsNeighbour(p), o.topology.Full())
}

func (o *Overlay) sayHello(now time.Duration, p PeerID, with exchange.Records, neighbour, full bool) {
	h := o.exchange.Greet(now, p, Hello{
		FalseMatches: o.directory.FalseMatches(), Origins: o.directory.Origins(), Neighbour: neighbour, Full: full,
		Session: o.session, Records: o.recordsFor(with),
		Depth: o.scope.Depth(), Network: int(min(o.scope.Size(), math.MaxInt32)), Again: with == exchange.NoneAndAgain,
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
