package node

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	ds "github.com/ipfs/go-datastore"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/venn-p2p/venn/node/keystore"
	"github.com/venn-p2p/venn/node/store"
	"github.com/venn-p2p/venn/overlay/wire"
)

// WithDatastore keeps in a datastore what a node must not lose: keys, private keys and the numbers of its summaries. It
// also keeps the peers it knows, neighbours first, to which the next run connects. New opens a store there (package
// store), under the seed of the network, and Close closes it. The datastore stays the caller's. Without it, and without
// WithStore, a restart forgets all.
func WithDatastore(d ds.Batching, opts ...store.Option) Option {
	return func(c *config) error {
		if d == nil {
			return errors.New("node: WithDatastore of nil")
		}
		c.datastore, c.datastoreOpts = d, opts
		return nil
	}
}

// WithStore does the same as WithDatastore with a store that is open already and stays the caller's. New fails if its
// seed is not the network's.
func WithStore(s *store.Store) Option {
	return func(c *config) error { c.store = s; return nil }
}

// checkStore decides where the node keeps its keys, private keys and epochs.
func (c *config) checkStore() error {
	if c.store != nil && c.datastore != nil || c.keys != nil && (c.store != nil || c.datastore != nil) {
		return errors.New("node: only one of WithKeys, WithDatastore and WithStore may be given")
	}
	if c.store != nil && c.store.Seed() != c.seed {
		return fmt.Errorf("node: the store has the seed %v, the network %v", c.store.Seed(), c.seed)
	}
	c.useStore(c.store)
	return nil
}

// useStore makes the node keep keys, private keys and epochs in s. Without s, keys for which no option gives a place
// are kept in memory, and the clock numbers the epochs unless the key store does.
func (c *config) useStore(s *store.Store) {
	if s != nil {
		c.store, c.keys, c.private = s, s, s.Private()
	}
	if c.keys == nil {
		c.keys = &keystore.Memory{}
	}
	if c.private == nil {
		c.private = &keystore.Memory{}
	}
	if e, ok := c.keys.(keystore.Epochs); ok {
		c.epochs = e
	}
	if c.epochs == nil {
		c.epochs = &clockEpochs{}
	}
}

// openStore opens the store of WithDatastore, if that option was given.
func (c *config) openStore(ctx context.Context) error {
	if c.datastore == nil {
		return nil
	}
	s, err := store.Open(ctx, c.datastore, c.seed, c.datastoreOpts...)
	if err != nil {
		return err
	}
	c.useStore(s)
	return nil
}

// closeStore closes the store of WithDatastore, if it was opened. A store of WithStore stays open.
func (n *Node) closeStore() error {
	if n.cfg.datastore == nil || n.cfg.store == nil {
		return nil
	}
	return n.cfg.store.Close()
}

const (
	saveEvery = 10 * time.Second // time between two savings of the peers known
	saveTime  = 5 * time.Second  // longest time of one saving: a busy machine may need it
	maxWarm   = 8                // most peers of the last run that are dialled at a time

	savedInTurn = 256 // limit of the peers read from the directory in one turn of the loop
)

// warm returns the peers of the last run: its neighbours, then others in random order.
func (n *Node) warm() (out []entrance) {
	if n.cfg.store == nil {
		return nil
	}
	peers := n.cfg.store.Peers()
	rand.Shuffle(len(peers), func(i, j int) { peers[i], peers[j] = peers[j], peers[i] })
	slices.SortStableFunc(peers, func(a, b store.Peer) int {
		switch {
		case a.Neighbour == b.Neighbour:
			return 0
		case a.Neighbour:
			return -1
		}
		return 1
	})
	for _, p := range peers {
		r := wire.Record{Peer: wire.PeerID(p.ID), Envelope: p.Record}
		out = append(out, entrance{p.ID, func(ctx context.Context) error { return n.reach(ctx, r, forCaller) }})
	}
	return out
}

// savePeers saves the peers known, every saveEvery, until the node closes.
func (n *Node) savePeers() {
	ticker := time.NewTicker(saveEvery)
	defer ticker.Stop()
	for {
		select {
		case <-n.ctx.Done():
			return
		case <-ticker.C:
			n.saveKnown()
		}
	}
}

// saveKnown saves the peers known, and the node's own record, which others may hold. If no peer is known, the peers
// saved before stay.
func (n *Node) saveKnown() {
	if n.cfg.store == nil {
		return
	}
	ctx, cancel := context.WithTimeout(n.ctx, saveTime)
	defer cancel()
	peers, err := n.known(ctx)
	if len(peers) == 0 {
		peers = slices.DeleteFunc(n.cfg.store.Peers(), func(p store.Peer) bool { return p.ID == n.host.ID() })
	}
	var own []byte
	if err == nil {
		err = n.view(ctx, func(l *loop) { own = slices.Clone(l.ownRecord()) })
	}
	if own != nil {
		peers = append(peers, store.Peer{ID: n.host.ID(), Record: own})
	}
	if err == nil && len(peers) > 0 {
		err = n.cfg.store.SavePeers(ctx, peers)
	}
	if err != nil && n.ctx.Err() == nil {
		n.log.Warn("peers not saved", "err", err)
	}
}

// known returns the peers whose summary and record are held. It reads up to savedInTurn of them in a turn of the loop.
func (n *Node) known(ctx context.Context) (out []store.Peer, err error) {
	for from, more := 0, true; more && err == nil; more = from > 0 {
		err = n.view(ctx, func(l *loop) {
			var some []wire.Record
			some, from = l.core.Overlay.Records(from, savedInTurn)
			for _, r := range some {
				p := peer.ID(r.Peer)
				out = append(out, store.Peer{ID: p, Neighbour: l.linked(p).neighbour, Record: slices.Clone(r.Envelope)})
			}
		})
	}
	return out, err
}

// heldRecord returns the newest signed record of a peer that the core holds.
func (n *Node) heldRecord(ctx context.Context, p peer.ID) (r wire.Record, ok bool, err error) {
	err = n.view(ctx, func(l *loop) { r, ok = l.core.Overlay.Record(wire.PeerID(p)) })
	return r, ok, err
}
