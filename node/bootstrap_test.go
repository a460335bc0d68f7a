package node

import (
	"sync"
	"testing"

	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/peerstore"
)

// TestRejoin: a node whose bootstrap peer could not be reached at the start connects to it later, though it has a link
// with another. It leaves the peers of its last run alone.
func TestRejoin(t *testing.T) {
	t.Parallel()
	c, w := newNode(t), newHost(t)
	a, b := newNode(t, WithBootstrap(peer.AddrInfo{ID: c.ID()})), newNode(t) // no address of c is known yet
	<-a.Begun()
	connect(t, a, b)
	inLoop := func(look func(*loop)) {
		t.Helper()
		if err := a.view(t.Context(), look); err != nil {
			t.Fatal(err)
		}
	}
	linked := func(p peer.ID) (is bool) {
		inLoop(func(l *loop) { is = l.links[p] != nil })
		return is
	}
	eventually(t, "a link", func() bool { return linked(b.ID()) })

	a.host.Peerstore().AddAddrs(c.ID(), c.host.Addrs(), peerstore.PermanentAddrTTL)
	eventually(t, "a link with the bootstrap peer", func() bool { return linked(c.ID()) })

	var dials *sync.WaitGroup
	inLoop(func(l *loop) {
		l.n.last = []peer.AddrInfo{{ID: w.ID(), Addrs: w.Addrs()}}
		dials = l.bootstrap()
	})
	dials.Wait()
	if a.reached(w.ID()) {
		t.Error("a peer of the last run was dialled while there are links")
	}
}
