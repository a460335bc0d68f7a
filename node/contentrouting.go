package node

import (
	"context"
	"errors"
	"time"

	"github.com/ipfs/go-cid"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/routing"
	mh "github.com/multiformats/go-multihash"
)

var (
	_ routing.ContentRouting = (*Node)(nil)
	_ routing.PeerRouting    = (*Node)(nil)
)

var errNoCID = errors.New("node: undefined CID")

// Provide adds the key that c names: c's multihash, whatever its version and codec. Others learn of it as with Add.
// The flag broadcast has no effect, because single keys are not announced. The errors are those of Add, and one for a
// CID that is not defined.
func (n *Node) Provide(ctx context.Context, c cid.Cid, _ bool) error {
	if !c.Defined() {
		return errNoCID
	}
	_, err := n.Add(ctx, c.Hash())
	return err
}

// ProvideMany adds many multihashes at a time. Its errors are those of Add.
func (n *Node) ProvideMany(ctx context.Context, keys []mh.Multihash) error {
	_, err := n.Add(ctx, bytesOf(keys)...)
	return err
}

// StartProviding does what ProvideMany does, with the parameters of a DHT's provider. The flag force has no effect,
// because keys that are held need no second announcement. Its errors are those of Add.
func (n *Node) StartProviding(_ bool, keys ...mh.Multihash) error {
	return n.ProvideMany(n.ctx, keys)
}

// ProvideOnce does what StartProviding does: a held key stays announced, at no further cost, until StopProviding.
func (n *Node) ProvideOnce(keys ...mh.Multihash) error { return n.ProvideMany(n.ctx, keys) }

// Clear would drop keys that wait to be announced. None waits: it returns 0.
func (n *Node) Clear() int { return 0 }

// RefreshSchedule would look for keys that are not announced yet. There are none. The error is the reason why the node
// is closed.
func (n *Node) RefreshSchedule() error { return n.alive(n.ctx) }

// StopProviding drops the keys with these multihashes. The errors are those of Remove.
func (n *Node) StopProviding(keys ...mh.Multihash) error {
	_, err := n.Remove(n.ctx, bytesOf(keys)...)
	return err
}

// readyEvery is the time between two checks of WaitReady.
const readyEvery = 50 * time.Millisecond

// WaitReady waits until the node is linked, and knows the peers that its links know. From then on a find can tell that
// nobody holds a key. The errors: ErrClosed, ctx's. A node that has nobody to link with waits until ctx ends.
func (n *Node) WaitReady(ctx context.Context) error {
	for {
		ready := false
		err := n.view(ctx, func(l *loop) { ready = l.greetings() > 0 && l.core.Overlay.Settled() })
		if err != nil || ready {
			return err
		}
		if pause(ctx, readyEvery); ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

// Ready reports whether the node can provide: from New until Close, except while the key store fails.
func (n *Node) Ready() bool { return n.ctx.Err() == nil && n.fault() == nil }

// FindProvidersAsync looks for peers that hold the key that c names, its multihash: for count of them, or for all if
// count is 0. Each has confirmed it; the node itself is never among them. The channel is closed when the query is over
// or ctx ends. It is closed at once if c is undefined, count is negative, or the node is closed. All means as many as
// the budget of such a query finds, some 320: see QueryOptions. A caller that has registered for query events with ctx
// gets an event for each provider, and at the end one for each peer asked.
func (n *Node) FindProvidersAsync(ctx context.Context, c cid.Cid, count int) <-chan peer.AddrInfo {
	out := make(chan peer.AddrInfo)
	if !c.Defined() || count < 0 {
		close(out)
		return out
	}
	ctx, cancel := context.WithCancel(ctx)
	found, err := n.Query(ctx, c.Hash(), QueryOptions{All: count == 0, Want: count, Others: true})
	if err != nil {
		cancel()
		n.log.Debug("find providers", "cid", c, "err", err)
		close(out)
		return out
	}
	give := func() {
		defer close(out)
		defer cancel()
		defer tellOf(ctx, found)
		for p := range found.Providers() {
			routing.PublishQueryEvent(ctx, &routing.QueryEvent{Type: routing.Provider, ID: p.ID, Responses: []*peer.AddrInfo{&p}})
			select {
			case out <- p:
			case <-ctx.Done():
				return
			case <-n.ctx.Done():
				return
			}
			if count--; count == 0 {
				return
			}
		}
	}
	go give()
	return out
}

// tellOf waits until a query is over and publishes events for the peers asked, if ctx is registered for query events.
func tellOf(ctx context.Context, r *Results) {
	if !routing.SubscribesToQueryEvents(ctx) {
		return
	}
	select {
	case <-r.done:
	case <-ctx.Done():
		return
	}
	for _, q := range r.stats.Explain {
		routing.PublishQueryEvent(ctx, &routing.QueryEvent{Type: routing.SendingQuery, ID: q.Peer, Extra: q.Why})
		result := routing.PeerResponse
		if q.Result == Failed {
			result = routing.QueryError
		}
		routing.PublishQueryEvent(ctx, &routing.QueryEvent{Type: result, ID: q.Peer, Extra: q.Result})
	}
}

func bytesOf(keys []mh.Multihash) [][]byte {
	out := make([][]byte, len(keys))
	for i, k := range keys {
		out[i] = k
	}
	return out
}
