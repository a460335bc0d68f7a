package node

import (
	"fmt"
	"io"
	"net"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	ds "github.com/ipfs/go-datastore"
	dssync "github.com/ipfs/go-datastore/sync"
	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"

	"github.com/venn-p2p/venn/node/signed"
	"github.com/venn-p2p/venn/node/store"
	"github.com/venn-p2p/venn/overlay/admission"
	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/wire"
)

// listener returns the address of a listener that takes connections and never answers, and how many it took.
func listener(t testing.TB) (ma.Multiaddr, *atomic.Int64) {
	t.Helper()
	return listenerOf(t, func(c net.Conn) {
		t.Cleanup(func() { _ = c.Close() })
		go func() { _, _ = io.Copy(io.Discard, c) }()
	})
}

// listenerOf is listener with what it does with a connection.
func listenerOf(t testing.TB, take func(net.Conn)) (ma.Multiaddr, *atomic.Int64) {
	t.Helper()
	l := must(net.Listen("tcp", "127.0.0.1:0"))
	t.Cleanup(func() { _ = l.Close() })
	taken := new(atomic.Int64)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			taken.Add(1)
			take(c)
		}
	}()
	a := must(manet.FromNetAddr(l.Addr()))
	return a, taken
}

// sayRecords has a raw peer say records of others.
func (r *raw) sayRecords(n *Node, records ...wire.Record) {
	r.t.Helper()
	for len(records) > 0 {
		k := min(len(records), 16)
		eventually(r.t, "they are taken", func() bool { // the queue may be full for a moment
			_, err := r.exchange(n, HelloID, frame(wire.Hello{Session: 1, Records: records[:k]}.Append(nil)))
			return err == nil
		})
		records = records[k:]
	}
}

// TestOldRecordAfterOthers: an old record of a peer whose summary is held does not win after those of 20,000 others.
func TestOldRecordAfterOthers(t *testing.T) {
	t.Parallel()
	n, p := newNode(t), newNode(t)
	add(t, p, []byte("k"))
	connect(t, n, p)
	eventually(t, "its summary and record are held", func() bool {
		info, err := n.FindPeer(t.Context(), p.ID())
		return err == nil && knows(n, p) && len(info.Addrs) > 0
	})
	old := ma.StringCast("/ip4/5.6.7.8/tcp/1")
	r, s := newRaw(t, n), stranger{p.key, p.ID()}
	var others []wire.Record
	count := 20_000
	if testing.Short() {
		count = 1000
	}
	for range count {
		others = append(others, newStranger(t).record(t, 1, old))
	}
	r.sayRecords(n, others...)
	r.sayRecords(n, s.record(t, 1, old), others[len(others)-1])
	time.Sleep(200 * time.Millisecond)
	if info, err := n.FindPeer(t.Context(), p.ID()); err != nil || slices.ContainsFunc(info.Addrs, old.Equal) {
		t.Errorf("it is said to be at %v, %v", info.Addrs, err)
	}
}

// TestOldRecordAfterRestart: an old record does not win over one of the last run either, which is then known.
func TestOldRecordAfterRestart(t *testing.T) {
	fresh, old := ma.StringCast("/ip4/1.2.3.4/tcp/1"), ma.StringCast("/ip4/5.6.7.8/tcp/1")
	d, s := dssync.MutexWrap(ds.NewMapDatastore()), newStranger(t)
	st := must(store.Open(t.Context(), d, newNode(t).cfg.seed))
	if err := st.SavePeers(t.Context(), []store.Peer{{ID: s.id, Record: s.record(t, 200, fresh).Envelope}}); err != nil {
		t.Fatal(err)
	}
	n := newNode(t, WithStore(st))
	r := newRaw(t, n)
	marker := newStranger(t) // whose record, said last, tells that those before were taken in
	r.sayRecords(n, s.record(t, 100, old), marker.record(t, 1, old))
	eventually(t, "the records were taken in", func() bool { _, err := n.FindPeer(t.Context(), marker.id); return err == nil })
	if info, err := n.FindPeer(t.Context(), s.id); err != nil || !slices.ContainsFunc(info.Addrs, fresh.Equal) || slices.ContainsFunc(info.Addrs, old.Equal) {
		t.Errorf("after an old record it is said to be at %v, %v; want that of the last run", info.Addrs, err)
	}
	now := ma.StringCast("/ip4/9.10.11.12/tcp/1")
	r.sayRecords(n, s.record(t, 300, now))
	eventually(t, "a newer one counts", func() bool {
		info, err := n.FindPeer(t.Context(), s.id)
		return err == nil && slices.ContainsFunc(info.Addrs, now.Equal)
	})
}

