package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/venn-p2p/venn/node/defence"
	"github.com/venn-p2p/venn/node/internal/streams"
	"github.com/venn-p2p/venn/node/wire"
	"github.com/venn-p2p/venn/overlay"
)

// helloing is a hello under way on a link. While it is, further ones wait as one.
type helloing struct {
	next *overlay.Hello
	stop context.CancelFunc // the link has ended: the hello is not tried again
}

type saidHello struct {
	peer peer.ID
	of   *helloing
	rtt  time.Duration
	err  error
}

type gotHello struct {
	from  peer.ID
	hello overlay.Hello
}

// sayHello sends a hello when the one before has arrived.
func (l *loop) sayHello(p peer.ID, h overlay.Hello) {
	if under := l.hellos[p]; under != nil {
		under.wait(h)
		return
	}
	ctx, stop := context.WithCancel(l.n.ctx)
	under := &helloing{stop: stop}
	l.hellos[p] = under
	msg := wire.AppendHello(nil, h)
	l.n.tasks.Run(func() {
		defer stop()
		rtt, err := l.n.helloAgain(ctx, p, msg)
		l.n.in.Result(l.n.ctx, saidHello{p, under, rtt, err})
	})
}

// wait keeps the latest hello. It takes over Again and Records of the hello that it replaces; nobody repeats them.
func (u *helloing) wait(h overlay.Hello) {
	if u.next != nil {
		h.Again = h.Again || u.next.Again
		if len(h.Records) == 0 {
			h.Records = u.next.Records
		}
	}
	u.next = &h
}

// saidNoMore ends the hello under way on a link that has ended. On a new link with the peer it would come after the
// hello of that, and its failure would end that.
func (l *loop) saidNoMore(p peer.ID) {
	if under := l.hellos[p]; under != nil {
		under.stop()
		delete(l.hellos, p)
	}
}

func (l *loop) saidHello(s saidHello) {
	under := l.hellos[s.peer]
	if under != s.of { // of a link that has ended
		return
	}
	delete(l.hellos, s.peer)
	if s.err != nil {
		l.n.log.Debug("hello failed", "peer", s.peer, "err", s.err)
		l.rejected(s.peer)
	} else {
		l.greeted(s.peer)
		l.n.host.Peerstore().RecordLatency(s.peer, s.rtt)
		l.step(overlay.RoundTrip{Peer: overlay.PeerID(s.peer), RTT: s.rtt})
	}
	if under.next != nil && l.links[s.peer] {
		l.sayHello(s.peer, *under.next)
	}
}

// rejected ends a link with a peer that has never taken a hello, nor said one.
func (l *loop) rejected(p peer.ID) {
	if !l.links[p] || l.greets[p] {
		return
	}
	made := l.n.links.Made(p)
	l.unlink(p)
	l.step(overlay.DialFailed{Peer: overlay.PeerID(p)})
	if made {
		l.n.links.Closed(p)
		if !l.n.foreign(p) {
			l.n.tasks.Run(func() { _ = l.n.host.Network().ClosePeer(p) })
		}
	}
}

// helloPauses are those before a hello that failed is tried again: the other end may not quite have begun, or be busy.
// Without one, nothing is traded on the link.
var helloPauses = []time.Duration{250 * time.Millisecond, time.Second, 3 * time.Second, 5 * time.Second}

// helloAgain sends a hello, again and again for some ten seconds while the connection and ctx last.
func (n *Node) helloAgain(ctx context.Context, p peer.ID, msg []byte) (rtt time.Duration, err error) {
	for _, wait := range helloPauses {
		if rtt, err = n.hello(ctx, p, msg); err == nil || !n.reached(p) {
			return rtt, err
		}
		if pause(ctx, wait); ctx.Err() != nil {
			return 0, err
		}
	}
	return n.hello(ctx, p, msg)
}

// hello sends a hello and waits for the other end to close the stream, which takes one round trip.
func (n *Node) hello(ctx context.Context, p peer.ID, msg []byte) (rtt time.Duration, err error) {
	s, err := n.streams.Open(ctx, p, HelloID)
	if err != nil {
		return 0, err
	}
	defer func() { s.End(err) }()
	begun := time.Now()
	if err = s.Send(msg); err != nil {
		return 0, err
	}
	if err = s.CloseWrite(); err != nil {
		return 0, err
	}
	if _, err := s.Receive(0, streams.IOTime); !errors.Is(err, io.EOF) {
		return 0, fmt.Errorf("node: hello not taken: %w", err)
	}
	return time.Since(begun), nil
}

func (n *Node) serveHello(s *streams.Stream) error {
	b, err := s.Receive(wire.MaxHello, streams.IOTime)
	if err != nil {
		return err
	}
	h, err := wire.ParseHello(b)
	if err != nil {
		return err
	}
	if !n.cfg.off.Has(defence.OpenedOutside) {
		for _, r := range h.Records { // remembered, so that the loop need not verify it
			_, _ = n.cfg.headers.Record(r.Envelope)
		}
	}
	if !n.links.MayLink(s.Peer, time.Now()) {
		n.counters.Drop("links")
		return errFull
	}
	if !n.in.OfferRequest(s.Peer, gotHello{s.Peer, h}) {
		return streams.ErrBusy
	}
	return nil
}
