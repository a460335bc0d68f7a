package dht

import (
	"context"
	"fmt"

	"github.com/ipfs/go-cid"
	ds "github.com/ipfs/go-datastore"
	"github.com/libp2p/go-libp2p-kad-dht/provider"
	"github.com/libp2p/go-libp2p-kad-dht/provider/keystore"
	mh "github.com/multiformats/go-multihash"

	"github.com/venn-p2p/venn/testnet"
)

// sweepHoldings is the number of holdings in the second of two announcements. The first has half as many.
// A visit to a region costs the same for any number of keys, so the difference shows the cost of a holding.
const sweepHoldings = 20_000

// Kademlia returns the DHT with the sweeping provider, which visits the space of keys region by region.
func Kademlia() testnet.System {
	s := system("kademlia", "go-libp2p-kad-dht, sweeping provider; what a holding costs is the slope between two samples", sweepHoldings, sweepAll)
	s.Marginal = true
	return s
}

// sweepAll starts a sweeping provider on the node, which runs until the node is closed, and hands it the keys.
func sweepAll(ctx context.Context, n *node, keys [][]byte) error {
	store, err := keystore.NewKeystore(ds.NewMapDatastore())
	if err != nil {
		return fmt.Errorf("dht: keystore: %w", err)
	}
	sweep, err := provider.New(
		provider.WithHost(n.place.Host), provider.WithRouter(n.dht), provider.WithMessageSender(n.dht.MessageSender()),
		provider.WithSelfAddrs(n.dht.FilteredAddrs), provider.WithKeystore(store),
		provider.WithAddLocalRecord(func(ctx context.Context, key mh.Multihash) error {
			return n.dht.Provide(ctx, cid.NewCidV1(cid.Raw, key), false)
		}),
	)
	if err != nil {
		_ = store.Close()
		return fmt.Errorf("dht: sweeping provider: %w", err)
	}
	n.stop = append(n.stop, sweep.Close, store.Close)
	return handOver(ctx, sweep, keys)
}

// handOver hands keys to the sweeping provider once it is online, and waits until it has provided them or failed to.
func handOver(ctx context.Context, sweep *provider.SweepingProvider, keys [][]byte) error {
	hashes := make([]mh.Multihash, len(keys))
	for i, key := range keys {
		hashes[i] = key
	}
	handed := false
	for {
		s, err := sweep.Stats(ctx)
		if err != nil {
			return fmt.Errorf("dht: sweeping provider: %w", err)
		}
		past := s.Operations.Past
		switch {
		case handed && past.KeysProvided+past.KeysFailed >= int64(len(keys)):
			return nil
		case !handed && s.Connectivity.Status == "online":
			handed = true
			if err := sweep.StartProviding(true, hashes...); err != nil {
				return fmt.Errorf("dht: sweeping provider: %w", err)
			}
		}
		if err := sleep(ctx, pollEvery); err != nil {
			return err
		}
	}
}