// TestOwnRecordAfterRestart: a node whose clock was set back since its last run is known at its present address by who
// holds the record of that run, and in the next run, too.
func TestOwnRecordAfterRestart(t *testing.T) {
	const ahead = uint64(1) << 62 // of every clock
	before := ma.StringCast("/ip4/1.2.3.4/tcp/1")
	s, seed := newStranger(t), newNode(t).cfg.seed
	kept := func() *store.Store {
		st := must(store.Open(t.Context(), dssync.MutexWrap(ds.NewMapDatastore()), seed))
		if err := st.SavePeers(t.Context(), []store.Peer{{ID: s.id, Record: s.record(t, ahead, before).Envelope}}); err != nil {
			t.Fatal(err)
		}
		return st
	}
	st := kept()
	n, m := nodeOn(t, hostWith(t, libp2p.Identity(s.key)), WithStore(st)), newNode(t, WithStore(kept()))
	add(t, n, []byte("k"))
	connect(t, n, m)
	eventually(t, "its summary is known", func() bool { return knows(m, n) })
	eventually(t, "it is known where it is", func() bool {
		info, err := m.FindPeer(t.Context(), n.ID())
		return err == nil && slices.ContainsFunc(info.Addrs, n.host.Addrs()[0].Equal)
	})
	n.saveKnown()
	i := slices.IndexFunc(st.Peers(), func(p store.Peer) bool { return p.ID == n.ID() })
	if i < 0 || signed.Seq(st.Peers()[i].Record) <= ahead {
		t.Error("the next run will not know what others hold")
	}
}

// TestNamesAreNotDialled: a record of another has this host look up no name, and shows none.
func TestNamesAreNotDialled(t *testing.T) {
	n, s := newNode(t), newStranger(t)
	at, taken := listener(t)
	_, port, err := manet.DialArgs(at)
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ = net.SplitHostPort(port)
	var addrs []ma.Multiaddr
	for _, a := range []string{"/dns4/localhost/tcp/%s", "/dns/localhost/tcp/%s", "/dnsaddr/localhost/tcp/%s", "/dns4/\x1b[2J\nforged/tcp/%s", "/ip4/127.0.0.1/tcp/%s/tls/sni/\x1b[2J/ws"} {
		addrs = append(addrs, ma.StringCast(fmt.Sprintf(a, port)))
	}
	r := s.record(t, 1, addrs...)
	if _, _, err := n.have(t.Context(), r, wire.HaveRequest{Keys: [][]byte{[]byte("k")}}, forQuery); err == nil || taken.Load() > 0 {
		t.Errorf("%d connections, %v; want none", taken.Load(), err)
	}
	if info := n.addrInfo(r); len(info.Addrs) > 0 {
		t.Errorf("%q is shown", info.Addrs)
	}
}

// TestRelaysOfOthers: records that name relays leave no connection with these, unless the relay is connected already.
func TestRelaysOfOthers(t *testing.T) {
	n := newNode(t)
	var relays []*Node
	var addrs []ma.Multiaddr
	for range 4 {
		relays = append(relays, newNode(t))
		relay := info(relays[len(relays)-1])
		addrs = append(addrs, ma.StringCast(fmt.Sprintf("%s/p2p/%s/p2p-circuit", relay.Addrs[0], relay.ID)))
	}
	_, _, _ = n.have(t.Context(), newStranger(t).record(t, 1, addrs...), wire.HaveRequest{Keys: [][]byte{[]byte("k")}}, forQuery)
	if got := n.host.Network().Peers(); len(got) > 0 {
		t.Errorf("connected with %v", got)
	}
	for _, r := range relays[:2] {
		connect(t, n, r)
	}
	if got := n.dialable(addrs, false); len(got) != 1 || !got[0].Equal(addrs[0]) {
		t.Errorf("%v is dialled, want one by a relay that is connected", got)
	}
	n.cfg.bootstrap = []peer.AddrInfo{info(relays[3])}
	if got := n.dialable(addrs[2:], false); len(got) != 1 || !got[0].Equal(addrs[3]) {
		t.Errorf("%v is dialled, want one by the bootstrap peer", got)
	}
}

