package mesh

import (
	"slices"
	"time"

	"github.com/libp2p/go-libp2p/core/event"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
)

// Pubsub opens a stream to every peer that the host identifies. Most connections are made to ask one question, and end
// two seconds later; pubsub's two streams would be half of their cost. So the mesh shows pubsub a peer only when it is
// linked, or when it opens a stream of pubsub itself.

// Meet lets pubsub open a stream to a peer, unless it has one.
func (m *Mesh) Meet(p peer.ID) {
	m.Updated(event.EvtPeerProtocolsUpdated{Peer: p, Added: []protocol.ID{ProtocolID}})
}

// patience is the time after which pubsub should retry what it tries only once by itself.
const patience = 3 * time.Second

// meetAgain lets pubsub try again to open the missing streams, until it has them. Pubsub does not retry if the peer
// was only just starting at the first attempt, nor if there was only a relayed connection then. Pubsub also misses
// peers that connect before it has subscribed to the host's events.
func (m *Mesh) meetAgain() {
	for {
		select {
		case <-time.After(patience):
		case <-m.cfg.Done.Done():
			return
		}
		for _, p := range append(m.unanswered(), m.unknown()...) {
			m.Meet(p)
		}
	}
}

// unknown returns the linked peers whose subscription pubsub does not know.
func (m *Mesh) unknown() []peer.ID {
	known := m.Peers()
	return slices.DeleteFunc(m.cfg.Host.Network().Peers(), func(p peer.ID) bool { return !m.cfg.Linked(p) || slices.Contains(known, p) })
}

// unanswered returns the peers that have a stream to this node, but to which pubsub has none and should try again to
// open one. A peer that refuses is tried ever more rarely.
func (m *Mesh) unanswered() (out []peer.ID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for p, o := range m.of {
		switch s := o.in; {
		case s == nil:
		case o.open:
			s.rounds = 0
		default:
			if s.rounds++; s.rounds&(s.rounds-1) == 0 {
				out = append(out, p)
			}
		}
	}
	return out
}

// Updated tells pubsub that a peer's protocols have changed.
func (m *Mesh) Updated(ev event.EvtPeerProtocolsUpdated) {
	if err := m.protocols.Emit(ev); err != nil {
		m.cfg.Log.Debug("pubsub does not learn of a peer", "peer", ev.Peer, "err", err)
	}
}

// EventBus returns the bus that pubsub subscribes to: the host's, but for changes of peers' protocols. Only the mesh
// emits these changes, on its own bus. On the host's bus it would wait for every slow subscriber.
func (h watchedHost) EventBus() event.Bus { return meetings{h.Host.EventBus(), h.m.bus} }

type meetings struct {
	event.Bus
	ours event.Bus
}

// Subscribe subscribes to all given events except the end of identifications. The news of protocols comes from the
// mesh.
func (b meetings) Subscribe(types any, options ...event.SubscriptionOpt) (event.Subscription, error) {
	several, ok := types.([]any)
	if !ok {
		return b.Bus.Subscribe(types, options...)
	}
	var rest []any
	for _, t := range several {
		switch t.(type) {
		case *event.EvtPeerIdentificationCompleted:
		case *event.EvtPeerProtocolsUpdated:
			return b.ours.Subscribe(t, options...) // its other subscription is to identifications
		default:
			rest = append(rest, t)
		}
	}
	return b.Bus.Subscribe(rest, options...)
}

// Network returns the host's network, with Peers returning none, so that pubsub does not open streams to all at its
// start.
func (h watchedHost) Network() network.Network { return empty{h.Host.Network()} }

type empty struct{ network.Network }

// Peers returns no peer.
func (empty) Peers() []peer.ID { return nil }
