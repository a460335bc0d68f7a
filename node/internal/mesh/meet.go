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
// two seconds later; pubsub's two streams would be half of what they cost. So pubsub meets a peer when it is linked, or
// when it opens a stream of pubsub itself.

// meet has pubsub open a stream to a peer, unless it has one.
func (m *Mesh) meet(p peer.ID) {
	if err := m.protocols.Emit(event.EvtPeerProtocolsUpdated{Peer: p, Added: []protocol.ID{ProtocolID}}); err != nil {
		m.cfg.Log.Debug("pubsub does not learn of a peer", "peer", p, "err", err)
	}
}

// answer has pubsub open a stream to each peer that has one to us, until it has. Pubsub tries once, and does not hear of
// a peer that comes before it has subscribed to the host's events.
func (m *Mesh) answer() {
	for {
		select {
		case <-time.After(patience):
		case <-m.cfg.Done.Done():
			return
		}
		for _, p := range m.unanswered() {
			m.meet(p)
		}
	}
}

// unanswered are the peers with a stream to us to which pubsub has none, and should try again to open one. Who refuses
// ours is tried ever more rarely.
func (m *Mesh) unanswered() (out []peer.ID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for p, s := range m.incoming {
		if m.catalogues.isOpen(p) {
			s.rounds = 0
			continue
		}
		if s.rounds++; s.rounds&(s.rounds-1) == 0 {
			out = append(out, p)
		}
	}
	return out
}

// EventBus is the host's, but nobody who subscribes hears that a peer was identified.
func (h watchedHost) EventBus() event.Bus { return meetings{h.Host.EventBus()} }

type meetings struct{ event.Bus }

// Subscribe subscribes to all but the end of identifications.
func (b meetings) Subscribe(types any, options ...event.SubscriptionOpt) (event.Subscription, error) {
	if several, ok := types.([]any); ok {
		types = slices.DeleteFunc(slices.Clone(several), func(t any) bool {
			_, identified := t.(*event.EvtPeerIdentificationCompleted)
			return identified
		})
	}
	return b.Bus.Subscribe(types, options...)
}

// Network is the host's, but without the peers that are connected already.
func (h watchedHost) Network() network.Network { return empty{h.Host.Network()} }

type empty struct{ network.Network }

// Peers returns nobody.
func (empty) Peers() []peer.ID { return nil }
