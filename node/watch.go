package node

import (
	"context"
	"iter"
	"slices"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
)

const (
	// watchLook is how often what the node knows is looked at for keys that are waited for: that costs no message.
	watchLook = 50 * time.Millisecond
	// watchAsk is how long after a query that found nobody others are asked again; each time in vain doubles it.
	watchAsk     = time.Second
	mostWatchAsk = 16 * time.Second
)

// Watch waits until somebody has the keys: it yields each key with a peer that has confirmed it, as soon as one is found, and ends when
// all are found, when ctx ends, or when the node is closed. A key that the node holds itself is found at once, at the node.
// While nobody has a key, linked peers tell of it within a second; others are asked after 1, 2, 4, … 16 s.
func (n *Node) Watch(ctx context.Context, keys ...[]byte) iter.Seq2[[]byte, peer.AddrInfo] {
	return func(yield func([]byte, peer.AddrInfo) bool) {
		pause := watchAsk
		due := slices.Clone(keys)
		for waiting := due; n.alive(ctx) == nil; {
			for _, key := range due {
				p, ok := n.whoHas(ctx, key)
				if !ok {
					continue
				}
				waiting = slices.DeleteFunc(slices.Clone(waiting), func(k []byte) bool { return string(k) == string(key) })
				if !yield(key, p) {
					return
				}
			}
			if len(waiting) == 0 {
				return
			}
			if due = n.awaitMatch(ctx, waiting, time.Now().Add(pause)); due == nil {
				due, pause = waiting, min(2*pause, mostWatchAsk)
			}
		}
	}
}

// whoHas is one peer that has a key.
func (n *Node) whoHas(ctx context.Context, key []byte) (p peer.AddrInfo, ok bool) {
	r, err := n.Query(ctx, key, QueryOptions{})
	if err != nil {
		return peer.AddrInfo{}, false
	}
	for p := range r.Providers() {
		return p, true
	}
	if s, err := r.Stats(); err == nil && s.Self {
		return peer.AddrInfo{ID: n.host.ID(), Addrs: n.host.Addrs()}, true
	}
	return peer.AddrInfo{}, false
}

// awaitMatch waits until somebody's summary or tails match some of the keys, and returns these; nil when none does until then.
func (n *Node) awaitMatch(ctx context.Context, keys [][]byte, until time.Time) (matched [][]byte) {
	for time.Now().Before(until) {
		select {
		case <-ctx.Done():
			return nil
		case <-n.ctx.Done():
			return nil
		case <-time.After(watchLook):
		}
		err := n.view(ctx, func(l *loop) {
			for _, k := range keys {
				if len(l.core.Tails.Added(n.hasher.Fingerprint(k))) > 0 {
					matched = append(matched, k)
				}
			}
		})
		if err != nil || len(matched) > 0 {
			return matched
		}
	}
	return nil
}
