package node

import (
	"errors"
	"io"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	"github.com/libp2p/go-libp2p/p2p/protocol/ping"

	"github.com/venn-p2p/venn/node/internal/limits"
	"github.com/venn-p2p/venn/node/internal/streams"
)

// guest is a protocol beside the node's, which sends back what it gets.
const guest protocol.ID = "/app/1"

func serveGuest(h host.Host) { h.SetStreamHandler(guest, echo) }

func echo(s network.Stream) { _, _ = io.Copy(s, s) }

// answered reports whether the guest at the other end sends a byte back.
func answered(s network.Stream) bool {
	_, err := s.Write([]byte{1})
	if err == nil {
		_, err = io.ReadFull(s, make([]byte, 1))
	}
	return err == nil
}

// TestGuestsStreamsStay: a connection made to ask a question stays while a guest uses it, and ends then.
func TestGuestsStreamsStay(t *testing.T) {
	t.Parallel()
	a, b := newNode(t), newNode(t)
	serveGuest(b.Host())
	if err := a.dial(t.Context(), info(b), forQuery); err != nil {
		t.Fatal(err)
	}
	s := must(a.Host().NewStream(t.Context(), b.ID(), guest))
	for end := time.Now().Add(6 * time.Second); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if !answered(s) {
			t.Fatal("the stream has ended")
		}
	}
	_ = s.Close()
	eventually(t, "the connection ends after the stream", func() bool { return !a.reached(b.ID()) })
}

// TestGuestsDialByRecord: who opens a stream of a guest is connected by a record that the node holds, and by nothing else.
func TestGuestsDialByRecord(t *testing.T) {
	t.Parallel()
	a, b, friend := newNode(t), newNode(t), newNode(t)
	serveGuest(b.Host())
	a.host.Peerstore().AddAddrs(b.ID(), b.host.Addrs(), time.Hour)
	if _, err := a.Host().NewStream(t.Context(), b.ID(), guest); !errors.Is(err, ErrUnknown) {
		t.Errorf("without a record: %v", err)
	}
	add(t, b, []byte("k"))
	connect(t, b, friend)
	connect(t, a, friend)
	eventually(t, "the peer is known", func() bool { return knows(a, b) })
	if s := must(a.Host().NewStream(t.Context(), b.ID(), guest)); !answered(s) {
		t.Error("no answer")
	}
}

// TestBarredPeersHaveNoGuests: a peer that the node bars loses the streams of guests, and gets none, though somebody else
// keeps its connection.
func TestBarredPeersHaveNoGuests(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"filter", "offences", "match"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var filtered atomic.Bool
			h, cm := managed(t)
			n, other := nodeOn(t, h, WithPeerFilter(func(peer.ID) bool { return !filtered.Load() })), newHost(t)
			cm.Protect(other.ID(), "app")
			if name == "match" {
				n.Host().SetStreamHandlerMatch("/app", func(id protocol.ID) bool { return id == guest }, echo)
			} else {
				serveGuest(n.Host())
			}
			serveGuest(other)
			dialTo(t, other, info(n))
			theirs := must(other.NewStream(t.Context(), n.ID(), guest))
			ours := must(n.Host().NewStream(t.Context(), other.ID(), guest))
			if !answered(theirs) || !answered(ours) {
				t.Fatal("the guests do not answer")
			}
			if name != "offences" {
				filtered.Store(true)
			}
			for !n.barred(other.ID()) {
				n.offended(other.ID(), "test", io.ErrNoProgress)
			}
			for _, s := range []network.Stream{theirs, ours} {
				eventually(t, "the stream has ended", func() bool { return !answered(s) })
			}
			if s, err := other.NewStream(t.Context(), n.ID(), guest); err == nil && answered(s) {
				t.Error("a barred peer is served")
			}
			if _, err := n.Host().NewStream(t.Context(), other.ID(), guest); !errors.Is(err, streams.ErrFiltered) {
				t.Errorf("a barred peer is asked: %v", err)
			}
			if !n.reached(other.ID()) {
				t.Error("the connection is gone")
			}
		})
	}
}

// TestGuestsAreNoFreeWork: peers pay for what guests read and write for them, out of their share of the node's work. On
// a guarded host they pay for what libp2p reads and writes for them, too.
func TestGuestsAreNoFreeWork(t *testing.T) {
	t.Parallel()
	work := .02 / float64(runtime.GOMAXPROCS(0)) // 7 ms a second
	byQUIC := libp2p.ListenAddrStrings("/ip4/127.0.0.1/udp/0/quic-v1")
	for _, c := range []struct {
		on          protocol.ID
		host, other host.Host
		bytes       int
	}{
		{guest, newHost(t), newHost(t), 1},
		{ping.ID, hostOf(t, Guarded, byQUIC), hostOf(t, byQUIC), ping.PingSize},
	} {
		n := nodeOn(t, c.host, WithLimits(limits.Limits{Work: work}))
		serveGuest(n.Host())
		dialPaid(t, c.other, n)
		s := must(c.other.NewStream(t.Context(), n.ID(), c.on))
		const times = 300 // 30 ms
		begun := time.Now()
		for range times {
			b := make([]byte, c.bytes)
			_, err := s.Write(b)
			if err == nil {
				_, err = io.ReadFull(s, b)
			}
			if err != nil {
				t.Fatalf("%s: %v", c.on, err)
			}
		}
		if took := time.Since(begun); took < 2*time.Second {
			t.Errorf("%s: %d answers took %v", c.on, times, took)
		}
	}
}
