package mesh

import (
	"context"
	"errors"
	"sync"
	"time"

	pubsub "github.com/libp2p/go-libp2p-pubsub"
	pb "github.com/libp2p/go-libp2p-pubsub/pb"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// plain holds the peers of the topic without partial messages.
type plain struct {
	mu    sync.Mutex
	peers map[peer.ID]bool // true: in the mesh, so that messages go to it
}

// subscribed records which peers of the topic want whole messages.
func (p *plain) subscribed(from peer.ID, topic string, subs []*pb.RPC_SubOpts) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range subs {
		switch {
		case s.GetTopicid() != topic:
		case s.GetSubscribe() && !s.GetRequestsPartial():
			if _, known := p.peers[from]; !known {
				p.peers[from] = false
			}
		default:
			delete(p.peers, from)
		}
	}
}

func (p *plain) left(q peer.ID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.peers, q)
}

// meshed notes whether a plain peer is in the topic's mesh. It reports whether the peer is plain: without partial messages.
func (p *plain) meshed(q peer.ID, in bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, ok := p.peers[q]
	if ok {
		p.peers[q] = in
	}
	return ok
}

// is reports whether a peer of the topic is a plain one.
func (p *plain) is(q peer.ID) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, ok := p.peers[q]
	return ok
}

// any reports whether a plain peer is in the mesh.
func (p *plain) any() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, in := range p.peers {
		if in {
			return true
		}
	}
	return false
}

// validate looks at an ordinary message before pubsub delivers it and passes it on. It runs on goroutines of pubsub's.
func (m *Mesh) validate(_ context.Context, _ peer.ID, msg *pubsub.Message) pubsub.ValidationResult {
	if msg.ReceivedFrom == m.cfg.Host.ID() {
		return pubsub.ValidationAccept
	}
	bytes := len(msg.Data) + messageOverhead
	if !m.messages.Peer(m.cfg.Host.Network(), msg.ReceivedFrom).Pay(time.Duration(float64(bytes) / m.cfg.MessageRate * float64(time.Second))) {
		m.cfg.Counters.Drop("messages")
		return pubsub.ValidationIgnore
	}
	p, err := m.cfg.OpenSample(msg.GetFrom(), msg.Data)
	switch {
	case errors.Is(err, wire.ErrLater), errors.Is(err, summary.ErrVersion):
		m.cfg.Counters.Drop("later")
		return pubsub.ValidationIgnore
	case errors.Is(err, summary.ErrSeed):
		m.cfg.Counters.Refuse("message of another seed")
		return pubsub.ValidationIgnore
	case err != nil:
		m.cfg.Counters.Refuse("message")
		m.cfg.Log.Debug("message refused", "from", msg.ReceivedFrom, "author", msg.GetFrom(), "err", err)
		return pubsub.ValidationReject // this counts against the sender's score
	}
	p.From, p.Bytes = msg.ReceivedFrom, bytes
	if !m.cfg.Inbox.OfferMessage(p) {
		m.cfg.Counters.Drop("partials")
		return pubsub.ValidationIgnore
	}
	return pubsub.ValidationAccept
}

// messageOverhead is the number of bytes that pubsub adds to an ordinary message: author, number, topic, signature,
// key.
const messageOverhead = 200
