package node

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/venn-p2p/venn/overlay/wire"
)

// AddPrivate adds keys that are in no summary and in no join: nobody can test guesses against what the node publishes.
// It confirms them only to peers of WithPrivatePeers that ask for themselves, never to a search, and tells nobody else
// that they exist. A key that is also added by Add is in the summary. AddPrivate returns the number of new keys. Its
// errors are those of Add.
func (n *Node) AddPrivate(ctx context.Context, keys ...[]byte) (added int, err error) {
	return n.inTurns(ctx, keys, func(some [][]byte) (int, error) { return n.cfg.private.Add(some, n.fingerprintsOf(some)) })
}

// RemovePrivate drops the keys that are private, and returns their number. A key that is also added by Add stays in the
// summary. The errors are those of Remove.
func (n *Node) RemovePrivate(ctx context.Context, keys ...[]byte) (removed int, err error) {
	return n.inTurns(ctx, keys, func(some [][]byte) (int, error) {
		if held, err := n.cfg.private.Len(); held == 0 && err == nil {
			return 0, nil
		}
		return n.cfg.private.Remove(some)
	})
}

// Has reports whether the node holds key, privately or not. It asks the key store, which may read a disk; the error is
// the key store's.
func (n *Node) Has(key []byte) (bool, error) { return n.has(key, true) }

// Advertises reports whether anybody may find key here: it is held, not only privately. The error is the key store's.
func (n *Node) Advertises(key []byte) (bool, error) { return n.has(key, false) }

// has reports whether the node holds key. Private keys count only if private is true. After an error, a peer must not
// get the answer no.
func (n *Node) has(key []byte, private bool) (bool, error) {
	has, err := n.keys.Has(key)
	if err == nil && !has && private {
		has, err = n.cfg.private.Has(key)
	}
	return has, n.noted(reading, err)
}

// WithPrivatePeers sets which peers may find private keys here, while there is a link with them. may is called for each
// question, from many goroutines. Default: the peers of WithBootstrap.
func WithPrivatePeers(may func(peer.ID) bool) Option {
	return func(c *config) error {
		if may == nil {
			return errors.New("node: WithPrivatePeers of nil")
		}
		c.mayAskPrivate = may
		return nil
	}
}

// isBootstrap reports whether a peer is one of WithBootstrap.
func (c *config) isBootstrap(p peer.ID) bool {
	return slices.ContainsFunc(c.bootstrap, func(b peer.AddrInfo) bool { return b.ID == p })
}

// mayAskPrivate reports whether a peer may find private keys here.
func (n *Node) mayAskPrivate(p peer.ID) bool {
	return n.links.Linked(p) && n.cfg.mayAskPrivate(p)
}

func checkKeys(keys [][]byte) error {
	for i, k := range keys {
		if len(k) < 1 || len(k) > wire.MaxKey {
			return fmt.Errorf("%w: number %d has %d", ErrKey, i, len(k))
		}
	}
	return nil
}
