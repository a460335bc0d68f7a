package node

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/ipfs/go-cid"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/routing"
	ma "github.com/multiformats/go-multiaddr"
	mh "github.com/multiformats/go-multihash"

	"github.com/venn-p2p/venn/node/internal/streams"
	"github.com/venn-p2p/venn/node/keystore"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// TestWaitReady: a node that has waited finds what others hold, and a key that nobody holds is not looked for in vain.
func TestWaitReady(t *testing.T) {
	t.Parallel()
	alone := newNode(t)
	ctx, cancel := context.WithTimeout(t.Context(), 2*readyEvery)
	defer cancel()
	if err := alone.WaitReady(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v, want the end of ctx", err)
	}
	if err := alone.Close(); err != nil {
		t.Fatal(err)
	}
	if err := alone.WaitReady(t.Context()); !errors.Is(err, ErrClosed) {
		t.Errorf("%v, want ErrClosed", err)
	}
	nodes := meshOf(t, 6, 10)
	for range 5 {
		n := newNode(t, WithBootstrap(info(nodes[0])))
		if err := n.WaitReady(t.Context()); err != nil {
			t.Fatal(err)
		}
		if s := queried(t, n, []byte("nobody's"), QueryOptions{}); s.End != Exhausted || s.Covered < 1 {
			t.Error(s)
		}
		for i := range nodes {
			if found := find(t, n, keysOf(fmt.Sprint("old ", i), 1)[0], QueryOptions{}); len(found) != 1 {
				t.Errorf("key of %d: found %v", i, found)
			}
		}
	}
}

// TestPeerFilter: a node whose owner leaves a peer out neither links with it nor dials it, serves it nor finds it, while
// others do, and the other's connection ends.
func TestPeerFilter(t *testing.T) {
	out := newNode(t)
	n := newNode(t, WithPeerFilter(func(p peer.ID) bool { return p != out.ID() }))
	friend := newNode(t)
	add(t, out, []byte("k"))
	add(t, n, []byte("mine"))
	connect(t, friend, out)
	connect(t, n, friend)
	eventually(t, "the friend finds the key", func() bool { return len(find(t, friend, []byte("k"), QueryOptions{})) == 1 })
	if err := n.Connect(t.Context(), info(out)); !errors.Is(err, streams.ErrFiltered) {
		t.Errorf("%v, want ErrFiltered", err)
	}
	if found := find(t, n, []byte("k"), QueryOptions{All: true}); len(found) > 0 {
		t.Errorf("found %v", found)
	}
	r := &raw{t: t, h: out.host}
	if err := out.host.Connect(t.Context(), info(n)); err == nil {
		if _, err := r.exchange(n, HaveID, frame(wire.HaveRequest{Keys: [][]byte{[]byte("mine")}}.Append(nil))); err == nil {
			t.Error("a peer that is left out is answered")
		}
	}
	eventually(t, "nothing is left of it", func() bool { return !n.reached(out.ID()) })
	eventually(t, "the friend alone is a link", func() bool { return statusOf(t, n).Links == 1 })
}

// TestAddressFilter: what the owner's filter leaves out of records is neither dialled nor returned.
func TestAddressFilter(t *testing.T) {
	t.Parallel()
	none := func([]ma.Multiaddr) []ma.Multiaddr { return nil }
	n, friend, other := newNode(t, WithAddressFilter(none)), newNode(t), newNode(t)
	add(t, other, []byte("k"))
	connect(t, friend, other)
	eventually(t, "the friend knows the other", func() bool { return knows(friend, other) })
	connect(t, n, friend)
	eventually(t, "the record is held", func() bool {
		info, err := n.FindPeer(t.Context(), other.ID())
		if len(info.Addrs) > 0 {
			t.Fatalf("%v", info)
		}
		return err == nil
	})
	if n.reached(other.ID()) {
		t.Error("it was dialled")
	}
}

// TestQueryEvents: who registers for them hears what a search of providers asks.
func TestQueryEvents(t *testing.T) {
	t.Parallel()
	nodes := meshOf(t, 3, 10)
	hash := must(mh.Sum([]byte("x"), mh.SHA2_256, -1))
	c := cid.NewCidV1(cid.Raw, hash)
	if err := nodes[1].ProvideOnce(hash); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it is found", func() bool { return len(find(t, nodes[0], hash, QueryOptions{})) == 1 })
	for _, count := range []int{0, 1} {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		ctx, events := routing.RegisterForQueryEvents(ctx)
		for range nodes[0].FindProvidersAsync(ctx, c, count) {
		}
		cancel()
		seen := make(map[routing.QueryEventType]int)
		for ev := range events {
			if ev.ID == nodes[1].ID() {
				seen[ev.Type]++
			}
		}
		for _, kind := range []routing.QueryEventType{routing.SendingQuery, routing.PeerResponse, routing.Provider} {
			if seen[kind] == 0 {
				t.Errorf("count %d: no event of type %v: %v", count, kind, seen)
			}
		}
	}
	if nodes[0].Clear() != 0 || nodes[0].RefreshSchedule() != nil {
		t.Error("something waits to be announced")
	}
}

// numbered are keys that number their node's summaries.
type numbered struct {
	keystore.Memory
	next uint32
}

func (n *numbered) NextEpoch() (summary.Epoch, error) {
	n.next++
	return summary.Epoch{Generation: 7, Sequence: n.next}, nil
}

// TestOwnEpochs: a key store of one's own numbers the summaries.
func TestOwnEpochs(t *testing.T) {
	t.Parallel()
	n := newNode(t, WithKeys(new(numbered)))
	add(t, n, []byte("k"))
	eventually(t, "published", func() bool {
		return statusOf(t, n).Epoch == (summary.Epoch{Generation: 7, Sequence: 1})
	})
}
