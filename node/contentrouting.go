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

// Provide says that the node holds what c names: the key is c's multihash, whatever its version and codec. Others learn
// of it as with Add. broadcast has no meaning here, since no announcement is made of a single key. The errors are those
// of Add, and one for a CID that is not defined.
func (n *Node) Provide(ctx context.Context, c cid.Cid, _ bool) error {
	if !c.Defined() {
		return errNoCID
	}
	_, err := n.Add(ctx, c.Hash())
	return err
}

// ProvideMany is Provide for many multihashes at a time. Its errors are those of Add.
func (n *Node) ProvideMany(ctx context.Context, keys []mh.Multihash) error {
	_, err := n.Add(ctx, bytesOf(keys)...)
	return err
}

// StartProviding is ProvideMany without a context, in the form that providers for a DHT have. What is held needs no
// announcing again, so force has no meaning here. Its errors are those of Add.
func (n *Node) StartProviding(_ bool, keys ...mh.Multihash) error {
	return n.ProvideMany(n.ctx, keys)
}

// ProvideOnce is StartProviding: what is held stays announced, at no further cost, until StopProviding.
func (n *Node) ProvideOnce(keys ...mh.Multihash) error { return n.ProvideMany(n.ctx, keys) }

// Clear drops what waits to be announced, and returns how many keys these were: 0, for none waits.
func (n *Node) Clear() int { return 0 }

// RefreshSchedule looks for keys that are not announced yet. There are none. The error is why the node is closed.
func (n *Node) RefreshSchedule() error { return n.alive(n.ctx) }

// StopProviding says that the node no longer holds what has these multihashes. The errors are those of Remove.
func (n *Node) StopProviding(keys ...mh.Multihash) error {
	_, err := n.Remove(n.ctx, bytesOf(keys)...)
	return err
}

// readyEvery is the time between two looks of WaitReady.
const readyEvery = 50 * time.Millisecond

// WaitReady waits until the node is linked, and knows whom its links know: from then on a find of a key that nobody
// holds says so. The errors: ErrClosed, that of ctx. A node that has nobody to link with waits until ctx ends.
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

// Ready says whether the node can provide: from New until Close, except while the key store fails.
func (n *Node) Ready() bool { return n.ctx.Err() == nil && n.fault() == nil }

// FindProvidersAsync looks for peers that hold what c names, by its multihash: for count of them, or for all if count
// is 0. Each has confirmed it; the node itself is never among them. The channel is closed when the query is over or ctx
// ends. It is closed at once if c is undefined, count is negative, or the node is closed. All is what the budget of such
// a query finds, some 320: see QueryOptions. Who has registered for query events with ctx hears of each provider, and at
// the end whom the query asked.
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

// tellOf tells who has registered for query events with ctx whom a query asked, when it is over.
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
