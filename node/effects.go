package node

import (
	"fmt"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/venn-p2p/venn/node/core"
	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/tails"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/routing"
)

// carryOut carries out an effect of the core, or has another goroutine do it.
func (l *loop) carryOut(e event.Effect) {
	switch e := e.(type) {
	case event.SendCatalogue:
		l.sendCatalogue(e)
	case event.SendParts:
		l.n.mesh.SendParts(peer.ID(e.To), e.Group, e.Append(nil))
	case tails.Send:
		l.sendTails(e)
	case tails.Unverified:
		l.unverified.Items = append(l.unverified.Items, e)
	case tails.Advanced:
		l.show(e.Origin, true)
		l.n.events.emit(EvtTailLearned{peer.ID(e.Origin), e.Epoch, e.Number, e.Added, e.Removed})
	case event.SayHello:
		l.sayHello(peer.ID(e.To), e.Hello)
	case event.Ask:
		l.ask(e)
	case event.Answer:
		l.answer(e)
	case event.Connect:
		l.n.tasks.Run(func() { l.n.connect(e.To) })
	case event.Protect:
		l.setNeighbour(peer.ID(e.Peer), true)
	case event.Disconnect:
		l.setNeighbour(peer.ID(e.Peer), false)
	case event.Audit:
		l.n.tasks.Run(func() { l.n.audit(e) })
	case event.Report:
		l.n.refuse(peer.ID(e.Peer), string(e.Fault), nil)
	case event.Learned:
		l.learn(e)
		l.show(e.Origin, false)
		l.n.events.emit(EvtSummaryLearned{peer.ID(e.Origin), e.Epoch, e.Parts})
	case routing.Found:
		l.found(e)
	case routing.Done:
		l.finish(e.ID, e.Stats, e.Err)
	case core.Seek:
		l.seek(e)
	case core.MakeTail:
		l.makeTail()
	case core.MakeEpoch:
		l.makeEpoch(e)
	case event.Wake:
		l.wake.Reset(e.At - l.n.now())
	default:
		panic(fmt.Sprintf("node: effect of type %T", e))
	}
}

// show tells all watchers that the node has learned more of a peer's keys: from a tail if tail is true, else a summary.
func (l *loop) show(p wire.PeerID, tail bool) {
	for w := range l.watchers {
		w.show(p, tail)
	}
}

// learn counts the bytes of parts learned. Parts that came as a delta are counted apart.
func (l *loop) learn(e event.Learned) {
	if e.Fallback {
		l.fallbacks++
	}
	if e.Delta == 0 {
		l.learned[e.Transport] += e.Bytes
		return
	}
	l.deltas++
	l.deltaBytes += e.Delta
	l.deltaFull += e.Bytes
}

func (l *loop) sendTails(e tails.Send) {
	if link := l.links[peer.ID(e.To)]; link != nil { // else an earlier effect of the core ended the link
		link.pipe.Send(wire.Tails(e.Items).Append(nil))
	}
}

func (l *loop) sendCatalogue(e event.SendCatalogue) {
	if l.links[peer.ID(e.To)] == nil { // an earlier effect of the core ended the link
		return
	}
	for items := e.Items; len(items) > 0; {
		k := min(len(items), wire.MaxItems)
		l.n.mesh.SendCatalogue(peer.ID(e.To), wire.Catalogue(items[:k]).Append(nil))
		items = items[k:]
	}
}

// found streams a holder to the caller of its query.
func (l *loop) found(e routing.Found) {
	r := l.queries[e.ID]
	if r == nil {
		return
	}
	r.add(l.n.addrInfo(e.Provider))
}

// addrInfo returns the addresses of a peer that has confirmed a key, from its record.
func (n *Node) addrInfo(r wire.Record) peer.AddrInfo {
	info := peer.AddrInfo{ID: peer.ID(r.Peer)}
	if signed, err := n.record(r.Envelope); err == nil && signed.ID == info.ID {
		return signed
	}
	info.Addrs = byIP(n.host.Peerstore().Addrs(info.ID)) // no record: the host knows addresses from a connection
	return info
}

// answer hands the core's answer to the stream that waits for it. If its queue is full, the stream gets no more.
func (l *loop) answer(e event.Answer) {
	r, ok := l.replies[e.Request]
	if !ok {
		return
	}
	a, search := e.Answer.(wire.Answer)
	final := !search || a.Final
	select {
	case r.answers <- e.Answer:
	default:
		l.n.counters.Drop("answers")
		final = true
	}
	if final {
		close(r.answers)
		delete(l.replies, e.Request)
	}
}
