package daemon

import (
	"context"
	"sync"

	"github.com/venn-p2p/venn/cmd/venn/repo"
	"github.com/venn-p2p/venn/node"
	"github.com/venn-p2p/venn/node/httpapi"
	"github.com/venn-p2p/venn/node/mirror"
)

// claims is the router of a mirror, which shares the node's keys with users and followers. Like a follower, it
// claims the keys that it adds, and keys that others had claimed before. It removes only keys that it claims and no
// follower claims. It does not claim a key that a user has added, before or since.
type claims struct {
	mirror.Router
	node *node.Node

	mu   sync.Mutex
	log  *repo.Import
	ours map[string]bool // claimed keys, as texts
}

// claimant is the name of the mirror among the sources of imports.
const claimant = "the mirror"

func openClaims(ctx context.Context, r repo.Repo, n *node.Node) (*claims, error) {
	log, ours, err := r.OpenImport(ctx, claimant)
	if err != nil {
		return nil, err
	}
	return &claims{Router: mirror.Over(n), node: n, log: log, ours: ours}, nil
}

// Advertise claims keys, and adds them to the node's. It does not wait for followers, because a client waits for it.
func (c *claims) Advertise(ctx context.Context, keys ...[]byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var added []string
	var others map[string]bool
	for _, k := range keys {
		has, err := c.node.Advertises(k)
		if err == nil && has && others == nil {
			others, err = c.log.Others()
		}
		if err != nil {
			return err
		}
		if text := httpapi.FormatKey(k); !c.ours[text] && (!has || others[text]) {
			added = append(added, text)
		}
	}
	if err := c.log.Adds(added); err != nil {
		return err
	}
	for _, text := range added {
		c.ours[text] = true
	}
	return c.Router.Advertise(ctx, keys...)
}

// Withdraw takes back the claims of keys. It removes those keys that no follower claims, and no user has added.
func (c *claims) Withdraw(ctx context.Context, keys ...[]byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	others, err := c.log.Others()
	if err != nil {
		return err
	}
	var alone [][]byte
	for _, k := range keys {
		if text := httpapi.FormatKey(k); c.ours[text] && !others[text] {
			alone = append(alone, k)
		}
	}
	if err := c.Router.Withdraw(ctx, alone...); err != nil {
		return err
	}
	return c.drop(keys)
}

// leave takes back the claims of keys that a user is about to add. The keys stay.
func (c *claims) leave(keys [][]byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.drop(keys)
}

// drop takes back the claims of keys. c.mu is held.
func (c *claims) drop(keys [][]byte) error {
	var dropped []string
	for _, k := range keys {
		if text := httpapi.FormatKey(k); c.ours[text] {
			dropped = append(dropped, text)
		}
	}
	if len(dropped) == 0 {
		return nil
	}
	for _, text := range dropped {
		delete(c.ours, text)
	}
	return c.log.Removed(dropped)
}
