package node

import (
	"bytes"
	"context"
	"crypto/rand"
	"io"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	"github.com/libp2p/go-libp2p/p2p/protocol/ping"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/venn-p2p/venn/node/core"
	"github.com/venn-p2p/venn/node/internal/limits"
	"github.com/venn-p2p/venn/node/internal/mesh"
	"github.com/venn-p2p/venn/node/signed"
	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/wire"
)

// unless returns other limits for a node that is not defended.
func unless(defended bool, l limits.Limits) Option {
	if defended {
		l = limits.Limits{}
	}
	return WithLimits(l)
}

// stranger is an identity that signs records.
type stranger struct {
	key crypto.PrivKey
	id  peer.ID
}

func newStranger(t testing.TB) stranger {
	t.Helper()
	key, _, err := crypto.GenerateEd25519Key(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	id := must(peer.IDFromPrivateKey(key))
	return stranger{key, id}
}

func (s stranger) record(t testing.TB, seq uint64, addrs ...ma.Multiaddr) wire.Record {
	t.Helper()
	b := must(signed.Sign(&peer.PeerRecord{PeerID: s.id, Seq: seq, Addrs: addrs}, s.key))
	return wire.Record{Peer: wire.PeerID(s.id), Envelope: b}
}

// TestOldRecord: an old record of a peer does not take the place of a newer one.
func TestOldRecord(t *testing.T) {
	t.Parallel()
	fresh, old := ma.StringCast("/ip4/1.2.3.4/tcp/1"), ma.StringCast("/ip4/5.6.7.8/tcp/1")
	for _, defended := range []bool{true, false} {
		n := newNode(t, unless(defended, limits.Limits{Core: func(c *core.Config) { c.Overlay.Newest = nil }}))
		r, s := newRaw(t, n), newStranger(t)
		say := func(rec wire.Record) {
			t.Helper()
			if _, err := r.exchange(n, HelloID, frame(wire.Hello{Session: 1, Records: []wire.Record{rec}}.Append(nil))); err != nil {
				t.Fatal(err)
			}
		}
		at := func(a ma.Multiaddr) func() bool {
			return func() bool {
				got, err := n.FindPeer(t.Context(), s.id)
				return err == nil && len(got.Addrs) == 1 && got.Addrs[0].Equal(a)
			}
		}
		say(s.record(t, 200, fresh))
		eventually(t, "the record is known", at(fresh))
		say(s.record(t, 100, old))
		if !defended {
			eventually(t, "the old record takes its place", at(old))
			continue
		}
		say(s.record(t, 300, old))
		eventually(t, "a newer record takes its place", at(old))
		say(s.record(t, 200, fresh))
		time.Sleep(200 * time.Millisecond)
		if !at(old)() {
			t.Error("an old record took the place of a newer one")
		}
	}
}

// TestManyDials: a record of a hundred addresses makes few connections, once.
func TestManyDials(t *testing.T) {
	dials := func(l limits.Limits) func() (hits int64) {
		var addrs []ma.Multiaddr
		var all []*atomic.Int64
		for range 60 {
			at, taken := listenerOf(t, func(c net.Conn) { _ = c.Close() })
			addrs, all = append(addrs, at), append(all, taken)
		}
		n := newNode(t, WithLimits(l))
		if _, _, err := n.have(t.Context(), newStranger(t).record(t, 1, addrs...), wire.HaveRequest{Keys: [][]byte{[]byte("k")}}, forQuery); err == nil {
			t.Error("nobody is there, but answers")
		}
		return func() (hits int64) {
			for _, taken := range all {
				hits += taken.Load()
			}
			return hits
		}
	}
	few := dials(limits.Limits{})
	eventually(t, "an address is dialled", func() bool { return few() > 0 })
	all := false
	for try := 0; !all && try < 3; try++ { // the time of a dial may be over before a busy machine has made them all
		many := dials(limits.Limits{Addrs: 100, Dials: 100})
		for end := time.Now().Add(10 * time.Second); !all && time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
			all = many() >= 60
		}
	}
	if !all {
		t.Error("not all are dialled without the defence")
	}
	if got := few(); got > 8 {
		t.Errorf("%d connections, want at most 8", got)
	}
}

