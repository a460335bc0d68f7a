package node

import (
	"strconv"
	"sync"
	"testing"

	"github.com/ipfs/go-datastore"
	dssync "github.com/ipfs/go-datastore/sync"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/peerstore"
	"github.com/libp2p/go-libp2p/core/test"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/venn-p2p/venn/node/store"
)

// TestRejoin: a node whose bootstrap peer could not be reached at the start connects to it later, though it has a link
// with another. It leaves the peers of its last run alone.
func TestRejoin(t *testing.T) {
	t.Parallel()
	c, w := newNode(t), newHost(t)
	a, b := newNode(t, WithBootstrap(peer.AddrInfo{ID: c.ID()})), newNode(t) // no address of c is known yet
	<-a.Begun()
	connect(t, a, b)
	linked := func(p peer.ID) bool { return inLoop(t, a, func(l *loop) bool { return l.links[p] != nil }) }
	eventually(t, "a link", func() bool { return linked(b.ID()) })

	a.host.Peerstore().AddAddrs(c.ID(), c.host.Addrs(), peerstore.PermanentAddrTTL)
	eventually(t, "a link with the bootstrap peer", func() bool { return linked(c.ID()) })

	var dials *sync.WaitGroup
	look(t, a, func(l *loop) {
		l.hints = []entrance{a.entrance(infoOf(w))}
		dials = l.bootstrap()
	})
	dials.Wait()
	if a.reached(w.ID()) {
		t.Error("a peer of the last run was dialled while there are links")
	}
}

// TestHint: a peer that may be there is dialled when it is named first, and again while there is no link. Of many the
// last ones are kept in mind.
func TestHint(t *testing.T) {
	t.Parallel()
	a, b := newNode(t), newNode(t)
	silent, ok := test.RandPeerID()
	if ok != nil {
		t.Fatal(ok)
	}
	for range 20 {
		a.Hint(peer.AddrInfo{ID: silent})
	}
	a.Hint(info(a)) // of itself, as a search of the local network finds it, too
	a.Hint(info(b))
	eventually(t, "a link with a peer that was found", func() bool { return a.links.Linked(b.ID()) })
	if err := b.Disconnect(t.Context(), a.ID()); err != nil {
		t.Fatal(err)
	}
	eventually(t, "a link again", func() bool { return a.links.Linked(b.ID()) })
	for i := range 2 * maxHints {
		a.Hint(peer.AddrInfo{ID: peer.ID(strconv.Itoa(i))})
	}
	look(t, a, func(l *loop) {
		if len(l.hints) != maxHints || l.hints[maxHints-1].id != peer.ID(strconv.Itoa(2*maxHints-1)) {
			t.Errorf("%d peers are kept in mind, the last is %s", len(l.hints), l.hints[len(l.hints)-1].id)
		}
	})
}

// TestLastRunInTurns: a node without a link dials other peers of its last run when those that it dialled first are gone,
// though these were its neighbours.
func TestLastRunInTurns(t *testing.T) {
	t.Parallel()
	there := newNode(t)
	add(t, there, []byte("k"))
	var held []byte
	eventually(t, "a record", func() bool {
		look(t, there, func(l *loop) { held = l.ownRecord() })
		return held != nil
	})
	peers := []store.Peer{{ID: there.ID(), Record: held}}
	for range maxWarm {
		s := newStranger(t)
		peers = append(peers, store.Peer{ID: s.id, Neighbour: true, Record: s.record(t, 1, ma.StringCast("/ip4/127.0.0.1/tcp/1")).Envelope})
	}
	st := must(store.Open(t.Context(), dssync.MutexWrap(datastore.NewMapDatastore()), there.cfg.seed))
	if err := st.SavePeers(t.Context(), peers); err != nil {
		t.Fatal(err)
	}
	n := newNode(t, WithStore(st))
	eventually(t, "a link with a peer of the last run", func() bool { return n.links.Linked(there.ID()) })
}
