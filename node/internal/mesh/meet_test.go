package mesh

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p"
	pubsub "github.com/libp2p/go-libp2p-pubsub"
	pb "github.com/libp2p/go-libp2p-pubsub/pb"
	"github.com/libp2p/go-libp2p/core/event"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	"github.com/libp2p/go-libp2p/p2p/host/eventbus"
	"github.com/multiformats/go-multiaddr"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/venn-p2p/venn/node/internal/admit"
	"github.com/venn-p2p/venn/node/internal/counters"
	"github.com/venn-p2p/venn/node/internal/inbox"
	"github.com/venn-p2p/venn/node/internal/tasks"
)

// failing is a host that fails to open its first streams.
type failing struct {
	host.Host
	left atomic.Int32
}

func (h *failing) NewStream(ctx context.Context, p peer.ID, ids ...protocol.ID) (network.Stream, error) {
	if h.left.Add(-1) >= 0 {
		return nil, errors.New("no stream this time")
	}
	return h.Host.NewStream(ctx, p, ids...)
}

func newHost(t *testing.T) host.Host {
	t.Helper()
	h, err := libp2p.New(libp2p.ListenAddrStrings("/ip4/127.0.0.1/tcp/0"), libp2p.ResourceManager(&network.NullResourceManager{}), libp2p.DisableRelay())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	return h
}

// started returns a mesh on a host, without links. It ends with the test.
func started(t *testing.T, h host.Host) *Mesh {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var running tasks.Group
	m := New(Config{
		Host: h, Topic: "topic", Done: ctx, Log: slog.New(slog.DiscardHandler), Tasks: &running,
		Counters: counters.New(20), Inbox: inbox.New(),
		Now: func() time.Duration { return 0 }, Linked: func(peer.ID) bool { return false }, Link: func(peer.ID) bool { return false },
		Refuse: func(peer.ID, string, error) {}, Barred: nobody, Admit: table(1, true),
	})
	t.Cleanup(func() {
		m.Close()
		cancel()
		running.Close()
		running.Wait()
		m.End()
	})
	if err := m.Start(); err != nil {
		t.Fatal(err)
	}
	return m
}

// TestAnswered: a peer that is not linked and has opened a stream of pubsub gets one, also if the first try fails.
func TestAnswered(t *testing.T) {
	h, far := &failing{Host: newHost(t)}, newHost(t)
	h.left.Store(1)
	ctx, m := t.Context(), started(t, h)
	ps, err := pubsub.NewGossipSub(ctx, far, Gossip(), pubsub.WithLogger(slog.New(slog.DiscardHandler)))
	if err != nil {
		t.Fatal(err)
	}
	top, err := ps.Join("topic")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := top.Subscribe(); err != nil {
		t.Fatal(err)
	}
	if err := far.Connect(ctx, peer.AddrInfo{ID: h.ID(), Addrs: h.Addrs()}); err != nil {
		t.Fatal(err)
	}
	met := func() bool {
		return slices.Contains(m.Peers(), far.ID()) && slices.Contains(top.ListPeers(), h.ID())
	}
	for until := time.Now().Add(time.Minute); !met(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(until) {
			t.Fatalf("not within a minute; subscribed here %v, there %v", m.Peers(), top.ListPeers())
		}
	}
	if h.left.Load() >= 0 {
		t.Error("no try has failed")
	}
}

// TestUnanswered: who refuses our stream is tried ever more rarely, and at once again after having had one.
func TestUnanswered(t *testing.T) {
	m, _ := newMesh()
	m.get("p").in = &rpcStream{m: m, pays: payer(1)}
	tries := func() (n int) {
		for range 1000 {
			n += len(m.unanswered())
		}
		return n
	}
	if n := tries(); n != 10 {
		t.Errorf("%d tries in 1,000 rounds, want 10", n)
	}
	m.opened("p", true)
	if n := tries(); n != 0 {
		t.Errorf("%d tries with a stream", n)
	}
	m.opened("p", false)
	if len(m.unanswered()) != 1 {
		t.Error("not tried again")
	}
}

// TestLaggingSubscriber: a program on the host that subscribes to events and does not read them keeps no mesh waiting.
func TestLaggingSubscriber(t *testing.T) {
	h := newHost(t)
	sub, err := h.EventBus().Subscribe(new(event.EvtPeerProtocolsUpdated), eventbus.BufSize(1))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = sub.Close() })
	m := started(t, h)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 100 {
			m.Meet("peer")
		}
	}()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Error("the mesh waits for the subscriber")
	}
}

// TestPeerThatLeaves: nothing is kept of a peer that takes no stream of ours, once its own has ended.
func TestPeerThatLeaves(t *testing.T) {
	h, far := newHost(t), newHost(t)
	m := started(t, h)
	subscription := &pb.RPC{Subscriptions: []*pb.RPC_SubOpts{{Topicid: proto.String("topic"), Subscribe: proto.Bool(true)}}}
	rpc, err := proto.Marshal(subscription)
	if err != nil {
		t.Fatal(err)
	}
	for range 10 {
		if err := far.Connect(t.Context(), peer.AddrInfo{ID: h.ID(), Addrs: h.Addrs()}); err != nil {
			t.Fatal(err)
		}
		s, err := far.NewStream(t.Context(), h.ID(), ProtocolID)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Write(protowire.AppendBytes(nil, rpc)); err != nil {
			t.Fatal(err)
		}
		until(t, "the subscription is known", func() bool {
			return m.is(far.ID(), func(o *remote) bool { return o.in != nil && o.in.subscribes != nil })
		})
		_ = far.Network().ClosePeer(h.ID())
		until(t, "nothing is kept", func() bool { return m.Remembered() == 0 })
	}
}

// until waits until ok returns true.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within a minute: %s", what)
		}
	}
}

// table admits work, in seconds a second, of strangers.
func table(work float64, linked bool) *admit.Table {
	return admit.New(work, 9, func(peer.ID) bool { return linked })
}

// at is a connection from an address.
type at struct{ network.Conn }

func (at) As(any) bool                          { return false }
func (at) IsClosed() bool                       { return false }
func (at) RemotePeer() peer.ID                  { return "p" }
func (at) RemoteMultiaddr() multiaddr.Multiaddr { return multiaddr.StringCast("/ip4/1.2.3.4/tcp/1") }

// payer is who causes what comes on a connection.
func payer(work float64) *admit.Stream { return table(work, true).Of(at{}) }

// nobody is barred.
func nobody(peer.ID) bool { return false }
