package mesh

import (
	"context"
	"errors"
	"time"

	pubsub "github.com/libp2p/go-libp2p-pubsub"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// validate checks an ordinary message before pubsub delivers it and passes it on. It runs on pubsub's goroutines.
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
		return pubsub.ValidationReject // this lowers the sender's score
	}
	p.From, p.Bytes = msg.ReceivedFrom, bytes
	if !m.cfg.Inbox.OfferMessage(p) {
		m.cfg.Counters.Drop("partials")
		return pubsub.ValidationIgnore
	}
	return pubsub.ValidationAccept
}

// messageOverhead is the approximate number of bytes that pubsub adds to an ordinary message: author, number, topic,
// signature, key.
const messageOverhead = 200
