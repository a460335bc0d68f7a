package node

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p"
	pubsub "github.com/libp2p/go-libp2p-pubsub"
	"github.com/libp2p/go-libp2p/core/event"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	"github.com/libp2p/go-libp2p/p2p/net/connmgr"
	"github.com/libp2p/go-libp2p/p2p/protocol/identify"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/venn-p2p/venn/node/internal/inbox"
	"github.com/venn-p2p/venn/overlay/wire"
)

// managed is a host with a connection manager, as most programs have it.
func managed(t testing.TB) (host.Host, *connmgr.BasicConnMgr) {
	t.Helper()
	cm := must(connmgr.NewConnManager(100, 200))
	return hostOf(t, libp2p.ListenAddrStrings("/ip4/127.0.0.1/tcp/0"), libp2p.ConnectionManager(cm), libp2p.DisableRelay()), cm
}

// expire makes all that the node keeps account of idle for too long, and has it look.
func expire(t testing.TB, n *Node) {
	t.Helper()
	look(t, n, func(l *loop) { l.closeStale(n.now() + time.Minute) })
}

// TestForeignConnections: the connections of other protocols live on, whoever made them, however many there are and
// however idle they look to the node.
func TestForeignConnections(t *testing.T) {
	h, cm := managed(t)
	n := nodeOn(t, h, WithMaxConnections(16))
	var all []host.Host
	for i := range 20 {
		other := newHost(t)
		other.SetStreamHandler("/app/1", func(s network.Stream) { _, _ = io.Copy(io.Discard, s) })
		from, to := h, other
		if i%2 == 1 {
			from, to = other, h
		}
		dialTo(t, from, infoOf(to))
		if i == 0 {
			cm.Protect(other.ID(), "app")
		}
		all = append(all, other)
	}
	s, err := h.NewStream(t.Context(), all[0].ID(), "/app/1")
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		expire(t, n)
	}
	for i, other := range all {
		if len(h.Network().ConnsToPeer(other.ID())) == 0 {
			t.Errorf("the connection with %d is gone", i)
		}
	}
	if _, err := s.Write(make([]byte, 1000)); err != nil {
		t.Error(err)
	}
}

// TestSharedConnections: a connection that the node made is closed when it is idle. It stays if somebody else has come
// to use it with a stream, a protection or a tag.
func TestSharedConnections(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		use   func(t *testing.T, h host.Host, cm *connmgr.BasicConnMgr, p peer.ID)
		stays bool
	}{
		{"unused", func(*testing.T, host.Host, *connmgr.BasicConnMgr, peer.ID) {}, false},
		{"with identify under way", func(t *testing.T, h host.Host, _ *connmgr.BasicConnMgr, p peer.ID) {
			if _, err := h.NewStream(t.Context(), p, identify.ID); err != nil { // nobody ends it here
				t.Fatal(err)
			}
		}, false},
		{"in the mesh", func(_ *testing.T, _ host.Host, cm *connmgr.BasicConnMgr, p peer.ID) {
			cm.Protect(p, "pubsub:"+Topic("venn"))
		}, false},
		{"in the mesh, protected", func(_ *testing.T, _ host.Host, cm *connmgr.BasicConnMgr, p peer.ID) {
			cm.Protect(p, "pubsub:"+Topic("venn"))
			cm.Protect(p, "app")
		}, true},
		{"protected", func(_ *testing.T, _ host.Host, cm *connmgr.BasicConnMgr, p peer.ID) { cm.Protect(p, "app") }, true},
		{"tagged", func(_ *testing.T, _ host.Host, cm *connmgr.BasicConnMgr, p peer.ID) { cm.TagPeer(p, "app", 1) }, true},
		{"with a stream", func(t *testing.T, h host.Host, _ *connmgr.BasicConnMgr, p peer.ID) {
			if _, err := h.NewStream(t.Context(), p, "/app/1"); err != nil {
				t.Fatal(err)
			}
		}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			within := 10 * time.Second
			if c.stays {
				within = 100 * time.Millisecond
			}
			for range 3 { // a stream that has no protocol yet, as identify's has at first, may be of anybody
				if stays := shared(t, c.use, within); stays == c.stays {
					return
				} else if c.stays {
					break
				}
			}
			t.Errorf("the connection stays: %v, want %v", !c.stays, c.stays)
		})
	}
}

// shared makes a connection, has somebody use it, and says whether it stays for a time although the node no longer
// needs it.
func shared(t *testing.T, use func(*testing.T, host.Host, *connmgr.BasicConnMgr, peer.ID), within time.Duration) (stays bool) {
	t.Helper()
	h, cm := managed(t)
	n := nodeOn(t, h)
	other := newHost(t)
	other.SetStreamHandler("/app/1", func(s network.Stream) { _, _ = io.Copy(io.Discard, s) })
	identified := must(other.EventBus().Subscribe(new(event.EvtPeerIdentificationCompleted)))
	defer func() { _ = identified.Close() }()
	if err := n.dial(t.Context(), infoOf(other), forQuery); err != nil {
		t.Fatal(err)
	}
	use(t, h, cm, other.ID())
	select {
	case <-identified.Out():
	case <-time.After(time.Minute):
		t.Fatal("the other end does not identify the node's host within a minute")
	}
	expire(t, n)
	if made, _ := n.links.Counts(); made != 0 {
		t.Errorf("%d connections still count as the node's", made)
	}
	stays = true
	for end := time.Now().Add(within); stays && time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		stays = len(h.Network().ConnsToPeer(other.ID())) > 0
	}
	return stays
}

