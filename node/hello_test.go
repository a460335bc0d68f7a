package node

import (
	"io"
	"sync"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/venn-p2p/venn/node/internal/inbox"
)

// TestHelloOfFormerLink: a hello that fails after its link has ended is not said again on the next link with the peer,
// and does not end that.
func TestHelloOfFormerLink(t *testing.T) {
	n, m := newNode(t), newHost(t)
	var mu sync.Mutex
	came, taken := 0, 0 // hellos
	release, reset := make(chan struct{}), make(chan struct{})
	m.SetStreamHandler(HelloID, func(s network.Stream) {
		mu.Lock()
		came++
		first := came == 1
		mu.Unlock()
		if first {
			<-release
			_ = s.Reset()
			close(reset)
			return
		}
		_, _ = io.ReadAll(s)
		_ = s.Close()
		mu.Lock()
		taken++
		mu.Unlock()
	})
	if err := n.Connect(t.Context(), peer.AddrInfo{ID: m.ID(), Addrs: m.Addrs()}); err != nil {
		t.Fatal(err)
	}
	count := func(c *int) int {
		mu.Lock()
		defer mu.Unlock()
		return *c
	}
	eventually(t, "n says hello", func() bool { return count(&came) == 1 })
	n.in.LinkChanged(m.ID(), inbox.Ended)
	n.in.LinkChanged(m.ID(), inbox.Begun)
	eventually(t, "n says hello on the next link", func() bool { return count(&taken) == 1 })
	close(release)
	<-reset
	time.Sleep(2 * helloPauses[0])
	if got := count(&came); got != 2 {
		t.Errorf("%d hellos on two links", got)
	}
	if s, err := n.Status(t.Context()); err != nil || s.Links != 1 {
		t.Errorf("%d links, %v", s.Links, err)
	}
}
