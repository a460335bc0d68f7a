package node_test

import (
	"context"
	"fmt"
	"time"

	blocks "github.com/ipfs/go-block-format"
	"github.com/ipfs/go-cid"
	"github.com/libp2p/go-libp2p"
	dht "github.com/libp2p/go-libp2p-kad-dht"
	routinghelpers "github.com/libp2p/go-libp2p-routing-helpers"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/venn-p2p/venn/node"
)

// A node before a DHT, as one router of content: what venn does not find, the DHT may.
func Example_besideDHT() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	pears, plums := blocks.NewBlock([]byte("pears")).Cid(), blocks.NewBlock([]byte("plums")).Cid()

	seeker, seekerHost := start()
	defer seekerHost.Close()
	defer seeker.Close()
	fallback := startDHT(seekerHost)
	defer fallback.Close()
	here := peer.AddrInfo{ID: seekerHost.ID(), Addrs: seekerHost.Addrs()}

	// A peer of venn has pears.
	learned, err := seekerHost.EventBus().Subscribe(new(node.EvtSummaryLearned))
	if err != nil {
		panic(err)
	}
	defer learned.Close()
	withPears, pearsHost := start(node.WithBootstrap(here))
	defer pearsHost.Close()
	defer withPears.Close()
	if err := withPears.Provide(ctx, pears, true); err != nil {
		panic(err)
	}
	for event := range learned.Out() { // until its summary is here
		if event.(node.EvtSummaryLearned).Origin == withPears.ID() {
			break
		}
	}

	// A peer of the DHT, which knows nothing of venn, has plums.
	plumsHost, err := libp2p.New(libp2p.ListenAddrStrings("/ip4/127.0.0.1/tcp/0"))
	if err != nil {
		panic(err)
	}
	defer plumsHost.Close()
	withPlums := startDHT(plumsHost)
	defer withPlums.Close()
	if err := plumsHost.Connect(ctx, here); err != nil {
		panic(err)
	}
	for withPlums.RoutingTable().Size() == 0 || fallback.RoutingTable().Size() == 0 {
		time.Sleep(10 * time.Millisecond)
	}
	if err := withPlums.Provide(ctx, plums, true); err != nil {
		panic(err)
	}

	router := routinghelpers.NewComposableSequential([]*routinghelpers.SequentialRouter{
		{Router: &routinghelpers.Compose{ContentRouting: seeker}, IgnoreError: true, Timeout: 5 * time.Second},
		{Router: fallback, IgnoreError: true, Timeout: 30 * time.Second},
	})
	names := map[peer.ID]string{withPears.ID(): "the peer of venn", plumsHost.ID(): "the peer of the DHT"}
	for _, c := range []cid.Cid{pears, plums} {
		for provider := range router.FindProvidersAsync(ctx, c, 1) {
			fmt.Println(names[provider.ID])
		}
	}
	// Output:
	// the peer of venn
	// the peer of the DHT
}

// startDHT makes a host one of a DHT whose peers are on this machine.
func startDHT(h host.Host) *dht.IpfsDHT {
	d, err := dht.New(h, dht.Mode(dht.ModeServer), dht.ProtocolPrefix("/fruit"), dht.AddressFilter(nil), dht.DisableAutoRefresh())
	if err != nil {
		panic(err)
	}
	return d
}