// TestDialable: public addresses come first, each once; private ones only where they can lead anywhere.
func TestDialable(t *testing.T) {
	n := newNode(t)
	var addrs []ma.Multiaddr
	for _, a := range []string{"/ip4/127.0.0.1/tcp/1", "/ip4/10.0.0.1/tcp/1", "/ip4/8.8.8.8/tcp/1", "/ip4/8.8.8.8/tcp/1"} {
		addrs = append(addrs, ma.StringCast(a))
	}
	if got := n.dialable(addrs, false); len(got) != 3 || !got[0].Equal(addrs[2]) {
		t.Errorf("in a private network: %v", got)
	}
	open := &Node{host: publicly{n.host}, cfg: n.cfg}
	if got := open.dialable(addrs, false); len(got) != 1 || !got[0].Equal(addrs[2]) {
		t.Errorf("on the open network: %v", got)
	}
}

// openedOutside waits until a number of signatures are verified by what begin begins, while the loop stands still.
func openedOutside(t *testing.T, n *Node, signatures int, begin func(*loop)) {
	t.Helper()
	look(t, n, func(l *loop) {
		before := n.cfg.headers.Verified()
		begin(l)
		for end := time.Now().Add(time.Minute); n.cfg.headers.Verified() < before+signatures; time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Errorf("%d opened outside the loop, want %d", n.cfg.headers.Verified()-before, signatures)
				return
			}
		}
	})
}

// TestHellosAreOpenedOutside: the signatures of the records in a hello are verified while the loop does something else.
func TestHellosAreOpenedOutside(t *testing.T) {
	n := newNode(t)
	r := newRaw(t, n)
	h := wire.Hello{Session: 1}
	for range 16 {
		h.Records = append(h.Records, newStranger(t).record(t, 1))
	}
	said := make(chan error, 1)
	openedOutside(t, n, 16, func(*loop) {
		go func() {
			_, err := r.exchange(n, HelloID, frame(h.Append(nil)))
			said <- err
		}()
	})
	if err := <-said; err != nil {
		t.Error(err)
	}
}

// TestAnswersAreOpenedOutside: so are the headers and records of the summaries that peers give in answer to an inquiry or a
// request for parts, and the record of a holder.
func TestAnswersAreOpenedOutside(t *testing.T) {
	n := newNode(t)
	r, names, holder := newRaw(t, n), wire.Names{}, newStranger(t)
	first := func(keys int) wire.Parts {
		o := newOrigin(t, "o", keys)
		it := o.item()
		it.Have, it.Want = 0, 1
		return *o.parts(t, it)
	}
	for range 8 {
		names.Introductions = append(names.Introductions, first(10))
	}
	answers := func(id protocol.ID, a wire.Message) {
		r.h.SetStreamHandler(wire.ProtocolIn("venn", id), func(s network.Stream) {
			_, _ = io.CopyN(io.Discard, s, 1)
			_ = wire.WriteFrame(s, a.Append(nil))
			_ = s.CloseWrite()
		})
	}
	answers(PeersID, names)
	answers(PartsID, first(20))
	answers(HaveID, wire.HaveAnswer{true})
	to := wire.Record{Peer: wire.PeerID(r.h.ID())}
	openedOutside(t, n, 16, func(*loop) { go func() { _, _ = n.inquire(to, wire.Inquiry{Near: true}) }() })
	openedOutside(t, n, 2, func(*loop) { go func() { _, _, _ = n.fetch(to, wire.PartsRequest{End: 1}) }() })
	openedOutside(t, n, 1, func(l *loop) {
		at := event.Ask{To: wire.Record{Peer: to.Peer, Envelope: holder.record(t, 1).Envelope}, Question: wire.HaveRequest{Keys: [][]byte{{1}}}}
		l.confirmAll(r.h.ID(), []event.Ask{at})
	})
}

// TestHeadersInTheLoop: the loop verifies the header and the record of parts that it has asked for, nothing of others. A
// turn has one of each at most.
func TestHeadersInTheLoop(t *testing.T) {
	n := newNode(t)
	r, o := newRaw(t, n), newOrigin(t, "o", 100)
	r.meshed(n)
	it := o.item()
	it.Have, it.Want = 0, it.Have
	before := n.cfg.headers.Verified()
	r.publish(n, Topic("venn"), it.Group[:], nil, o.parts(t, it).Append(nil))
	eventually(t, "they are refused", func() bool { return refusals(t, n)["unasked"] > 0 })
	if now := n.cfg.headers.Verified(); now != before {
		t.Errorf("%d signatures of parts that nobody asked for were verified", now-before)
	}
}

