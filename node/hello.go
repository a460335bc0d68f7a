package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/venn-p2p/venn/node/internal/admit"
	"github.com/venn-p2p/venn/node/internal/streams"
	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/wire"
)

type saidHello struct {
	peer peer.ID
	on   *link
	took tookHello
	err  error
}

// tookHello is the answer to a hello.
type tookHello struct {
	rtt  time.Duration
	full *wire.Names // the other end has no room for the link, and names others; nil: it took the hello
}

type gotHello struct {
	from  peer.ID
	on    network.Conn
	hello wire.Hello
}

// vain reports whether the other end has no room, and names no peer that may have room. It may have room itself soon.
func (t tookHello) vain() bool { return t.full != nil && len(t.full.Peers) == 0 }

// sayHello sends a hello on a link: at once, or when the hello under way is over.
func (l *loop) sayHello(p peer.ID, h wire.Hello) {
	link := l.links[p]
	switch {
	case link == nil:
		return
	case link.saying:
		link.wait(h)
		return
	}
	link.saying = true
	h.New = !link.greeted && link.session == 0
	l.n.tasks.Run(func() {
		took, err := l.n.helloAgain(link.ctx, p, h)
		l.n.in.Result(l.n.ctx, saidHello{p, link, took, err})
	})
}

// wait keeps the latest hello. It takes over Again and Records of the hello that it replaces; nobody repeats them.
func (l *link) wait(h wire.Hello) {
	if l.next != nil {
		h.Again = h.Again || l.next.Again
		if len(h.Records) == 0 {
			h.Records = l.next.Records
		}
	}
	l.next = &h
}

// saidHello handles the result of a hello that this node sent, and then sends the hello that waits, if any.
func (l *loop) saidHello(s saidHello) {
	if l.links[s.peer] != s.on { // the hello's link has ended
		return
	}
	next := s.on.next
	s.on.saying, s.on.next = false, nil
	switch {
	case s.err != nil:
		l.n.log.Debug("hello failed", "peer", s.peer, "err", s.err)
		l.rejected(s.peer, s.err)
	case s.took.full != nil:
		l.turnedAway(s.peer, *s.took.full)
	default:
		l.greeted(s.peer)
		l.n.host.Peerstore().RecordLatency(s.peer, s.took.rtt)
		l.step(event.RoundTrip{Peer: wire.PeerID(s.peer), RTT: s.took.rtt})
	}
	if next != nil {
		l.sayHello(s.peer, *next)
	}
}

// turnedAway ends a link with a peer that has no room for it. The core goes on with the peers that it names.
func (l *loop) turnedAway(p peer.ID, names wire.Names) {
	l.step(event.LinkRefused{Peer: wire.PeerID(p), Names: names})
	l.unlink(p)
	l.n.links.SetQuestionsOnly(p)
	l.stands(p, ErrFull, nil)
}

// rejected ends a link with a peer that has neither taken a hello of ours nor said one.
func (l *loop) rejected(p peer.ID, err error) {
	if l.links[p] == nil || l.links[p].greeted {
		return
	}
	l.stands(p, ErrSilent, err)
	l.giveUp(p)
	l.step(event.DialFailed{Peer: wire.PeerID(p)})
}

// A hello that failed, or was in vain, is tried again after a pause, which doubles: the other end may not quite have
// begun, or be busy. Without a hello, nothing is traded on the link. The pauses are random, from half to one and a half
// times as long, so that many peers that were turned away do not come back at the same time.
const (
	helloPause  = 250 * time.Millisecond // first pause, on average
	helloWithin = 10 * time.Second       // longest time of all pauses together
)

// helloAgain sends a hello, up to some six times, while the connection and ctx last.
func (n *Node) helloAgain(ctx context.Context, p peer.ID, h wire.Hello) (took tookHello, err error) {
	retry(ctx, helloPauses, func() bool {
		took, err = n.hello(ctx, p, h)
		return err == nil && !took.vain() || !n.reached(p)
	})
	return took, err
}

// helloPauses yields the pauses between hellos.
func helloPauses(yield func(time.Duration) bool) {
	paused := time.Duration(0)
	for wait := helloPause; ; wait *= 2 {
		drawn := wait/2 + rand.N(wait)
		if paused += drawn; paused > helloWithin || !yield(drawn) {
			return
		}
	}
}

// hello sends a hello and waits for the other end to close the stream, which takes one round trip. If the other end has
// no room for the link, it first names other peers.
func (n *Node) hello(ctx context.Context, p peer.ID, h wire.Hello) (took tookHello, err error) {
	err = n.put(ctx, p, HelloID, h, func(s *streams.Stream) error {
		begun := time.Now()
		if err := s.CloseWrite(); err != nil {
			return err
		}
		names, err := n.receiveNames(s, HelloID)
		switch {
		case errors.Is(err, io.EOF):
			took.rtt = time.Since(begun)
		case err != nil:
			return fmt.Errorf("node: hello not taken: %w", err)
		default:
			took.full = &names
		}
		return nil
	})
	return took, err
}

