package node

import (
	"slices"
	"sync/atomic"
	"testing"
	"time"

	pubsub "github.com/libp2p/go-libp2p-pubsub"
	pb "github.com/libp2p/go-libp2p-pubsub/pb"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/venn-p2p/venn/node/internal/mesh"
)

// TestStreamLost: when a node's stream of pubsub to another ends alone, pubsub forgets that the other is subscribed. It
// comes to know that again at once. The other's own stream stays: if it ended, the other would forget in turn.
func TestStreamLost(t *testing.T) {
	t.Parallel()
	nodes := meshOf(t, 2, 100)
	a, b := nodes[0], nodes[1]
	subscribed := func() bool { return slices.Contains(a.mesh.Peers(), b.ID()) && slices.Contains(b.mesh.Peers(), a.ID()) }
	streams := func(d network.Direction) (all []network.Stream) {
		for _, c := range a.host.Network().ConnsToPeer(b.ID()) {
			for _, s := range c.GetStreams() {
				if s.Protocol() == mesh.ProtocolID && s.Stat().Direction == d {
					all = append(all, s)
				}
			}
		}
		return all
	}
	ids := func(all []network.Stream) (ids []string) {
		for _, s := range all {
			ids = append(ids, s.ID())
		}
		return ids
	}
	eventually(t, "they know each other, by one stream each way", func() bool {
		return knows(a, b) && knows(b, a) && subscribed() && len(streams(network.DirInbound)) == 1 && len(streams(network.DirOutbound)) == 1
	})
	others := ids(streams(network.DirInbound))
	for range 3 {
		own := streams(network.DirOutbound)
		for _, s := range own {
			_ = s.Reset()
		}
		eventually(t, "there is another stream, and both are subscribed", func() bool {
			now := ids(streams(network.DirOutbound))
			return len(now) > 0 && !slices.ContainsFunc(ids(own), func(id string) bool { return slices.Contains(now, id) }) && subscribed()
		})
	}
	if now := ids(streams(network.DirInbound)); !slices.Equal(now, others) {
		t.Errorf("the other's streams are %v, and were %v", now, others)
	}
	add(t, a, []byte("new of a"))
	add(t, b, []byte("new of b"))
	eventually(t, "both hear of new keys", func() bool {
		return says(t, b, a, []byte("new of a")) == "added" && says(t, a, b, []byte("new of b")) == "added"
	})
}

// prunes counts the words to leave a mesh, and not to come back for a time, that a node's pubsub gets.
type prunes struct{ atomic.Int32 }

func (p *prunes) Trace(e *pb.TraceEvent) {
	p.Add(int32(len(e.GetRecvRPC().GetMeta().GetControl().GetPrune())))
}

// TestBackInTheMesh: a node that closes does not tell others to stay away. Started again, it is in the mesh with them
// as soon as they are linked, and not after 10 s.
func TestBackInTheMesh(t *testing.T) {
	t.Parallel()
	var told prunes
	h, cm := managed(t)
	n, m := nodeOn(t, h, withPubsub(pubsub.WithEventTracer(&told))), newNode(t)
	meshed := func() bool { return cm.IsProtected(m.ID(), "pubsub:"+Topic("venn")) }
	for range 3 {
		began := time.Now()
		connect(t, m, n)
		eventually(t, "they are in the mesh", meshed)
		t.Logf("after %v", time.Since(began).Round(10*time.Millisecond))
		_ = m.Close()
		eventually(t, "one has left", func() bool { return !meshed() && !slices.Contains(n.mesh.Peers(), m.ID()) })
		_ = m.host.Close()
		alone(t, n)
		m = nodeOn(t, hostLike(t, m.host))
	}
	if told.Load() > 0 {
		t.Errorf("told %d times to stay away", told.Load())
	}
}

// TestLateSubscription: a link whose pubsub begins after its hello is told what the node has.
func TestLateSubscription(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	add(t, n, keysOf("k", 100)...)
	eventually(t, "a summary", func() bool { return epochOf(t, n).Sequence > 0 })
	r := &raw{t: t, h: newHost(t), grafted: make(map[peer.ID]bool)}
	told := make(chan bool, 1)
	r.heard = func() {
		select {
		case told <- true:
		default:
		}
	}
	r.greet(n)
	eventually(t, "a catalogue waits", func() bool { return n.mesh.Catalogues() > 0 })
	r.join()
	select {
	case <-told:
	case <-time.After(time.Minute):
		t.Error("the node's summary is not announced")
	}
}
