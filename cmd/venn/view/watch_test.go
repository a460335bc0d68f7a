package view

import (
	"slices"
	"testing"

	"github.com/libp2p/go-libp2p"

	"github.com/venn-p2p/venn/node"
)

// TestAskGivesNoPrivateKeysAway asks a node for a key that it advertises, for a private one, and for one that nobody
// has. The answers to the last two are the same.
func TestAskGivesNoPrivateKeysAway(t *testing.T) {
	h, err := libp2p.New(libp2p.NoListenAddrs, libp2p.DisableMetrics())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = h.Close() }()
	n, err := node.New(h)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = n.Close() }()
	if _, err := n.Add(t.Context(), []byte("open")); err != nil {
		t.Fatal(err)
	}
	if _, err := n.AddPrivate(t.Context(), []byte("private")); err != nil {
		t.Fatal(err)
	}
	f := NewFeed(Header{}, 0)
	w := NewWatch(f, false)
	w.Add(t.Context(), Peer{Name: "it"}, n)
	ask := func(key string) Query {
		q, err := w.Ask(t.Context(), 0, []byte(key), false)
		if err != nil {
			t.Fatal(err)
		}
		return q
	}
	if q := ask("open"); !slices.Equal(q.Found, []int{w.Number(n.ID())}) {
		t.Errorf("an advertised key is found at %v", q.Found)
	}
	private, nobodys := ask("private"), ask("nobody's")
	if len(private.Found) > 0 || private.End != nobodys.End || private.Messages != nobodys.Messages {
		t.Errorf("a private key has the answer %+v, one that nobody holds %+v", private, nobodys)
	}
}
