package view

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/libp2p/go-libp2p"

	"github.com/venn-p2p/venn/node"
	"github.com/venn-p2p/venn/summary"
)

// TestAskGivesNoPrivateKeysAway asks a node for a key that it advertises, for a private one, and for one that nobody
// has. The answers to the last two are the same.
func TestAskGivesNoPrivateKeysAway(t *testing.T) {
	h := must(libp2p.New(libp2p.NoListenAddrs, libp2p.DisableMetrics()))
	defer func() { _ = h.Close() }()
	n := must(node.New(h))
	defer func() { _ = n.Close() }()
	must(n.Add(t.Context(), []byte("open")))
	must(n.AddPrivate(t.Context(), []byte("private")))
	f := NewFeed(Header{}, 0)
	w := NewWatch(f, false)
	w.Add(t.Context(), Peer{Name: "it"}, n)
	ask := func(key string) Query {
		return must(w.Ask(t.Context(), 0, []byte(key), false))
	}
	if q := ask("open"); !slices.Equal(q.Found, []int{w.Number(n.ID())}) {
		t.Errorf("an advertised key is found at %v", q.Found)
	}
	private, nobodys := ask("private"), ask("nobody's")
	if len(private.Found) > 0 || private.End != nobodys.End || private.Messages != nobodys.Messages {
		t.Errorf("a private key has the answer %+v, one that nobody holds %+v", private, nobodys)
	}
}

// Peers that start again and again are asked once each.
func TestRestartedPeersAreWatchedOnce(t *testing.T) {
	w := NewWatch(NewFeed(Header{}, 0), false)
	look := w.watched()
	for life := range 100 {
		for n := range 3 {
			w.put(member{n: n, rate: uint64(life)})
		}
		if life == 0 {
			look = w.watched()
		}
	}
	if got := w.watched(); len(got) != 3 || got[2] != (member{n: 2, rate: 99}) {
		t.Errorf("members %v, want the last life of each of 3", got)
	}
	if len(look) != 3 || look[0].rate != 0 {
		t.Errorf("an earlier look's members changed to %v", look)
	}
}

// Nodes say what they learn side by side: one may be heard to know a tail before its maker is heard to have made it. A
// viewer that was told so would count the first of them as one that never heard of it. So news waits a second.
func TestNewsWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := NewFeed(Header{}, 0)
		w := NewWatch(f, false)
		w.add("maker", Peer{Name: "maker"})
		w.add("other", Peer{Name: "other"})
		var p place
		follow(t, f, &p)
		ctx, end := context.WithCancel(t.Context())
		go w.flushes(ctx)
		for tail := range uint32(2) {
			w.noteLearned(1, "maker", version{summary.Epoch{Sequence: 7}, tail})
			time.Sleep(tellAfter - flushEvery/2)
			if got := follow(t, f, &p); len(got) != int(tail) {
				t.Errorf("%v after tail %d is known there is %q", tellAfter-flushEvery/2, tail, got)
			}
		}
		end()
		synctest.Wait()
		if got := follow(t, f, &p); len(got) != 1 || !strings.HasSuffix(got[0], ",1]]}\n") || len(w.learned) != 0 {
			t.Errorf("at the end there is %q, and %v waits", got, w.learned)
		}
	})
}
