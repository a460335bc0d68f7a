package node

import (
	"context"
	"fmt"
	"slices"
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

	mu      sync.Mutex
	ids     []protocol.ID
	matches []func(protocol.ID) bool
}

// NewStream opens a stream to a peer. If need be, it connects at the addresses of the peer's newest signed record.
func (g *guests) NewStream(ctx context.Context, p peer.ID, ids ...protocol.ID) (network.Stream, error) {
	g.add(ids...)
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
	g.add(id)
	g.Host.SetStreamHandler(id, g.unlessBarred(handle))
}

// SetStreamHandlerMatch serves the protocols that match accepts to peers that are not barred.
func (g *guests) SetStreamHandlerMatch(id protocol.ID, match func(protocol.ID) bool, handle network.StreamHandler) {
	g.mu.Lock()
	g.matches = append(g.matches, match)
	g.mu.Unlock()
	g.Host.SetStreamHandlerMatch(id, match, g.unlessBarred(handle))
}

// unlessBarred returns a handler that resets the streams of barred peers, and hands on the others.
func (g *guests) unlessBarred(handle network.StreamHandler) network.StreamHandler {
	return func(s network.Stream) {
		if g.n.barred(s.Conn().RemotePeer()) {
			_ = s.Reset()
			return
		}
		handle(s)
	}
}

// add remembers protocols as guests.
func (g *guests) add(ids ...protocol.ID) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, id := range ids {
		if !slices.Contains(g.ids, id) {
			g.ids = append(g.ids, id)
		}
	}
}

// has reports whether a protocol is a guest.
func (g *guests) has(id protocol.ID) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	accepts := func(match func(protocol.ID) bool) bool { return match(id) }
	return slices.Contains(g.ids, id) || slices.ContainsFunc(g.matches, accepts)
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
