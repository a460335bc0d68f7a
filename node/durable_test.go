package node

import (
	"slices"
	"testing"

	ds "github.com/ipfs/go-datastore"
	dssync "github.com/ipfs/go-datastore/sync"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/routing"

	"github.com/venn-p2p/venn/node/keystore"
	"github.com/venn-p2p/venn/node/store"
	"github.com/venn-p2p/venn/summary"
)

// TestDatastore starts a node again on its datastore. It has its keys, private ones too, numbers its summaries on, and
// finds the peers that it knew with no bootstrap peer.
func TestDatastore(t *testing.T) {
	t.Parallel()
	d := dssync.MutexWrap(ds.NewMapDatastore())
	other := newNode(t)
	add(t, other, []byte("of the other"))
	h := newHost(t)
	n := nodeOn(t, h, WithDatastore(d))
	add(t, n, keysOf("k", 10)...)
	if _, err := n.AddPrivate(t.Context(), []byte("private"), []byte("gone")); err != nil {
		t.Fatal(err)
	}
	if removed, err := n.RemovePrivate(t.Context(), []byte("gone"), []byte("k/1")); err != nil || removed != 1 {
		t.Errorf("%d private keys removed, %v", removed, err)
	}
	dialTo(t, n, info(other))
	eventually(t, "they know each other", func() bool { return knows(n, other) && knows(other, n) })
	last := epochOf(t, n)
	_, _ = n.Close(), h.Close()

	again := nodeOn(t, hostLike(t, h), WithDatastore(d))
	if again.Len() != 10 || !must(again.Has([]byte("private"))) || must(again.Advertises([]byte("private"))) || must(again.Has([]byte("gone"))) {
		t.Errorf("%d keys, private one held: %v", again.Len(), must(again.Has([]byte("private"))))
	}
	eventually(t, "it has its peer again, told of nobody", func() bool { return knows(again, other) })
	eventually(t, "its summary is a later one", func() bool { return epochOf(t, again).After(last) })
	<-again.Begun()
	if got := find(t, again, []byte("of the other"), QueryOptions{}); !slices.Equal(got, []peer.ID{other.ID()}) {
		t.Errorf("found %v", got)
	}
}

// TestOneStore: a node takes one place for its keys, under the seed of its network.
func TestOneStore(t *testing.T) {
	memory := func() ds.Batching { return dssync.MutexWrap(ds.NewMapDatastore()) }
	s := must(store.Open(t.Context(), memory(), summary.Seed{Network: "venn", Number: 1}))
	defer func() { _ = s.Close() }()
	h := newHost(t)
	for name, opts := range map[string][]Option{
		"another seed":    {WithStore(s)},
		"another network": {WithStore(s), WithNetwork("other", 1)},
		"two stores":      {WithStore(s), WithNetwork("venn", 1), WithDatastore(memory())},
		"keys beside":     {WithStore(s), WithNetwork("venn", 1), WithKeys(&keystore.Memory{})},
		"keys and disk":   {WithDatastore(memory()), WithKeys(&keystore.Memory{})},
	} {
		if _, err := New(h, opts...); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	n := nodeOn(t, h, WithStore(s), WithNetwork("venn", 1))
	add(t, n, []byte("k"))
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	if !must(s.Has([]byte("k"))) {
		t.Error("the store does not have what the node took in")
	}
	if _, err := s.NextEpoch(); err != nil {
		t.Errorf("the node closed a store of the caller's: %v", err)
	}
}

// TestStoreThatCannotBeOpened: New fails, and leaves nothing behind.
func TestStoreThatCannotBeOpened(t *testing.T) {
	d := dssync.MutexWrap(ds.NewMapDatastore())
	if err := d.Put(t.Context(), ds.NewKey("/version"), []byte("another")); err != nil {
		t.Fatal(err)
	}
	h := newHost(t)
	if _, err := New(h, WithDatastore(d)); err == nil {
		t.Fatal("opened")
	}
	nodeOn(t, h)
}

// TestNeighbourEvents: a neighbour is announced on the event bus, and when it has gone. It is protected meanwhile.
func TestNeighbourEvents(t *testing.T) {
	t.Parallel()
	h, cm := managed(t)
	a, b := nodeOn(t, h), newNode(t)
	events := subscribe(t, a, new(EvtNeighbourChosen), new(EvtNeighbourDropped))
	add(t, a, keysOf("k", 100)...)
	add(t, b, keysOf("k", 100)...)
	dialTo(t, a, info(b))
	if ev := <-events; ev != (EvtNeighbourChosen{b.ID()}) {
		t.Errorf("%#v", ev)
	}
	eventually(t, "it is protected, in the mesh", func() bool {
		return cm.IsProtected(b.ID(), "venn") && cm.IsProtected(b.ID(), "pubsub:"+Topic("venn"))
	})
	_, _ = b.Close(), b.host.Close()
	if ev := <-events; ev != (EvtNeighbourDropped{b.ID()}) {
		t.Errorf("%#v", ev)
	}
	eventually(t, "it is no longer protected", func() bool { return !cm.IsProtected(b.ID(), "") })
}

// TestSlowSubscriber: who subscribes and does not read keeps the node neither from its work nor from closing.
func TestSlowSubscriber(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	_ = subscribe(t, n, new(EvtSummaryLearned))
	for range 2 * eventQueue {
		n.events.emit(EvtSummaryLearned{Origin: n.ID()})
	}
	if statusOf(t, n).Dropped["events"] == 0 {
		t.Error("none is dropped")
	}
	if err := n.Close(); err != nil {
		t.Error(err)
	}
}

// TestFindPeer tells where peers are that have published, and those that are connected.
func TestFindPeer(t *testing.T) {
	t.Parallel()
	a, b, bare := newNode(t), newNode(t), newHost(t)
	if _, err := a.FindPeer(t.Context(), b.ID()); err != routing.ErrNotFound { //nolint:errorlint // composed routers compare so
		t.Errorf("a stranger: %v", err)
	}
	add(t, b, []byte("k"))
	connect(t, a, b)
	eventually(t, "a knows b", func() bool { return knows(a, b) })
	dialTo(t, a.host, infoOf(bare))
	for _, p := range []peer.ID{b.ID(), bare.ID()} {
		if got, err := a.FindPeer(t.Context(), p); err != nil || got.ID != p || len(got.Addrs) == 0 {
			t.Errorf("%v, %v", got, err)
		}
	}
}
