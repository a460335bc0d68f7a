// Package dht runs go-libp2p-kad-dht, the DHT of IPFS, as a system to compare venn with on a testnet.
//
// Every peer is a DHT server with the module's defaults: k = 20, 10 requests at a time. As usual with a DHT, providers
// are taken as named and not asked whether they hold the key.
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

// prefix begins the names of the protocols, so that no other DHT is met.
const prefix = "/venn-testnet"

// Classic returns the DHT with a lookup for every key announced. Each costs tens of kilobytes, so only keys that are
// looked for are announced: the cost of a holding doesn't depend on their number.
func Classic() testnet.System {
	return system("kademlia-classic", "go-libp2p-kad-dht, Provide for every key", 1, provide) // each key by itself: no slope
}

// announcer makes keys known.
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
	stop     []func() error // before the DHT is closed
}

func open(p testnet.Place, announce announcer) (testnet.Peer, error) {
	d, err := kad.New(p.Host,
		kad.Mode(kad.ModeServer), kad.ProtocolPrefix(prefix),
		kad.AddressFilter(func(all []ma.Multiaddr) []ma.Multiaddr { return all }), // loopback too
	)
	if err != nil {
		return nil, fmt.Errorf("dht: %w", err)
	}
	return &node{place: p, dht: d, announce: announce}, nil
}

// Join connects to some peers and fills the routing table.
func (n *node) Join(ctx context.Context) error {
	for _, p := range n.place.Begin {
		if err := n.connect(ctx, p); err != nil {
			return fmt.Errorf("dht: %w", err)
		}
	}
	return n.refresh(ctx)
}

const (
	connectAgain = 6 * time.Second // after a failure, when libp2p dials again
	connectTries = 3
)

// connect connects to a peer. Both dials fail when that peer, which is filling its own routing table, dials at the same
// moment.
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

// refresh looks for itself and for peers in every bucket, and ends when that is done. A peer that nobody has linked to
// yet has nobody to ask.
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

// Announce publishes a record for every key.
func (n *node) Announce(ctx context.Context, keys [][]byte) error {
	return n.announce(ctx, n, keys)
}

// provide looks up every key, a few at one time.
func provide(ctx context.Context, n *node, keys [][]byte) error {
	var group errgroup.Group
	group.SetLimit(2)
	for _, key := range keys {
		group.Go(func() error { return n.dht.Provide(ctx, cid.NewCidV1(cid.Raw, key), true) })
	}
	return group.Wait()
}

// Find looks for providers.
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

// Close stops providing and leaves.
func (n *node) Close() error {
	for _, stop := range n.stop {
		_ = stop()
	}
	return n.dht.Close()
}
