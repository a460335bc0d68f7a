package node

import (
	"context"
	"fmt"
	"time"

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

// Ping measures a round trip to a peer by libp2p's ping, and connects to it if need be. The errors: ErrClosed, ctx's,
// the host's.
func (n *Node) Ping(ctx context.Context, p peer.ID) (time.Duration, error) {
	if err := n.alive(ctx); err != nil {
		return 0, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	select {
	case r := <-ping.Ping(ctx, n.host, p):
		if r.Error != nil {
			return 0, fmt.Errorf("node: ping %s: %w", p, r.Error)
		}
		return r.RTT, nil
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}
