package node

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/p2p/protocol/ping"
)

// Disconnect closes the connections to a peer. Either side may connect again, if it chooses the other as a neighbour.
// The errors: ErrUnknown when there is no connection, ErrClosed, ctx's.
func (n *Node) Disconnect(ctx context.Context, p peer.ID) error {
	if err := n.alive(ctx); err != nil {
		return err
	}
	if len(n.host.Network().ConnsToPeer(p)) == 0 {
		return ErrUnknown
	}
	if err := n.host.Network().ClosePeer(p); err != nil {
		return fmt.Errorf("node: disconnect from %s: %w", p, err)
	}
	return nil
}

// Ping measures a round trip to a peer by libp2p's ping. If need be, it connects at the addresses of the peer's newest
// signed record. The errors: ErrUnknown for a peer that is not connected and of which no record is held, ErrClosed,
// ctx's, the host's.
func (n *Node) Ping(ctx context.Context, p peer.ID) (time.Duration, error) {
	if err := n.reachKnown(ctx, p); err != nil {
		return 0, fmt.Errorf("node: ping %s: %w", p, err)
	}
	ctx, cancel := context.WithCancel(network.WithNoDial(ctx, "venn dials by certified addresses"))
	defer cancel()
	defer context.AfterFunc(n.ctx, cancel)()
	r := <-ping.Ping(ctx, n.host, p) // no result, but a closed channel, when ctx ends
	if err := cmp.Or(n.alive(ctx), r.Error); err != nil {
		return 0, fmt.Errorf("node: ping %s: %w", p, err)
	}
	return r.RTT, nil
}
