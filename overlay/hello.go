package overlay

import (
	"math"
	"slices"
	"time"

	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/exchange"
	"github.com/venn-p2p/venn/overlay/region"
	"github.com/venn-p2p/venn/overlay/topology"
	"github.com/venn-p2p/venn/overlay/wire"
)

// onHello passes on the contents of a linked peer's hello: its records to the directory, its rates to the exchange, and
// the neighbourhood that it declares to the topology.
func (o *Overlay) onHello(now time.Duration, in event.HelloReceived) {
	if !o.directory.IsLinked(in.Peer) {
		return
	}
	for _, r := range in.Hello.Records[:min(len(in.Hello.Records), wire.MaxHelloRecords)] {
		if !o.region.Range().Contains(r.Peer.Place()) && r.Peer != in.Peer {
			depth := in.Hello.Depth
			if o.region.Wider(in.Hello) { // few of the peers that it names cover as much as it does
				depth = o.region.Depth()
			}
			o.learnPeer(now, in.Peer, wire.Named{Record: r, Depth: depth})
			continue
		}
		o.learnRecord(now, in.Peer, r)
	}
	o.pass()
	first := o.exchange.Hear(now, in.Peer, in.Hello)
	o.topology.Hear(now, in.Peer, in.Hello, o.region.Wider(in.Hello) && o.wideNeighbours() >= mostWide)
	o.act(now)
	o.region.Hear(now, in.Peer)
	if first && o.exchange.Newcomer(in.Peer, o.directory.Origins()) {
		o.hello(now, in.Peer, exchange.SomeRecords)
	}
}

// learnRecord has the directory keep a peer's record, that the peer from sent.
func (o *Overlay) learnRecord(now time.Duration, from wire.PeerID, r wire.Record) {
	if fault := o.directory.LearnRecord(now, from, r); fault != "" {
		o.effects.Emit(event.Report{Peer: from, Fault: fault})
	}
}

// onHelloRefused answers the hello of a peer for which there is no room. It names peers that may have room. If it knows
// nobody to name, it brings our own summary. It also keeps the peer's record, so that the peer can be named to others.
func (o *Overlay) onHelloRefused(now time.Duration, in event.Asked, h wire.Hello) {
	names := wire.Names{Depth: o.region.Vouched(), Peers: o.roomy(in.From)}
	if len(names.Peers) == 0 {
		names.Introductions = o.region.Introduction(in.From)
	}
	if !o.answer(now, in, names) {
		return
	}
	if names.Introductions != nil {
		o.region.Introduced(in.From)
	}
	for _, r := range h.Records[:min(len(h.Records), 1)] {
		if r.Peer == in.From {
			o.region.Learned(o.learnPeer(now, in.From, wire.Named{Record: r, Depth: h.Depth}))
		}
	}
}

// roomy returns peers that may have room for a link with p: linked ones that have not declared that they are full, then
// others at random.
func (o *Overlay) roomy(p wire.PeerID) (out []wire.Named) {
	room := o.exchange.RecordRoom()
	name := func(r wire.Record, depth int) (more bool) {
		if room -= exchange.RecordBytes(r); room < 0 {
			return false
		}
		out = append(out, wire.Named{Record: r, Depth: depth})
		return len(out) < wire.MaxNamed
	}
	linked := slices.Clone(o.directory.Links())
	o.cfg.Rand.Shuffle(len(linked), func(i, j int) { linked[i], linked[j] = linked[j], linked[i] })
	for _, l := range linked {
		r, known := o.directory.RecordOf(l.Peer)
		if l.Peer != p && l.Heard && !l.Hello.Full && known && !name(r, l.Hello.Depth) {
			return out
		}
	}
	for r := range o.directory.Drawn {
		_, said := o.directory.Said(r.Peer)
		if r.Peer != p && !said && !name(r, o.region.Depth()) { // the depth of others is a guess
			return out
		}
	}
	return out
}

// onLinkRefused handles a linked peer's refusal of the link for lack of room. The peers that it names become candidates
// in its place, and its summary is known without a link.
func (o *Overlay) onLinkRefused(now time.Duration, in event.LinkRefused) {
	if !o.directory.IsLinked(in.Peer) {
		return
	}
	o.learnNames(now, in.Peer, in.Names)
	o.topology.Refused(now, in.Peer)
	o.act(now)
}

// mostWide caps the inbound neighbours that cover far more than we do. Where many peers are strong, each of them would
// otherwise have a link to everybody.
const mostWide = region.RangeLinks

// wideNeighbours returns the number of inbound neighbours that cover far more than we do.
func (o *Overlay) wideNeighbours() (n int) {
	for _, l := range o.directory.Links() {
		if k, is := o.topology.KindOf(l.Peer); is && k == topology.Inbound && l.Heard && o.region.Wider(l.Hello) {
			n++
		}
	}
	return n
}

// hello sends a linked peer a hello with the records that with selects.
func (o *Overlay) hello(now time.Duration, p wire.PeerID, with exchange.Records) {
	o.sayHello(now, p, with, o.topology.IsNeighbour(p), o.topology.Full())
}

func (o *Overlay) sayHello(now time.Duration, p wire.PeerID, with exchange.Records, neighbour, full bool) {
	h := o.exchange.Greet(now, p, wire.Hello{
		FalseMatches: o.directory.FalseMatches(), Origins: o.directory.Origins(), Neighbour: neighbour, Full: full,
		Session: o.session, Records: o.recordsFor(with),
		Depth: o.region.Depth(), Network: int(min(o.region.Size(), math.MaxInt32)), Again: with == exchange.NoneAndAgain,
		Seed: o.cfg.Seed.Number, Tails: o.cfg.Tails,
	})
	o.effects.Emit(event.SayHello{To: p, Hello: h})
}

// recordsFor picks the records of a hello: our own, and others at random as far as they fit.
func (o *Overlay) recordsFor(with exchange.Records) []wire.Record {
	var out []wire.Record
	if own := o.directory.Own().Record(); (with == exchange.OwnRecord || with == exchange.SomeRecords) && own.Envelope != nil {
		out = append(out, own)
	}
	if with != exchange.SomeRecords {
		return out
	}
	room := o.exchange.RecordRoom()
	for r := range o.directory.Drawn {
		if room -= exchange.RecordBytes(r); room < 0 || len(out) == wire.MaxHelloRecords/2 {
			break
		}
		out = append(out, r)
	}
	return out
}
