package node

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/p2p/net/swarm"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/venn-p2p/venn/overlay/wire"
)

// crossing is a host whose next dials cross with dials of the other end: they fail as go-libp2p lets them fail. On
// loopback one dial in a thousand does. Where a connection request travels for longer, all do that two ends begin at
// the same time.
type crossing struct {
	host.Host
	next    *atomic.Int64 // so many
	crossed *atomic.Int64
}

func (h crossing) Connect(ctx context.Context, info peer.AddrInfo) error {
	if err := h.cross(info.ID, info.Addrs); err != nil {
		return err
	}
	return h.Host.Connect(ctx, info)
}

// Network returns the host's network, whose dials cross, too.
func (h crossing) Network() network.Network {
	return crossingNetwork{h.Host.Network().(*swarm.Swarm), h}
}

type crossingNetwork struct {
	*swarm.Swarm
	of crossing
}

func (n crossingNetwork) DialPeer(ctx context.Context, p peer.ID) (network.Conn, error) {
	if err := n.of.cross(p, nil); err != nil {
		return nil, err
	}
	return n.Swarm.DialPeer(ctx, p)
}

// cross returns the error of a dial that crosses; nil: this one does not.
func (h crossing) cross(p peer.ID, addrs []ma.Multiaddr) error {
	net := h.Host.Network().(*swarm.Swarm)
	if net.Connectedness(p) == network.Connected || h.next.Add(-1) < 0 {
		return nil
	}
	h.crossed.Add(1)
	for _, a := range append(addrs, h.Peerstore().Addrs(p)...) {
		net.Backoff().AddBackoff(p, a)
	}
	return fmt.Errorf("failed to dial: %w", &swarm.DialError{Peer: p, Cause: swarm.ErrAllDialsFailed, DialErrors: []swarm.TransportError{
		{Cause: errors.New("failed to negotiate security protocol: error reading handshake message: noise: message is too short")},
	}})
}

func newCrossing(t *testing.T) crossing {
	t.Helper()
	return crossing{newHost(t), new(atomic.Int64), new(atomic.Int64)}
}

// TestCrossedDial: a dial that crossed is made up for, by the end that dials again at once and by the one that waits.
func TestCrossedDial(t *testing.T) {
	t.Parallel()
	for _, waits := range []bool{false, true} {
		h, other := newCrossing(t), newCrossing(t)
		if h.ID() > other.ID() != waits {
			h, other = other, h
		}
		n := nodeOn(t, h)
		h.next.Store(1)
		if err := n.Connect(t.Context(), infoOf(other)); err != nil || h.crossed.Load() != 1 {
			t.Errorf("waits: %v: %d dials crossed, %v", waits, h.crossed.Load(), err)
		}
	}
}

// TestDialAfterPartition: a peer that could not be dialled is dialled again for an own query, as soon as the core asks for
// that. For the searches of others the host's pause stands.
func TestDialAfterPartition(t *testing.T) {
	n, other := newNode(t), newHost(t)
	for _, a := range other.Addrs() {
		n.host.Network().(*swarm.Swarm).Backoff().AddBackoff(other.ID(), a)
	}
	to := infoOf(other)
	if err := n.dial(t.Context(), to, errand{turns: otherTurns, within: handshakeTime, questionsOnly: true}); !errors.Is(err, swarm.ErrDialBackoff) {
		t.Errorf("for another: %v", err)
	}
	if err := n.dial(t.Context(), to, forQuery); err != nil {
		t.Errorf("for an own query: %v", err)
	}
}

// TestLostConnections has two peers lose their connection again and again. Both look for each other at once, and their
// dials cross. The link is back soon, and neither takes the other for gone. On a busy machine one in three may be slow,
// in one of three rounds.
func TestLostConnections(t *testing.T) {
	t.Parallel()
	for range 3 {
		if slow, doubted := lose(t); slow <= losses/3 && doubted <= losses/3 {
			return
		}
	}
	t.Error("in each round more than a third were slow, or taken for gone")
}

const losses = 6 // in a round

// lose has two peers lose their connection again and again. It returns how often the link was back late, and how often
// one took the other for gone.
func lose(t *testing.T) (slow, doubted int) {
	t.Helper()
	ha, hb := newCrossing(t), newCrossing(t)
	nodes := []*Node{nodeOn(t, ha), nodeOn(t, hb)}
	a, b := nodes[0], nodes[1]
	for _, n := range nodes {
		add(t, n, []byte(n.ID()))
	}
	connect(t, a, b)
	back := func() bool {
		greeted := 0
		for _, n := range nodes {
			look(t, n, func(l *loop) { greeted += l.greetings() })
		}
		return greeted == 2 && a.reached(b.ID()) && b.reached(a.ID())
	}
	eventually(t, "they know each other", func() bool { return knows(a, b) && knows(b, a) && back() })
	events := map[*Node]<-chan any{a: subscribe(t, a, new(EvtLinkClosed)), b: subscribe(t, b, new(EvtLinkClosed))}
	worst := time.Duration(0)
	for i := range losses {
		ha.next.Store(1)
		hb.next.Store(1)
		began := time.Now()
		_ = nodes[i%2].host.Network().ClosePeer(nodes[1-i%2].ID())
		for _, n := range nodes {
			eventually(t, "the loss is noticed", func() bool { return len(waiting(events[n])) > 0 })
		}
		eventually(t, "the link is back", back)
		took := time.Since(began)
		if worst = max(worst, took); took > lostTime {
			slow++
		}
		for k, n := range nodes {
			look(t, n, func(l *loop) {
				if l.core.Routing.Suspected(wire.PeerID(nodes[1-k].ID())) {
					doubted++
				}
			})
		}
	}
	t.Logf("%d losses, %d dials crossed, the link was back after %v at most; %d times later than %v, %d times one was taken for gone",
		losses, ha.crossed.Load()+hb.crossed.Load(), worst.Round(time.Millisecond), slow, lostTime, doubted)
	if ha.crossed.Load()+hb.crossed.Load() < losses/2 {
		t.Error("few dials crossed: this shows nothing")
	}
	return slow, doubted
}
