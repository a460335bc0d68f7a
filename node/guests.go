package node

import (
	"context"
	"fmt"
	"sync"

	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"

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
		handle(g.n.streams.Admit.Paid(g.n.ctx, s))
	}
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
