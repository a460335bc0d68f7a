package node

import (
	"io"
	"sync"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/network"

	"github.com/venn-p2p/venn/node/internal/inbox"
	"github.com/venn-p2p/venn/overlay/wire"
)

// TestHelloOfFormerLink: a hello that fails after its link has ended is not said again on the next link with the peer,
// and does not end that.
func TestHelloOfFormerLink(t *testing.T) {
	t.Parallel()
	n, m := newNode(t), newHost(t)
	var mu sync.Mutex
	came, taken := 0, 0 // hellos
	release, reset := make(chan struct{}), make(chan struct{})
	m.SetStreamHandler(wire.ProtocolIn("venn", HelloID), func(s network.Stream) {
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
	dialTo(t, n, infoOf(m))
	count := func(c *int) int {
		mu.Lock()
		defer mu.Unlock()
		return *c
	}
	eventually(t, "n says hello", func() bool { return count(&came) == 1 })
	n.in.LinkChanged(m.ID(), inbox.EndedAndBegun)
	eventually(t, "n says hello on the next link", func() bool { return count(&taken) == 1 })
	close(release)
	<-reset
	time.Sleep(2 * helloPause)
	if got := count(&came); got != 2 {
		t.Errorf("%d hellos on two links", got)
	}
	if s, err := n.Status(t.Context()); err != nil || s.Links != 1 {
		t.Errorf("%d links, %v", s.Links, err)
	}
}

// TestHellosThatWait: of hellos that wait for one under way the latest is said, and what those before it ask for and
// bring.
func TestHellosThatWait(t *testing.T) {
	n, m := newNode(t), newHost(t)
	release, hellos := make(chan struct{}), make(chan wire.Hello, 10)
	m.SetStreamHandler(wire.ProtocolIn("venn", HelloID), func(s network.Stream) {
		<-release
		b, err := io.ReadAll(s)
		_ = s.Close()
		if err != nil || len(b) == 0 {
			return
		}
		if h, err := wire.ParseHello(b[1:]); err == nil { // after its length
			hellos <- h
		}
	})
	dialTo(t, n, infoOf(m))
	eventually(t, "they are linked", func() bool { return n.links.Linked(m.ID()) })
	records := []wire.Record{{Peer: "p", Envelope: []byte("e")}}
	look(t, n, func(l *loop) {
		if !l.linked(m.ID()).saying {
			t.Error("no hello is under way")
		}
		l.sayHello(m.ID(), wire.Hello{Again: true, Origins: 100})
		l.sayHello(m.ID(), wire.Hello{Records: records, Origins: 101})
		l.sayHello(m.ID(), wire.Hello{Origins: 102})
	})
	close(release)
	for {
		select {
		case h := <-hellos:
			if h.Origins < 100 { // the one that was under way
				continue
			}
			if h.Origins != 102 || !h.Again || len(h.Records) != 1 {
				t.Errorf("%+v", h)
			}
			return
		case <-time.After(time.Minute):
			t.Fatal("no hello")
		}
	}
}