// gotHello handles a peer's hello, which begins a link, ends it, or has news of it.
func (l *loop) gotHello(h gotHello) {
	if h.hello.Parted {
		if l.links[h.from] != nil {
			l.turnedAway(h.from, wire.Names{})
		}
		return
	}
	l.n.in.Take(l.stateChanged) // the end of an earlier link came before this hello
	l.restarted(h)
	answers := h.hello.Session
	if !h.hello.New { // the peer's link is older: our first hello will be New, so that the peer begins again, too
		answers = 0
	}
	if l.linkIn(answers, h.from, false, false) == nil {
		l.links[h.from].session = h.hello.Session
		l.greeted(h.from)
		l.step(event.HelloReceived{Peer: wire.PeerID(h.from), Hello: h.hello})
	}
}

// restarted ends our link with a peer that has begun the link again: its session is new, or its hello says New though
// it has said hello before. Such a peer does not know what we exchanged. If the session is new, restarted also abandons
// the connections opened before: they belong to a process that has ended without a word.
func (l *loop) restarted(h gotHello) {
	known := l.linked(h.from).session
	if known == 0 || known == h.hello.Session && !h.hello.New {
		return
	}
	l.unlink(h.from)
	if known == h.hello.Session {
		return
	}
	l.n.tasks.Run(func() {
		for _, c := range l.n.host.Network().ConnsToPeer(h.from) {
			if c.Stat().Opened.Before(h.on.Stat().Opened) {
				l.n.abandon(c)
			}
		}
	})
}

// helloPrice returns the price of a hello: of its records, and of an inquiry, because a refused hello gets names, too.
func helloPrice(h wire.Hello) time.Duration {
	return admit.Inquiry + time.Duration(len(h.Records))*admit.Signature
}

// serveHello hands a peer's hello to the loop if there is room for a link. Otherwise it refuses the hello.
func (n *Node) serveHello(s *streams.Stream, h wire.Hello) error {
	got := gotHello{s.Peer, s.Conn(), h}
	if h.Parted {
		return n.in.Request(s.Context(), got)
	}
	linked := n.links.Linked(s.Peer)
	if n.admit(s.Peer, false) != nil {
		return n.refuseHello(s, h)
	}
	n.verifyOutside(h.Records...)
	err := n.in.Request(s.Context(), got)
	if err != nil && !linked {
		n.links.Unlink(s.Peer)
	}
	return err
}

// groupOf returns the address group of a peer that this node has a connection with.
func (n *Node) groupOf(p peer.ID) string { return admit.Principal(n.host.Network(), p).Group }

// admit makes room for a link with a peer. It returns ErrFiltered for one that is barred, or of another network, and
// errFull if nothing gives way. wanted means that this node asked for the link. The loop makes the link.
func (n *Node) admit(p peer.ID, wanted bool) error {
	if n.barred(p) || n.ofOtherNetwork(p) {
		return fmt.Errorf("%w: %s", streams.ErrFiltered, p)
	}
	evict, ok := n.links.Link(p, n.groupOf(p), wanted, n.now())
	n.letGo(evict)
	if !ok {
		n.counters.Drop("links")
		return errFull
	}
	return nil
}

// part tells a peer that its link has given way to another. Else the peer would count on it until its next hello.
func (n *Node) part(p peer.ID) {
	n.tasks.Run(func() {
		ctx, cancel := context.WithTimeout(n.ctx, streams.IOTime)
		defer cancel()
		if _, err := n.hello(ctx, p, wire.Hello{Parted: true}); err != nil {
			n.log.Debug("not parted", "peer", p, "err", err)
		}
	})
}

// verifyOutside verifies records outside the loop. The cache remembers the valid ones for the loop.
func (n *Node) verifyOutside(records ...wire.Record) {
	for _, r := range records {
		_, _ = n.cfg.headers.Record(r.Envelope)
	}
}

// openOutside verifies the headers and the records of parts outside the loop, as verifyOutside does.
func (n *Node) openOutside(all ...wire.Parts) {
	for _, p := range all {
		_, _ = n.cfg.headers.Header(p.Envelope)
		n.verifyOutside(wire.Record{Envelope: p.Record})
	}
}

// refuseHello answers the hello of a peer for whose link there is no room. Of the records in the hello it uses only the
// peer's own.
func (n *Node) refuseHello(s *streams.Stream, h wire.Hello) error {
	own := slices.IndexFunc(h.Records, func(r wire.Record) bool { return peer.ID(r.Peer) == s.Peer })
	if own < 0 {
		h.Records = nil
	} else {
		h.Records = h.Records[own : own+1]
	}
	n.verifyOutside(h.Records...)
	return n.relay(s, asked{question: h}, 1, streams.TransferTime)
}
