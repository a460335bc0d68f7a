package node_test

import (
	"context"
	"fmt"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"

	"github.com/venn-p2p/venn/node"
)

// Two programs of one network: one holds a key, the other finds it.
func Example() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()

	seeker, seekerHost := start()
	defer seekerHost.Close()
	defer seeker.Close()
	learned, err := seekerHost.EventBus().Subscribe(new(node.EvtSummaryLearned))
	if err != nil {
		panic(err)
	}
	defer learned.Close()

	holder, holderHost := start(node.WithBootstrap(peer.AddrInfo{ID: seekerHost.ID(), Addrs: seekerHost.Addrs()}))
	defer holderHost.Close()
	defer holder.Close()
	if _, err := holder.Add(ctx, []byte("apples"), []byte("pears")); err != nil {
		panic(err)
	}
	for event := range learned.Out() { // until the holder's summary is here
		if event.(node.EvtSummaryLearned).Origin == holder.ID() {
			break
		}
	}

	for _, key := range []string{"pears", "plums"} {
		results, err := seeker.Query(ctx, []byte(key), node.QueryOptions{})
		if err != nil {
			panic(err)
		}
		for provider := range results.Providers() {
			fmt.Printf("%s: held by the holder: %v\n", key, provider.ID == holder.ID())
		}
		stats, err := results.Stats()
		if err != nil {
			panic(err)
		}
		fmt.Printf("%s: %d found, %s\n", key, stats.Found, stats.End)
	}
	// Output:
	// pears: held by the holder: true
	// pears: 1 found, enough
	// plums: 0 found, exhausted
}

// start runs a node on a host of its own.
func start(opts ...node.Option) (*node.Node, host.Host) {
	h, err := libp2p.New(libp2p.ListenAddrStrings("/ip4/127.0.0.1/tcp/0"))
	if err != nil {
		panic(err)
	}
	n, err := node.New(h, append(opts, node.WithNetwork("fruit", 0))...)
	if err != nil {
		panic(err)
	}
	return n, h
}

// The members of a network deal with each other alone, at private addresses alone.
func Example_members() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()

	var hosts [3]host.Host // the last is of no member
	for i := range hosts {
		h, err := libp2p.New(libp2p.ListenAddrStrings("/ip4/127.0.0.1/tcp/0"))
		if err != nil {
			panic(err)
		}
		defer h.Close()
		hosts[i] = h
	}
	members := map[peer.ID]bool{hosts[0].ID(): true, hosts[1].ID(): true}
	var nodes [3]*node.Node
	for i, h := range hosts {
		n, err := node.New(
			h, node.WithBootstrap(peer.AddrInfo{ID: hosts[0].ID(), Addrs: hosts[0].Addrs()}),
			node.WithPeerFilter(func(p peer.ID) bool { return i == 2 || members[p] }),
			node.WithAddressFilter(func(addrs []ma.Multiaddr) []ma.Multiaddr { return ma.FilterAddrs(addrs, manet.IsPrivateAddr) }),
		)
		if err != nil {
			panic(err)
		}
		defer n.Close()
		nodes[i] = n
	}
	for i, n := range nodes[1:] {
		within, cancel := context.WithTimeout(ctx, time.Duration(10-9*i)*time.Second)
		defer cancel()
		fmt.Println(n.WaitReady(within))
	}
	// Output:
	// <nil>
	// context deadline exceeded
}
