package node

import (
	"fmt"
	"slices"
	"time"

	"github.com/venn-p2p/venn/node/keystore"
	"github.com/venn-p2p/venn/summary"
)

// previous is the seed that the network is rotating from.
type previous struct {
	summary.Seed
	until time.Time
}

// WithPreviousSeed tells that the network is rotating its hash seed: before the number of WithNetwork, it had this one.
// Until the given time the node accepts summaries under either number, and publishes its own under both. So it finds
// nodes that do not have the new number yet and is found by them; they need not know of it. After that time, or if it
// is past already, all that is under the previous number is dropped.
//
// To rotate a network, start its nodes again with the new number, one after the other or all at once. Give each the old
// number as the previous one, and the same time, by which all are to have it.
//
// Until then, each node with both summaries costs other nodes the sample of the old one, about 1.5 KB, besides the new
// one. To make a summary under the previous number, the node reads all keys, for at most a fiftieth of its time. The
// keys must be keystore.Lists, else New fails with ErrNoList. Default: none.
func WithPreviousSeed(number uint32, until time.Time) Option {
	return func(c *config) error {
		c.previous = &previous{summary.Seed{Number: number}, until}
		return nil
	}
}

// checkPrevious checks the previous seed, and drops it if its time is over.
func (c *config) checkPrevious() error {
	switch _, lists := c.keys.(keystore.Lists); {
	case c.previous == nil:
	case c.previous.Number == c.seed.Number:
		return fmt.Errorf("node: previous seed number %d is that of the network", c.seed.Number)
	case !lists:
		return fmt.Errorf("%w: a previous seed needs that", ErrNoList)
	case !time.Now().Before(c.previous.until):
		c.previous = nil
	default:
		c.previous.Network = c.seed.Network
	}
	return nil
}

// rehash returns the fingerprints of all keys under a seed other than the key store's.
func (n *Node) rehash(s summary.Seed) ([]summary.Fingerprint, error) {
	lists, ok := n.keys.(keystore.Lists)
	if !ok {
		return nil, ErrNoList
	}
	h, fps := s.Hasher(), make([]summary.Fingerprint, 0, n.Len())
	for key, err := range lists.Keys(n.ctx) {
		if err != nil {
			return nil, fmt.Errorf("node: key store: %w", err)
		}
		fps = append(fps, h.Fingerprint(key))
	}
	return fps, nil
}

// fingerprints returns the fingerprints of all keys under a seed.
func (n *Node) fingerprints(s summary.SeedTag) ([]summary.Fingerprint, error) {
	if n.cfg.previous != nil && s == n.cfg.previous.Tag() {
		return n.rehash(n.cfg.previous.Seed)
	}
	return slices.Collect(n.keys.Fingerprints()), nil
}
