package mirror

import (
	"context"
	"errors"
	"iter"
	"slices"
	"testing"

	"github.com/ipfs/go-cid"
	dht "github.com/libp2p/go-libp2p-kad-dht"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/venn-p2p/venn/node"
)

// TestRouters holds routers to what a mirror needs: in memory, over nodes of venn, and over kad-dht, which cannot take
// back what it has told.
func TestRouters(t *testing.T) {
	for name, pair := range map[string]func(*testing.T, host.Host, host.Host) (Router, Router){"memory": inMemory, "venn": overNodes, "kad-dht": overDHT} {
		t.Run(name, func(t *testing.T) {
			a, b := newHost(t), newHost(t)
			at, from := pair(t, a, b)
			key := meeting.Key()
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
			left := at.Withdraw(t.Context(), key)
			if left != nil && name != "kad-dht" {
				t.Fatal(left)
			}
			if got := named(from); len(got) > 0 != errors.Is(left, errors.ErrUnsupported) {
				t.Errorf("withdrawn (%v): %v", left, got)
			}
		})
	}
}

func inMemory(_ *testing.T, a, b host.Host) (Router, Router) {
	board := newBoard()
	return view{board, a}, view{board, b}
}

// inDHT is a DHT as a router.
type inDHT struct{ *dht.IpfsDHT }

func (d inDHT) Ready(context.Context) (bool, error) { return d.RoutingTable().Size() > 0, nil }

func (d inDHT) Lookup(ctx context.Context, key []byte) iter.Seq[peer.AddrInfo] {
	return func(yield func(peer.AddrInfo) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		for p := range d.FindProvidersAsync(ctx, cid.NewCidV1(cid.Raw, key), enough) {
			if p.ID != d.PeerID() && !yield(p) {
				return
			}
		}
	}
}

func (d inDHT) Advertise(ctx context.Context, keys ...[]byte) (err error) {
	for _, k := range keys {
		err = errors.Join(err, d.Provide(ctx, cid.NewCidV1(cid.Raw, k), true))
	}
	return err
}

// Withdraw is what a DHT lacks: its records last until they expire.
func (inDHT) Withdraw(context.Context, ...[]byte) error { return errors.ErrUnsupported }

func overDHT(t *testing.T, a, b host.Host) (Router, Router) {
	var all []inDHT
	for _, h := range []host.Host{a, b} {
		d, err := dht.New(h, dht.Mode(dht.ModeServer), dht.ProtocolPrefix("/routers"), dht.AddressFilter(func(all []ma.Multiaddr) []ma.Multiaddr { return all }))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = d.Close() })
		all = append(all, inDHT{d})
	}
	if err := b.Connect(t.Context(), *host.InfoFromHost(a)); err != nil {
		t.Fatal(err)
	}
	until(t, "each knows the other", func() bool { return all[0].RoutingTable().Size()*all[1].RoutingTable().Size() > 0 })
	return all[0], all[1]
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
	until(t, "they are linked", func() bool {
		s, err := all[1].Status(t.Context())
		return err == nil && s.Links > 0
	})
	return Over(all[0]), Over(all[1])
}

// TestEmptyMirrorsMeet has mirrors that hold nothing join the network at one of them: they find each other all the same.
func TestEmptyMirrorsMeet(t *testing.T) {
	t.Parallel()
	var nodes []*node.Node
	first := newHost(t)
	for i := range 4 {
		h := first
		if i > 0 {
			h = newHost(t)
		}
		n, err := node.New(h, node.WithNetwork("meeting", 0), node.WithBootstrap(*host.InfoFromHost(first)))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = n.Close() })
		newBoard().start(t, Upstream{}, func(c *Config) { c.Host, c.Router = n.Host(), Over(n) })
		nodes = append(nodes, n)
	}
	for _, n := range nodes {
		until(t, "it is linked to all others", func() bool {
			s, err := n.Status(t.Context())
			return err == nil && s.Links == len(nodes)-1
		})
	}
}
