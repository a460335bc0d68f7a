package node

import (
	"sync"
	"testing"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/network"
)

// TestGate has many peers connect at once: there are never more connections than allowed.
func TestGate(t *testing.T) {
	const most = 12
	var gate Gate
	n := nodeOn(t, hostWith(t, libp2p.ConnectionGater(&gate), libp2p.ResourceManager(&network.NullResourceManager{})),
		WithGate(&gate), WithMaxConnections(most))
	var wg sync.WaitGroup
	for range 30 {
		h := newHost(t)
		wg.Go(func() { _ = h.Connect(t.Context(), info(n)) })
	}
	wg.Wait()
	s, err := n.Status(t.Context())
	if err != nil || s.ConnectionsPeak > most || s.ConnectionsPeak < most/2 {
		t.Errorf("%d connections at one time, want at most %d; %v", s.ConnectionsPeak, most, err)
	}
}