// TestBlackHoles: searches of others that lead to addresses where nobody answers keep no query of this node's waiting,
// and such an address is dialled once for all that are said to be there.
func TestBlackHoles(t *testing.T) {
	n, holder := newNode(t), newNode(t)
	add(t, holder, []byte("k"))
	hole, taken := listener(t)
	other, _ := listener(t)
	look(t, n, func(l *loop) {
		for i := range 64 {
			at := hole
			if i%8 == 0 {
				at = other
			}
			l.confirm(event.Ask{Search: uint64(i), Owner: admission.Principal{Peer: "asker"}, To: newStranger(t).record(t, 1, at), Question: wire.HaveRequest{Keys: [][]byte{[]byte("k")}}})
		}
	})
	eventually(t, "they are dialled", func() bool { return taken.Load() > 0 })
	s := stranger{holder.key, holder.ID()}
	begun := time.Now()
	if _, _, err := n.have(t.Context(), s.record(t, 1, holder.host.Addrs()...), wire.HaveRequest{Keys: [][]byte{[]byte("k")}}, forQuery); err != nil || time.Since(begun) > time.Second {
		t.Errorf("a query of the node's own took %v, %v", time.Since(begun), err)
	}
	eventually(t, "all dials are over", func() bool { return n.dials[otherTurns].Held() == 0 })
	if most := int64(dialsAtOnce[otherTurns]); taken.Load() > most {
		t.Errorf("the hole was dialled %d times, want at most %d", taken.Load(), most)
	}
}

// TestOthersAddresses: who claims another's address beside a silent one does not keep searches for others from it. The
// silent one is remembered.
func TestOthersAddresses(t *testing.T) {
	n, h := newNode(t), newHost(t)
	hole, _ := listener(t)
	liar := peer.AddrInfo{ID: newStranger(t).id, Addrs: append(h.Addrs(), hole)}
	e := errand{turns: otherTurns, within: handshakeTime, questionsOnly: true}
	if err := n.dial(t.Context(), liar, e); err == nil {
		t.Fatal("nobody is there")
	}
	if left := n.notSilent(liar.Addrs); len(left) != len(h.Addrs()) {
		t.Errorf("%v are dialled again, want %v", left, h.Addrs())
	}
	if err := n.dial(t.Context(), infoOf(h), e); err != nil {
		t.Errorf("the other is not dialled: %v", err)
	}
}

// TestDialsForOthersAreShared: whoever has this node dial where nobody answers, another's search comes to its turn.
func TestDialsForOthersAreShared(t *testing.T) {
	n, holder := newNode(t), newNode(t)
	add(t, holder, []byte("k"))
	ask := func(l *loop, owner admission.Principal, to wire.Record) {
		l.confirm(event.Ask{Search: 1, Owner: owner, To: to, Question: wire.HaveRequest{Keys: [][]byte{[]byte("k")}}})
	}
	var holes []wire.Record
	for range 32 {
		at, _ := listener(t)
		holes = append(holes, newStranger(t).record(t, 1, at))
	}
	look(t, n, func(l *loop) {
		for i, hole := range holes {
			ask(l, admission.Principal{Peer: fmt.Sprint("party ", i), Group: "party"}, hole)
		}
	})
	eventually(t, "all dials are taken", func() bool { return n.dials[otherTurns].Held() == dialsAtOnce[otherTurns] })
	s := stranger{holder.key, holder.ID()}
	look(t, n, func(l *loop) {
		ask(l, admission.Principal{Peer: "honest", Group: "own"}, s.record(t, 1, holder.host.Addrs()...))
	})
	within(t, handshakeTime*3/2, "the holder is asked", func() bool { return n.reached(holder.ID()) })
}
