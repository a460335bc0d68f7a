package node

import (
	"bytes"
	"context"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	"golang.org/x/sync/errgroup"

	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

const (
	// watchAsk is the time from a query that found nobody until others are asked again; each time in vain doubles it.
	watchAsk     = time.Second
	mostWatchAsk = 16 * time.Second
	// watchBudget is the most messages of a query that asks only peers known to have a key.
	watchBudget = 4
	// watchAtOnce is the most keys that are asked for at a time: as many on news, and as many after a pause.
	watchAtOnce = 16
)

// Watch waits until somebody has the keys. It yields each key with a peer that has confirmed it, as soon as one is
// found. It ends when all are found, when ctx ends, or when the node is closed. A key that the node holds itself is
// found at once, at the node. While nobody has a key, the node waits for announcements, which come within a second. It
// asks all other peers after 1, 2, 4, … 16 s, and at once if it does not know all peers of the network. A holder that
// does not answer delays no other key, unless it has many of them. Keys that no peer can hold, which Query refuses with
// ErrKey, are not waited for. Private keys count as in a query that asks for them.
func (n *Node) Watch(ctx context.Context, keys ...[]byte) iter.Seq2[[]byte, peer.AddrInfo] {
	return func(yield func([]byte, peer.AddrInfo) bool) {
		w := newWatcher(n, keys)
		if n.view(ctx, w.begin) != nil {
			return
		}
		defer func() { _ = n.view(n.ctx, w.end) }()
		ctx, cancel := context.WithCancel(ctx)
		defer context.AfterFunc(n.ctx, cancel)()
		found := make(chan holding)
		go func() {
			defer close(found)
			var asking sync.WaitGroup
			asking.Go(func() { w.askOnNews(ctx, found) })
			asking.Go(func() { w.askAll(ctx, found) })
			asking.Wait()
		}()
		defer func() {
			cancel()
			for range found { // nobody is asked after the end
			}
		}()
		for len(w.waiting()) > 0 {
			h, more := <-found
			if !more || w.found(h.key) && !yield(h.key, h.at) {
				return
			}
		}
	}
}

// holding is a key with a peer that has it.
type holding struct {
	key []byte
	at  peer.AddrInfo
}

// whoHas returns one peer that has a key.
func (n *Node) whoHas(ctx context.Context, key []byte, budget int) (p peer.AddrInfo, ok bool) {
	r, err := n.Query(ctx, key, QueryOptions{Budget: budget, Private: true})
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

// askOnNews asks for the keys that match what becomes known of peers, until ctx ends.
func (w *watcher) askOnNews(ctx context.Context, found chan<- holding) {
	var asking errgroup.Group
	asking.SetLimit(watchAtOnce)
	for keys := w.await(ctx); keys != nil; keys = w.await(ctx) {
		w.ask(ctx, &asking, keys, watchBudget, found)
	}
	_ = asking.Wait()
}

// askAll asks for all keys that are waited for, again after each pause, until ctx ends.
func (w *watcher) askAll(ctx context.Context, found chan<- holding) {
	budget, wait := w.budget, watchAsk
	for ctx.Err() == nil {
		var asking errgroup.Group
		asking.SetLimit(watchAtOnce)
		w.ask(ctx, &asking, w.waiting(), budget, found)
		_ = asking.Wait()
		pause(ctx, wait)
		budget, wait = 0, min(2*wait, mostWatchAsk)
	}
}

// ask asks for keys, as many at a time as the group allows, and sends those that somebody has to found.
func (w *watcher) ask(ctx context.Context, asking *errgroup.Group, keys [][]byte, budget int, found chan<- holding) {
	for _, key := range keys {
		if ctx.Err() != nil {
			return
		}
		asking.Go(func() error {
			if p, ok := w.n.whoHas(ctx, key, budget); ok {
				found <- holding{key, p}
			}
			return nil
		})
	}
}

// watcher waits for keys. The loop shows it each peer about which something new is known.
type watcher struct {
	n      *Node
	budget int // message budget of the first queries; 0: the default

	mu    sync.Mutex
	keys  []awaited
	news  map[wire.PeerID]bool // peers of which more is known; true: by their tails alone
	match chan struct{}        // holds a value when there are news
}

// awaited is a key for which no holder was found yet.
type awaited struct {
	key     []byte
	print   summary.Fingerprint
	matched map[wire.PeerID]bool // peers whose summaries match: each is asked once, for the match may be false
}

func newWatcher(n *Node, keys [][]byte) *watcher {
	w := &watcher{n: n, news: map[wire.PeerID]bool{}, match: make(chan struct{}, 1)}
	for _, k := range keys {
		if checkKeys([][]byte{k}) != nil {
			continue
		}
		w.keys = append(w.keys, awaited{key: slices.Clone(k), print: n.hasher.Fingerprint(k), matched: map[wire.PeerID]bool{}})
	}
	return w
}

// begin has the loop show news to w.
func (w *watcher) begin(l *loop) {
	l.watchers[w] = true
	if !l.core.Overlay.Incomplete() && l.core.Overlay.Covers().Depth() == 0 {
		w.budget = watchBudget
	}
}

func (w *watcher) end(l *loop) { delete(l.watchers, w) }

// show notes that the node has learned more of a peer's keys: from a tail if tail is true, else from a summary.
func (w *watcher) show(p wire.PeerID, tail bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	before, known := w.news[p]
	w.news[p] = tail && (before || !known)
	select {
	case w.match <- struct{}{}:
	default:
	}
}

// mostLooks is the largest number of keys that are matched with a peer in one turn of the loop. It takes 0.1 ms.
const mostLooks = 256

// due returns the keys that match peers of which more is known. It matches at most mostLooks keys in one turn of the
// loop.
func (w *watcher) due(ctx context.Context) (keys [][]byte) {
	w.mu.Lock()
	news := w.news
	w.news = map[wire.PeerID]bool{}
	awaited := slices.Clone(w.keys)
	w.mu.Unlock()
	for p, tail := range news {
		for some := range slices.Chunk(awaited, mostLooks) {
			err := w.n.view(ctx, func(l *loop) {
				for _, a := range some {
					if l.core.Added(p, a.print) || !tail && !a.matched[p] && l.core.Matches(p, a.print) {
						a.matched[p] = true
						keys = append(keys, a.key)
					}
				}
			})
			if err != nil {
				return nil
			}
		}
	}
	slices.SortFunc(keys, bytes.Compare)
	return slices.CompactFunc(keys, bytes.Equal)
}

// found notes that a key need not be waited for any more. It reports whether it was waited for.
func (w *watcher) found(key []byte) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	before := len(w.keys)
	w.keys = slices.DeleteFunc(w.keys, func(a awaited) bool { return string(a.key) == string(key) })
	return len(w.keys) < before
}

// waiting returns the keys that nobody was found to have.
func (w *watcher) waiting() (keys [][]byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, a := range w.keys {
		keys = append(keys, a.key)
	}
	return keys
}

// await waits until the summary or tails of some peer match keys, and returns these keys; nil once ctx has ended.
func (w *watcher) await(ctx context.Context) (keys [][]byte) {
	for keys == nil {
		select {
		case <-ctx.Done():
			return nil
		case <-w.match:
			keys = w.due(ctx)
		}
	}
	return keys
}
