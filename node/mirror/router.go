package mirror

import (
	"context"
	"iter"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/venn-p2p/venn/node"
)

// Router finds holders of content, by its key. A mirror needs no more of a network. Other mirrors of registries ask the
// same four calls of their routers. A Router is safe for concurrent use.
type Router interface {
	// Ready reports whether the other calls can work.
	Ready(ctx context.Context) (bool, error)
	// Lookup yields peers that have the content, as they are found, until all were asked or ctx ends. This peer is not
	// among them.
	Lookup(ctx context.Context, key []byte) iter.Seq[peer.AddrInfo]
	// Advertise lets others find this peer by the keys, until Withdraw. Linked peers can do so once Advertise has
	// returned, others within seconds.
	Advertise(ctx context.Context, keys ...[]byte) error
	// Withdraw ends what Advertise began for the keys.
	Withdraw(ctx context.Context, keys ...[]byte) error
}

// Over returns the router of a node. It shares the node's keys: Withdraw also removes a key that somebody else added to
// the node, unless the caller keeps them apart.
func Over(n *node.Node) Router { return over{n} }

type over struct{ n *node.Node }

// enough caps the holders that a lookup finds. lookupTime bounds the lookup: a linked peer that does not answer would
// hold it up.
const (
	enough     = 16
	lookupTime = 2 * time.Second
)

func (o over) Ready(context.Context) (bool, error) { return o.n.Ready(), nil }

// Lookup asks the peers of which a summary or a tail tells, and linked peers whose tails are missing here. It asks no
// peer only because it may have changed since its last tail, and nobody to pass the question on: a client waits for the
// last answer before the origin is asked. The drawn mirrors know who has just begun to fetch the content.
func (o over) Lookup(ctx context.Context, key []byte) iter.Seq[peer.AddrInfo] {
	return func(yield func(peer.AddrInfo) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		found, err := o.n.Query(ctx, key, node.QueryOptions{Want: enough, Others: true, Direct: true, Fresh: forEver, Timeout: lookupTime})
		if err != nil {
			return
		}
		for p := range found.Providers() {
			if !yield(p) {
				return
			}
		}
	}
}

func (o over) Advertise(ctx context.Context, keys ...[]byte) error {
	_, err := o.n.Add(ctx, keys...)
	return err
}

func (o over) Withdraw(ctx context.Context, keys ...[]byte) error {
	_, err := o.n.Remove(ctx, keys...)
	return err
}