// TestOffender: a peer that goes on sending garbage on streams is served no more, and is no link; another is.
func TestOffender(t *testing.T) {
	t.Parallel()
	for _, defended := range []bool{true, false} {
		n := newNode(t, unless(defended, limits.Limits{Offences: 100}))
		add(t, n, []byte("k"))
		r := newRaw(t, n)
		served := 0
		for range 30 {
			before := refusals(t, n)["/venn/have/1.0.0 malformed"]
			_, _ = r.exchange(n, HaveID, frame([]byte{0xff, 0xff, 0xff}))
			eventually(t, "it is refused", func() bool {
				all := refusals(t, n)
				if all["/venn/have/1.0.0 malformed"] > before {
					served++
					return true
				}
				return all["offender"] > 0 || n.barred(r.h.ID()) // one that is barred may not even get as far as a stream
			})
		}
		if (served == 30) != !defended {
			t.Errorf("defended: %v: %d of 30 streams served", defended, served)
		}
		if !defended {
			eventually(t, "it is a link", func() bool { return n.links.Linked(r.h.ID()) })
			continue
		}
		eventually(t, "it is not connected", func() bool { return !n.reached(r.h.ID()) })
		for range 5 {
			_ = r.h.Connect(t.Context(), info(n))
			eventually(t, "it does not stay", func() bool { return !n.reached(r.h.ID()) })
		}
		works(t, n)
	}
}

// TestMalformedRPCs: a peer that goes on sending what is no RPC to pubsub is barred, as on other streams. Its connection is
// closed, though it has a stream of another protocol open.
func TestMalformedRPCs(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	add(t, n, []byte("k"))
	r := newRaw(t, n)
	garbage := frame(bytes.Repeat([]byte{0xff}, 50))
	if _, err := must(r.h.NewStream(t.Context(), n.ID(), ping.ID)).Write(make([]byte, 32)); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it is barred", func() bool {
		if n.barred(r.h.ID()) {
			return true
		}
		if s, err := r.h.NewStream(t.Context(), n.ID(), mesh.ProtocolID); err == nil {
			_, _ = s.Write(garbage)
			_ = s.Close()
		}
		return false
	})
	eventually(t, "it is not connected", func() bool { return !n.reached(r.h.ID()) })
	works(t, n)
}

// TestQuickRestarts: numbers of summaries rise from run to run, however short.
func TestQuickRestarts(t *testing.T) {
	var last uint64
	for range 200 {
		var e clockEpochs
		for range 3 {
			got, err := e.NextEpoch()
			if err != nil {
				t.Fatal(err)
			}
			if now := uint64(got.Generation)<<32 | uint64(got.Sequence); now <= last {
				t.Fatalf("%v is not later than those before", got)
			} else {
				last = now
			}
		}
		time.Sleep(10 * time.Microsecond)
	}
}

// TestUnrecordedIsNoFailure: a peer that cannot be asked for want of its record is not suspected. One that is dialled
// in vain is.
func TestUnrecordedIsNoFailure(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	for _, to := range []wire.Record{{Peer: wire.PeerID(newStranger(t).id)}, newStranger(t).record(t, 1, ma.StringCast("/ip4/127.0.0.1/tcp/1"))} {
		look(t, n, func(l *loop) { l.confirm(event.Ask{To: to, Question: wire.HaveRequest{Keys: [][]byte{{1}}}}) })
		eventually(t, "there is a result", func() bool {
			return inLoop(t, n, func(l *loop) bool { _, under := l.asks[peer.ID(to.Peer)]; return !under })
		})
		if got := inLoop(t, n, func(l *loop) bool { return l.core.Routing.Suspected(to.Peer) }); got != (len(to.Envelope) > 0) {
			t.Errorf("record of %d bytes: suspected %t", len(to.Envelope), got)
		}
	}
}

// TestSilentPeer: a peer that takes connections and never answers holds a dial for a few seconds, not for ever.
func TestSilentPeer(t *testing.T) {
	t.Parallel()
	a, _ := listener(t)
	n, s := newNode(t), newStranger(t)
	ctx, cancel := context.WithTimeout(t.Context(), 4*dialTime)
	defer cancel()
	if _, _, err := n.have(ctx, s.record(t, 1, a), wire.HaveRequest{Keys: [][]byte{[]byte("k")}}, forQuery); err == nil || ctx.Err() != nil {
		t.Errorf("%v, %v", err, ctx.Err())
	}
}
