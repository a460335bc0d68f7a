// Package dht runs go-libp2p-kad-dht, the DHT of IPFS, as a system to compare venn with on a testnet.
//
// Every peer is a DHT server with the module's defaults: k = 20, 10 requests at a time. As usual with a DHT, a named
// provider counts as a holder; it is not asked whether it holds the key.
package dht

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/ipfs/go-cid"
	kad "github.com/libp2p/go-libp2p-kad-dht"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	ma "github.com/multiformats/go-multiaddr"
	"golang.org/x/sync/errgroup"

	"github.com/venn-p2p/venn/testnet"
)

// prefix begins the names of the DHT's protocols, so that its peers meet no other DHT.
const prefix = "/venn-testnet"

// Classic returns the DHT that announces each key by a lookup of its own. A lookup costs tens of kilobytes, so only
// the keys that are looked for are announced. The cost of a holding does not depend on their number.
func Classic() testnet.System {
	// holdings 1: each key is announced by itself, so there is no slope to measure
	return system("kademlia-classic", "go-libp2p-kad-dht, Provide for every key", 1, provide)
}

// announcer announces keys.
type announcer func(ctx context.Context, n *node, keys [][]byte) error

func system(name, note string, holdings int, announce announcer) testnet.System {
	ours := func(id protocol.ID) bool { return strings.HasPrefix(string(id), prefix) }
	return testnet.System{
		Name: name, Note: note, Announce: holdings, Upkeep: ours, Query: ours,
		Open: func(p testnet.Place) (testnet.Peer, error) { return open(p, announce) },
	}
}

type node struct {
	place    testnet.Place
	dht      *kad.IpfsDHT
	announce announcer
	stop     []func() error // functions called before the DHT is closed
}

func open(p testnet.Place, announce announcer) (testnet.Peer, error) {
	d, err := kad.New(p.Host,
		kad.Mode(kad.ModeServer), kad.ProtocolPrefix(prefix),
		kad.AddressFilter(func(all []ma.Multiaddr) []ma.Multiaddr { return all }), // keeps addresses on loopback, too
	)
	if err != nil {
		return nil, fmt.Errorf("dht: %w", err)
	}
	return &node{place: p, dht: d, announce: announce}, nil
}

// Join connects to the peers to begin with, and fills the routing table.
func (n *node) Join(ctx context.Context) error {
	for _, p := range n.place.Begin {
		if err := n.connect(ctx, p); err != nil {
			return fmt.Errorf("dht: %w", err)
		}
	}
	return n.refresh(ctx)
}

const (
	connectAgain = 6 * time.Second // wait after a failure, until libp2p dials again
	connectTries = 3
)

// connect connects to a peer, in up to connectTries tries. If that peer dials at the same moment, to fill its own
// routing table, both dials fail.
func (n *node) connect(ctx context.Context, p peer.AddrInfo) (err error) {
	for try := 1; ; try++ {
		if err = n.place.Host.Connect(ctx, p); err == nil || try == connectTries {
			return err
		}
		if err := sleep(ctx, connectAgain); err != nil {
			return err
		}
	}
}

// refresh looks up the peer's own place and peers of every bucket, and returns when that is done. It first waits
// until another peer has connected, because without one there is nobody to ask.
func (n *node) refresh(ctx context.Context) error {
	for n.dht.RoutingTable().Size() == 0 {
		if err := sleep(ctx, pollEvery); err != nil {
			return err
		}
	}
	select {
	case <-n.dht.ForceRefresh(): //nolint:errcheck // it says that some peer was busy
		return ctx.Err()
	case <-ctx.Done():
		return ctx.Err()
	}
}

const pollEvery = 200 * time.Millisecond

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// Announce publishes a provider record for every key.
func (n *node) Announce(ctx context.Context, keys [][]byte) error {
	return n.announce(ctx, n, keys)
}

// provide announces each key by a lookup, two at one time.
func provide(ctx context.Context, n *node, keys [][]byte) error {
	var group errgroup.Group
	group.SetLimit(2)
	for _, key := range keys {
		group.Go(func() error { return n.dht.Provide(ctx, cid.NewCidV1(cid.Raw, key), true) })
	}
	return group.Wait()
}

// Find looks for providers of a key: one, or all.
func (n *node) Find(ctx context.Context, key []byte, all bool) (a testnet.Answer, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	began, count := time.Now(), 1
	if all {
		count = 0
	}
	for p := range n.dht.FindProvidersAsync(ctx, cid.NewCidV1(cid.Raw, key), count) {
		a.Holders, a.Found = append(a.Holders, p.ID), time.Since(began)
	}
	a.Over = time.Since(began)
	return a, ctx.Err()
}

// Close stops the announcing, and closes the DHT.
func (n *node) Close() error {
	for _, stop := range n.stop {
		_ = stop()
	}
	return n.dht.Close()
}
