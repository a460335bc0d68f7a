package node

import (
	"testing"
	"time"

	pubsub "github.com/libp2p/go-libp2p-pubsub"
	"github.com/libp2p/go-libp2p/core/peer"
)

// TestPeerExchange: a peer that leaves the mesh names others in its word of that. Pubsub by itself dials them, at any
// address that their records have. A node does not.
func TestPeerExchange(t *testing.T) {
	t.Parallel()
	undefended := withPubsub(
		pubsub.WithGossipSubParams(pubsub.DefaultGossipSubParams()),
		pubsub.WithPeerScore(
			&pubsub.PeerScoreParams{AppSpecificScore: func(peer.ID) float64 { return 0 }, DecayInterval: time.Second, DecayToZero: 0.1},
			&pubsub.PeerScoreThresholds{GossipThreshold: -20, PublishThreshold: -50, GraylistThreshold: -100}))
	for _, c := range []struct {
		name    string
		options []Option
		dials   bool
	}{
		{"node", nil, false},
		{"undefended", []Option{undefended}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := newNode(t, c.options...)
			r := &raw{t: t, h: newHost(t), grafted: make(map[peer.ID]bool)}
			r.join(pubsub.WithPeerExchange(true))
			named := &raw{t: t, h: newHost(t), grafted: make(map[peer.ID]bool)}
			idle := pubsub.DefaultGossipSubParams()
			idle.Connectors = 0 // it is told of the node, too
			named.join(pubsub.WithGossipSubParams(idle))
			dialTo(t, r.h, infoOf(named.h))
			r.greet(n)
			r.meshed(n)
			eventually(t, "the named peer is in the mesh", func() bool {
				r.mu.Lock()
				defer r.mu.Unlock()
				return r.grafted[named.h.ID()]
			})
			r.sub.Cancel()
			pruned := func() bool {
				r.mu.Lock()
				defer r.mu.Unlock()
				return !r.grafted[n.ID()]
			}
			eventually(t, "the node is pruned", pruned)
			dialled := func() bool { return n.opened(named.h.ID()) }
			if c.dials {
				eventually(t, "the named peer is dialled", dialled)
				return
			}
			eventually(t, "the node knows", func() bool { return len(n.mesh.Peers()) == 0 })
			for end := time.Now().Add(time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
				if dialled() {
					t.Fatal("a peer that pubsub named is dialled")
				}
			}
		})
	}
}
