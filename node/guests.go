package node

import (
	"context"
	"fmt"
	"sync"

	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"

	"github.com/venn-p2p/venn/node/internal/admit"
	"github.com/venn-p2p/venn/node/internal/streams"
)

// guests is the host that [Node.Host] returns. It remembers the guests: protocols that are opened or served by it.
type guests struct {
	host.Host
	n *Node

	accepts sync.Map // from protocol.ID to func(protocol.ID) bool, which reports whether a protocol is the guest's
}

// NewStream opens a stream to a peer. If need be, it connects at the addresses of the peer's newest signed record.
func (g *guests) NewStream(ctx context.Context, p peer.ID, ids ...protocol.ID) (network.Stream, error) {
	for _, id := range ids {
		g.accepts.LoadOrStore(id, is(id))
	}
	err := streams.ErrFiltered
	if !g.n.barred(p) {
		err = g.n.reachKnown(ctx, p)
	}
	if err != nil {
		return nil, fmt.Errorf("node: stream to %s: %w", p, err)
	}
	return g.Host.NewStream(network.WithNoDial(ctx, "venn dials by certified addresses"), p, ids...)
}

// SetStreamHandler serves a protocol to peers that are not barred.
func (g *guests) SetStreamHandler(id protocol.ID, handle network.StreamHandler) {
	g.SetStreamHandlerMatch(id, is(id), handle)
}

// SetStreamHandlerMatch serves the protocols that match accepts to peers that are not barred.
func (g *guests) SetStreamHandlerMatch(id protocol.ID, match func(protocol.ID) bool, handle network.StreamHandler) {
	g.accepts.Store(id, match)
	g.Host.SetStreamHandlerMatch(id, match, g.admitted(handle))
}

// admitted returns a handler that resets the streams of barred peers, and hands on the others: their peers pay.
func (g *guests) admitted(handle network.StreamHandler) network.StreamHandler {
	return func(s network.Stream) {
		if g.n.barred(s.Conn().RemotePeer()) {
			_ = s.Reset()
			return
		}
		handle(paid{s, g.n.streams.Admit.Of(s.Conn()), g.n.ctx})
	}
}

// paid is a stream that a peer has opened for a guest. The peer pays for what the node reads from it and for each write.
// So who asks a guest for as much as it can gets no more than its share.
type paid struct {
	network.Stream
	by  *admit.Stream
	ctx context.Context // ends with the node
}

// Read reads from the stream, and waits until the peer has paid for the bytes.
func (s paid) Read(b []byte) (int, error) {
	k, err := s.Stream.Read(b)
	if late := s.by.PayLate(s.ctx, s.by.Reading(k)); err == nil {
		err = late
	}
	return k, err
}

// Write writes to the stream once the peer has paid for it.
func (s paid) Write(b []byte) (int, error) {
	if err := s.by.PayLate(s.ctx, admit.Open); err != nil {
		return 0, err
	}
	return s.Stream.Write(b)
}

func is(id protocol.ID) func(protocol.ID) bool {
	return func(other protocol.ID) bool { return other == id }
}

// has reports whether a protocol is a guest.
func (g *guests) has(id protocol.ID) (is bool) {
	g.accepts.Range(func(_, accepts any) bool {
		is = accepts.(func(protocol.ID) bool)(id)
		return !is
	})
	return is
}

// open returns the streams of guests with a peer.
func (g *guests) open(p peer.ID) (all []network.Stream) {
	for _, c := range g.Network().ConnsToPeer(p) {
		for _, s := range c.GetStreams() {
			if g.has(s.Protocol()) {
				all = append(all, s)
			}
		}
	}
	return all
}
