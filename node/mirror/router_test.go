package mirror

import (
	"context"
	"errors"
	"iter"
	"testing"

	"github.com/ipfs/go-cid"
	dht "github.com/libp2p/go-libp2p-kad-dht"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/venn-p2p/venn/node"
)

// Routers make routers over hosts, which know each other when they return.
var Routers = map[string]func(testing.TB, ...host.Host) []Router{"memory": inMemory, "venn": overNodes, "kad-dht": overDHT}

// NewHost makes a host for tests of other packages.
var NewHost = newHost

func inMemory(_ testing.TB, hosts ...host.Host) (all []Router) {
	board := newBoard()
	for _, h := range hosts {
		all = append(all, view{board, h})
	}
	return all
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

func overDHT(t testing.TB, hosts ...host.Host) (all []Router) {
	for i, h := range hosts {
		d, err := dht.New(h, dht.Mode(dht.ModeServer), dht.ProtocolPrefix("/routers"), dht.AddressFilter(func(all []ma.Multiaddr) []ma.Multiaddr { return all }))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = d.Close() })
		all = append(all, inDHT{d})
		for _, other := range hosts[:i] {
			if err := h.Connect(t.Context(), *host.InfoFromHost(other)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, r := range all {
		until(t, "it knows all others", func() bool { return r.(inDHT).RoutingTable().Size() == len(hosts)-1 })
	}
	return all
}

func overNodes(t testing.TB, hosts ...host.Host) (all []Router) {
	var friends []peer.AddrInfo
	for _, h := range hosts {
		n, err := node.New(h, node.WithNetwork("routers", 0), node.WithBootstrap(friends...))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = n.Close() })
		all, friends = append(all, Over(n)), append(friends, *host.InfoFromHost(h))
	}
	for _, r := range all {
		until(t, "it is linked with all others", func() bool {
			s, err := r.(over).n.Status(t.Context())
			return err == nil && s.Links == len(hosts)-1
		})
	}
	return all
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
