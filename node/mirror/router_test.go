package mirror

import (
	"slices"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/venn-p2p/venn/node"
)

// TestRouters holds routers to what a mirror needs: in memory, and over nodes of venn.
func TestRouters(t *testing.T) {
	for name, pair := range map[string]func(*testing.T, host.Host, host.Host) (Router, Router){"memory": inMemory, "venn": overNodes} {
		t.Run(name, func(t *testing.T) {
			a, b := newHost(t), newHost(t)
			at, from := pair(t, a, b)
			key := Sum{Plain, [32]byte{7}}.Key()
			named := func(r Router) (ids []peer.ID) {
				for p := range r.Lookup(t.Context(), key) {
					ids = append(ids, p.ID)
				}
				return ids
			}
			if ready, err := at.Ready(t.Context()); !ready || err != nil {
				t.Fatalf("ready: %v, %v", ready, err)
			}
			if got := named(from); len(got) > 0 {
				t.Errorf("before: %v", got)
			}
			if err := at.Advertise(t.Context(), key); err != nil {
				t.Fatal(err)
			}
			if got := named(from); !slices.Equal(got, []peer.ID{a.ID()}) {
				t.Errorf("advertised: %v", got)
			}
			if got := named(at); len(got) > 0 {
				t.Errorf("itself: %v", got)
			}
			if err := at.Withdraw(t.Context(), key); err != nil {
				t.Fatal(err)
			}
			if got := named(from); len(got) > 0 {
				t.Errorf("withdrawn: %v", got)
			}
		})
	}
}

func inMemory(_ *testing.T, a, b host.Host) (Router, Router) {
	board := newBoard()
	return view{board, *host.InfoFromHost(a)}, view{board, *host.InfoFromHost(b)}
}

func overNodes(t *testing.T, a, b host.Host) (Router, Router) {
	var all []*node.Node
	for _, h := range []host.Host{a, b} {
		n, err := node.New(h, node.WithNetwork("routers", 0), node.WithBootstrap(*host.InfoFromHost(a)))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = n.Close() })
		all = append(all, n)
	}
	for until := time.Now().Add(30 * time.Second); time.Now().Before(until); time.Sleep(20 * time.Millisecond) {
		if s, err := all[1].Status(t.Context()); err == nil && s.Links > 0 {
			break
		}
	}
	return Over(all[0]), Over(all[1])
}
