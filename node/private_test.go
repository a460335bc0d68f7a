package node

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/venn-p2p/venn/node/keystore"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// named returns two nodes. The second holds the keys "public" and "private", and names the first, which may ask for both.
func named(t *testing.T) (a, b *Node) {
	t.Helper()
	a = newNode(t)
	b = newNode(t, WithPrivatePeers(func(p peer.ID) bool { return p == a.ID() }))
	if n, err := b.AddPrivate(t.Context(), []byte("private")); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	add(t, b, []byte("public"))
	return a, b
}

// TestPrivate holds private keys out of the summary, and has peers find them that may.
func TestPrivate(t *testing.T) {
	t.Parallel()
	a, b := named(t)
	private, public := []byte("private"), []byte("public")
	connect(t, a, b)
	eventually(t, "a knows b", func() bool { return knows(a, b) })
	held, err := a.SummaryOf(t.Context(), b.ID())
	if err != nil {
		t.Fatal(err)
	}
	if h := held.Header(); h.N != 1 || !held.Contains(a.hasher.Fingerprint(public)) || held.Contains(a.hasher.Fingerprint(private)) {
		t.Errorf("the summary has %d keys; the public one: %v, the private one: %v", h.N, held.Contains(a.hasher.Fingerprint(public)), held.Contains(a.hasher.Fingerprint(private)))
	}
	if got := find(t, a, private, QueryOptions{Private: true}); !slices.Equal(got, []peer.ID{b.ID()}) {
		t.Errorf("found by a linked peer: %v", got)
	}
	for _, n := range []*Node{a, b} {
		if s := queried(t, n, private, QueryOptions{}); s.Found > 0 || s.Self {
			t.Errorf("found at %d peers, here %t, by a query that may be for others", s.Found, s.Self)
		}
	}
	if n, err := b.AddPrivate(t.Context(), []byte("later")); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	eventually(t, "it finds a later one", func() bool {
		return slices.Equal(find(t, a, []byte("later"), QueryOptions{Private: true}), []peer.ID{b.ID()})
	})
	if !must(b.Has(private)) || b.Len() != 1 {
		t.Errorf("has it: %v; %d keys", must(b.Has(private)), b.Len())
	}
	if n, err := b.Remove(t.Context(), private, public); n != 2 || err != nil || must(b.Has(private)) {
		t.Errorf("removed %d, %v", n, err)
	}
	if _, err := b.AddPrivate(t.Context(), nil); !errors.Is(err, ErrKey) {
		t.Errorf("an empty key: %v", err)
	}
}

// looking is a key store that calls looks after each change, before whoever made the change knows of it.
type looking struct {
	keystore.Keys
	looks func()
}

func (l *looking) Add(keys [][]byte, fps []summary.Fingerprint) (int, error) {
	defer l.looks()
	return l.Keys.Add(keys, fps)
}

func (l *looking) Remove(keys [][]byte) (int, error) {
	defer l.looks()
	return l.Keys.Remove(keys)
}

// TestChangingHides: while the key store changes, the node says that it hides something. It says so no longer once the
// core knows of the changes.
func TestChangingHides(t *testing.T) {
	t.Parallel()
	looks, hid := 0, 0
	var n *Node
	store := &looking{Keys: new(keystore.Memory), looks: func() {
		if looks++; n.hides("") {
			hid++
		}
	}}
	n = newNode(t, WithKeys(store))
	keys := keysOf("k", 2000)
	add(t, n, keys...)
	if _, err := n.Remove(t.Context(), keys[:500]...); err != nil {
		t.Fatal(err)
	}
	if looks != 2 || hid != looks {
		t.Errorf("it hides something in %d of %d looks", hid, looks)
	}
	eventually(t, "the core knows", func() bool { return !n.hides("") })
}

// TestPrivateByOthers: a peer that may find a private key does not find it for others, nor after it has found it for itself.
// What it asks for itself and for others meanwhile is asked apart.
func TestPrivateByOthers(t *testing.T) {
	t.Parallel()
	a, b := named(t)
	private, public := []byte("private"), []byte("public")
	connect(t, a, b)
	eventually(t, "a knows b", func() bool { return knows(a, b) })
	stranger := newRaw(t, a)
	search := func(nonce uint64, key []byte) (holders int) {
		q := wire.Query{
			Kind: wire.Search, Nonce: nonce, Origin: wire.PeerID(stranger.h.ID()), Key: key,
			Want: 1, Budget: 30, Within: time.Second, Hops: 3, Fresh: -1,
		}
		var got []byte
		eventually(t, "a stranger's search is answered", func() (ok bool) {
			var err error
			got, err = stranger.exchange(a, QueryID, frame(q.Append(nil)))
			return err == nil
		})
		for r := bufio.NewReader(bytes.NewReader(got)); ; {
			f, err := wire.ReadFrame(r, wire.MaxAnswer, nil)
			if err != nil {
				return holders
			}
			holders += len(must(wire.ParseAnswer(f)).Records)
		}
	}
	if n := search(1, public); n != 1 {
		t.Errorf("the stranger is told of %d holders of a public key", n)
	}
	if n := search(2, private); n != 0 {
		t.Errorf("the stranger is told of %d holders of a private key", n)
	}
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if got := find(t, a, private, QueryOptions{Private: true}); !slices.Equal(got, []peer.ID{b.ID()}) {
				t.Errorf("its own search finds %v", got)
			}
		})
	}
	for i := range uint64(20) {
		if n := search(3+i, private); n != 0 {
			t.Errorf("beside its own searches, the stranger is told of %d holders", n)
		}
	}
	wg.Wait()
	if n := search(100, private); n != 0 {
		t.Errorf("after its own searches, the stranger is told of %d holders", n)
	}
}

// TestPrivateInTurns: private keys go to their store some at a time. So no reader of the store waits for a long list,
// and the end of a context is noticed.
func TestPrivateInTurns(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	store := &looking{Keys: new(keystore.Memory), looks: cancel}
	n := newNode(t, func(c *config) error { c.private = store; return nil })
	keys := keysOf("k", atOnce+1)
	if added, err := n.AddPrivate(ctx, keys...); added != atOnce || !errors.Is(err, context.Canceled) {
		t.Errorf("%d of %d added at a time, %v", added, len(keys), err)
	}
	ctx, cancel = context.WithCancel(t.Context())
	store.looks = cancel
	if removed, err := n.RemovePrivate(ctx, keys...); removed != atOnce || !errors.Is(err, context.Canceled) {
		t.Errorf("%d of %d removed at a time, %v", removed, len(keys), err)
	}
}