// TestOtherPubsub: an application's own gossipsub works on the host of a node, and the node's beside it.
func TestOtherPubsub(t *testing.T) {
	t.Parallel()
	ha, hb := newHost(t), newHost(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var subs []*pubsub.Subscription
	var tops []*pubsub.Topic
	for _, h := range []host.Host{ha, hb} {
		ps := must(pubsub.NewGossipSub(ctx, h))
		top := must(ps.Join("app"))
		sub := must(top.Subscribe())
		tops, subs = append(tops, top), append(subs, sub)
	}
	a, b := nodeOn(t, ha), nodeOn(t, hb)
	add(t, a, keysOf("a", 100)...)
	add(t, b, keysOf("b", 100)...)
	connect(t, a, b)
	eventually(t, "the nodes know each other", func() bool { return knows(a, b) && knows(b, a) })
	exchange := func() {
		t.Helper()
		eventually(t, "the application's message arrives", func() bool {
			_ = tops[1].Publish(ctx, []byte("hi"))
			c, done := context.WithTimeout(ctx, 300*time.Millisecond)
			defer done()
			m, err := subs[0].Next(c)
			return err == nil && m.ReceivedFrom == hb.ID()
		})
	}
	exchange()
	_, _ = a.Close(), b.Close()
	exchange()
}

// TestSecondNode: a host has room for one node, and for another when it is closed.
func TestSecondNode(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	n := nodeOn(t, h)
	if _, err := New(h, WithNetwork("another", 0)); !errors.Is(err, ErrHost) {
		t.Errorf("a second node: %v", err)
	}
	add(t, n, []byte("k")) // the first is as it was
	other := newNode(t)
	connect(t, other, n)
	eventually(t, "the first is known", func() bool { return knows(other, n) })
	_ = n.Close()
	nodeOn(t, h)
}

// TestNothingLeft: after Close there is no tag, protection or handler of the node on its host.
func TestNothingLeft(t *testing.T) {
	h, cm := managed(t)
	bare := h.Mux().Protocols()
	n := nodeOn(t, h)
	add(t, n, keysOf("k", 100)...)
	var others []peer.ID
	for range 3 {
		m := newNode(t)
		add(t, m, keysOf("k", 100)...)
		dialTo(t, n, info(m))
		others = append(others, m.ID())
	}
	marked := func(p peer.ID) bool { return cm.IsProtected(p, "") || len(cm.GetTagInfo(p).Tags) > 0 }
	eventually(t, "all are neighbours, in the mesh", func() bool {
		return !slices.ContainsFunc(others, func(p peer.ID) bool {
			return !cm.IsProtected(p, "venn") || !cm.IsProtected(p, "pubsub:"+Topic("venn"))
		})
	})
	_ = n.Close()
	for _, p := range others {
		if marked(p) {
			t.Errorf("still marked: %v, protected %v", cm.GetTagInfo(p).Tags, cm.IsProtected(p, ""))
		}
	}
	left := slices.DeleteFunc(h.Mux().Protocols(), func(id protocol.ID) bool { return slices.Contains(bare, id) })
	if len(left) > 0 {
		t.Errorf("handlers left: %v", left)
	}
}

// onEnd is called with each connection of a host that ends.
type onEnd struct{ do func(network.Conn) }

func (*onEnd) Connected(network.Network, network.Conn)          {}
func (*onEnd) Listen(network.Network, ma.Multiaddr)             {}
func (*onEnd) ListenClose(network.Network, ma.Multiaddr)        {}
func (e *onEnd) Disconnected(_ network.Network, c network.Conn) { e.do(c) }

// TestBackAtOnce: a link whose connection is closed has ended, even if the other end dials back before the node hears
// of that. It is made again on the new connection.
func TestBackAtOnce(t *testing.T) {
	n, m := newNode(t), newNode(t)
	add(t, m, []byte("m"))
	connect(t, m, n)
	linked := func() bool { return statusOf(t, n).Links == 1 }
	eventually(t, "they are linked", linked)
	m.host.Network().Notify(&onEnd{func(network.Conn) {
		go func() {
			for m.host.Connect(t.Context(), info(n)) != nil && t.Context().Err() == nil { // a dial may fail
				time.Sleep(time.Millisecond)
			}
		}()
	}})
	for range 20 { // one of them is probably notified before the node is, and holds up that it is
		n.host.Network().Notify(&onEnd{func(network.Conn) {
			for end := time.Now().Add(10 * time.Second); !n.reached(m.ID()) && t.Context().Err() == nil && time.Now().Before(end); {
				time.Sleep(time.Millisecond)
			}
		}})
	}
	closed := subscribe(t, n, new(EvtLinkClosed))
	for range 5 {
		_ = n.host.Network().ClosePeer(m.ID())
		eventually(t, "the end of the link is announced", func() bool { return slices.Contains(waiting(closed), any(EvtLinkClosed{m.ID()})) })
		eventually(t, "they are linked again", linked)
	}
	if got := find(t, n, []byte("m"), QueryOptions{}); len(got) != 1 {
		t.Errorf("found %v", got)
	}
}

// TestLateNoteOfAnEnd: the end of a former connection, noted after its peer is linked again, ends nothing. The peer
// says hello and no more, so that no graft brings its link back.
func TestLateNoteOfAnEnd(t *testing.T) {
	n, m := newNode(t), newHost(t)
	m.SetStreamHandler(wire.ProtocolIn("venn", HelloID), func(s network.Stream) { _, _ = io.ReadAll(s); _ = s.Close() })
	dialTo(t, n, infoOf(m))
	eventually(t, "they are linked", func() bool { return statusOf(t, n).Links == 1 })
	n.links.Closed(m.ID()) // what notifiee.Disconnected does if m comes back while it runs
	n.in.LinkChanged(m.ID(), inbox.Ended)
	eventually(t, "the link is in the table again", func() bool { return n.links.Linked(m.ID()) })
}

// TestLinkOpenedAfterHello: a peer that takes no hello is no link.
func TestLinkOpenedAfterHello(t *testing.T) {
	t.Parallel()
	n, friend := newNode(t), newNode(t)
	deaf := newHost(t)
	deaf.SetStreamHandler(wire.ProtocolIn("venn", HelloID), func(s network.Stream) { _ = s.Reset() })
	events := subscribe(t, n, new(EvtLinkOpened))
	dialTo(t, n, infoOf(deaf))
	dialTo(t, n, info(friend))
	eventually(t, "the connection with the deaf peer is given up", func() bool {
		return len(n.host.Network().ConnsToPeer(deaf.ID())) == 0
	})
	select {
	case ev := <-events:
		if ev != (EvtLinkOpened{friend.ID()}) {
			t.Errorf("%#v, want a link with the friend", ev)
		}
	case <-time.After(time.Minute):
		t.Error("no link with the friend")
	}
	if more := waiting(events); len(more) > 0 {
		t.Errorf("more links: %v", more)
	}
}

// TestStrangersAndPrivateKeys: a stranger that asks for a private key hears no, and so does a link that the owner has not
// named. No search finds the key, and nobody else hears that there are such keys.
func TestStrangersAndPrivateKeys(t *testing.T) {
	t.Parallel()
	var named atomic.Pointer[peer.ID]
	n := newNode(t, WithPrivatePeers(func(p peer.ID) bool { id := named.Load(); return id != nil && *id == p }))
	if _, err := n.AddPrivate(t.Context(), []byte("private")); err != nil {
		t.Fatal(err)
	}
	add(t, n, []byte("public"))
	ask := func(r *raw) (has []bool) {
		t.Helper()
		got, err := r.exchange(n, HaveID, frame(wire.HaveRequest{Keys: [][]byte{[]byte("private"), []byte("public")}, Private: true}.Append(nil)))
		if err != nil {
			t.Fatal(err)
		}
		if has, err = wire.ParseHaveAnswer(got[1:], 2); err != nil {
			t.Fatal(err)
		}
		return has
	}
	stranger := &raw{t: t, h: newHost(t)}
	dialTo(t, stranger.h, info(n))
	if got := ask(stranger); got[0] || !got[1] {
		t.Errorf("a stranger is told %v", got)
	}
	friend := newRaw(t, n)
	eventually(t, "it is a link", func() bool { return n.links.Linked(friend.h.ID()) })
	eventually(t, "the core knows all", func() bool { return !n.hides("") })
	if got := ask(friend); got[0] || !got[1] || n.hides(wire.PeerID(friend.h.ID())) {
		t.Errorf("a link is told %v, and that there are private keys: %v", got, n.hides(wire.PeerID(friend.h.ID())))
	}
	id := friend.h.ID()
	named.Store(&id)
	if got := ask(friend); !got[0] || !got[1] || !n.hides(wire.PeerID(id)) {
		t.Errorf("a peer that is named is told %v", got)
	}
	for _, kind := range []wire.Kind{wire.Candidates, wire.Search} {
		q := wire.Query{Kind: kind, Nonce: uint64(kind), Origin: wire.PeerID(id), Key: []byte("private"), Budget: 100, Want: 1, Within: time.Second, Hops: 3}
		got, err := friend.exchange(n, QueryID, frame(q.Append(nil)))
		if err != nil {
			t.Fatal(err)
		}
		a, err := wire.ParseAnswer(unframed(t, got))
		if err != nil || len(a.Records) > 0 || !a.Final {
			t.Errorf("kind %v is answered %+v, %v", kind, a, err)
		}
	}
}
