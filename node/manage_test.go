package node

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/p2p/protocol/ping"
)

// TestPingEnds: a ping of a peer that never answers ends with its context or with the node, and always with an error.
func TestPingEnds(t *testing.T) {
	t.Parallel()
	n, silent := newNode(t), newHost(t)
	silent.SetStreamHandler(ping.ID, func(network.Stream) {})
	if err := n.host.Connect(t.Context(), infoOf(silent)); err != nil {
		t.Fatal(err)
	}
	for range 20 {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		if rtt, err := n.Ping(ctx, silent.ID()); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v, %v", rtt, err)
		}
		cancel()
	}
	ended := make(chan error, 1)
	go func() { _, err := n.Ping(t.Context(), silent.ID()); ended <- err }()
	time.Sleep(100 * time.Millisecond)
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-ended:
		if !errors.Is(err, ErrClosed) {
			t.Error(err)
		}
	case <-time.After(20 * time.Second):
		t.Error("it waits though the node is closed")
	}
}
