package daemon

import (
	"slices"
	"testing"
	"time"

	blocks "github.com/ipfs/go-block-format"
	"github.com/ipfs/go-cid"
	dht "github.com/libp2p/go-libp2p-kad-dht"
	routinghelpers "github.com/libp2p/go-libp2p-routing-helpers"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/routing"

	"github.com/venn-p2p/venn/node"
)

// contentOnly makes a router of content alone a whole one.
func contentOnly(r routing.ContentRouting) routing.Routing {
	return &routinghelpers.Compose{ContentRouting: r}
}

// TestFallbackToDHT asks venn first and a DHT for what venn does not find.
func TestFallbackToDHT(t *testing.T) {
	var hosts [4]host.Host
	var dhts [4]*dht.IpfsDHT
	for i := range hosts {
		hosts[i] = newHost(t)
		d, err := dht.New(hosts[i], dht.Mode(dht.ModeServer), dht.ProtocolPrefix("/venn-test"),
			dht.AddressFilter(nil), dht.DisableAutoRefresh())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = d.Close() })
		dhts[i] = d
		if i > 0 {
			connect(t, hosts[i], hosts[0])
		}
	}
	eventually(t, "the DHT knows its peers", func() bool {
		return dhts[0].RoutingTable().Size() == 3 && dhts[1].RoutingTable().Size() > 0 && dhts[2].RoutingTable().Size() > 0
	})
	var nodes [2]*node.Node // hosts 0 and 1 run venn, 2 and 3 only the DHT
	for i := range nodes {
		n := must(node.New(hosts[i]))
		t.Cleanup(func() { _ = n.Close() })
		nodes[i] = n
	}
	inVenn, inDHT := blocks.NewBlock([]byte("in venn")).Cid(), blocks.NewBlock([]byte("in the DHT")).Cid()
	noErr(t, nodes[1].Provide(t.Context(), inVenn, true))
	noErr(t, dhts[2].Provide(t.Context(), inDHT, true))
	eventually(t, "host 0 knows host 1's summary", func() bool { _, err := nodes[0].SummaryOf(t.Context(), hosts[1].ID()); return err == nil })

	router := routinghelpers.NewComposableSequential([]*routinghelpers.SequentialRouter{
		{Router: contentOnly(nodes[0]), IgnoreError: true, Timeout: time.Minute},
		{Router: dhts[0], IgnoreError: true, Timeout: time.Minute},
	})
	for c, want := range map[cid.Cid]peer.ID{inVenn: hosts[1].ID(), inDHT: hosts[2].ID()} {
		var got []peer.ID
		for p := range router.FindProvidersAsync(t.Context(), c, 1) {
			got = append(got, p.ID)
		}
		if !slices.Equal(got, []peer.ID{want}) {
			t.Errorf("%v: %v, want %v", c, got, want)
		}
	}
}
