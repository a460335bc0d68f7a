package node

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	pubsub "github.com/libp2p/go-libp2p-pubsub"
	pb "github.com/libp2p/go-libp2p-pubsub/pb"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/venn-p2p/venn/node/wire"
	"github.com/venn-p2p/venn/overlay"
	"github.com/venn-p2p/venn/summary"
)

// Peers whose pubsub knows no partial messages get the sample of this node's summary as an ordinary message on the same
// topic, signed by pubsub as usual: a Parts with header, record and part 0. It is sent with each epoch, and when such a peer
// joins; to other peers pubsub does not send it. What such peers publish of themselves is taken in, once it has been
// verified, and passed on among them by pubsub, within a tenth of the line's rate for summaries.
const (
	sampleEvery  = 5 * time.Second // between ordinary messages of our own at least
	messageShare = 0.1             // of the line's rate for summaries may go to ordinary messages of others
)

// plain is the peers of the topic without partial messages, and what may come from them.
type plain struct {
	mu        sync.Mutex
	peers     map[peer.ID]bool // true: in the mesh, so that messages go to it
	allowance float64          // bytes of ordinary messages that may be taken in now
}

// subscribed notes who of the topic's peers wants whole messages.
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

// meshed notes that a peer of the topic came into the mesh or left it, and says whether it is a plain one.
func (p *plain) meshed(q peer.ID, in bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, ok := p.peers[q]
	if ok {
		p.peers[q] = in
	}
	return ok
}

// any says whether a plain peer is in the mesh.
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

// take lets a message in if it may come.
func (p *plain) take(bytes int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.allowance < float64(bytes) {
		return false
	}
	p.allowance -= float64(bytes)
	return true
}

// credit lets in as much more as a rate, in bytes a second, brings in some time.
func (p *plain) credit(rate float64, passed time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.allowance = min(overlay.Burst(rate), p.allowance+rate*passed.Seconds())
}

// messageRate is what ordinary messages of others may take, in bytes a second.
func (c *config) messageRate() float64 { return messageShare * overlay.LinkRate(c.up, c.down, c.share) }

var errAuthor = errors.New("node: sample in a message of another author")

// validate looks at an ordinary message before pubsub delivers it and passes it on. It runs on goroutines of pubsub's.
func (m *mesh) validate(_ context.Context, _ peer.ID, msg *pubsub.Message) pubsub.ValidationResult {
	if msg.ReceivedFrom == m.n.host.ID() {
		return pubsub.ValidationAccept
	}
	bytes := len(msg.Data) + messageOverhead
	if !m.plain.take(bytes) {
		m.n.counters.drop("messages")
		return pubsub.ValidationIgnore
	}
	p, err := m.n.openSample(msg.GetFrom(), msg.Data)
	switch {
	case errors.Is(err, summary.ErrSeed):
		m.n.counters.refuse("message of another seed")
		return pubsub.ValidationIgnore
	case err != nil:
		m.n.counters.refuse("message")
		m.n.log.Debug("message refused", "from", msg.ReceivedFrom, "author", msg.GetFrom(), "err", err)
		return pubsub.ValidationReject // which counts against the sender's score
	}
	p.from, p.bytes = msg.ReceivedFrom, bytes
	if !m.n.in.offerPartial(p) {
		m.n.counters.drop("partials")
		return pubsub.ValidationIgnore
	}
	return pubsub.ValidationAccept
}

// messageOverhead is what pubsub adds to an ordinary message: author, number, topic, signature, key.
const messageOverhead = 200

// openSample verifies the sample that an author published of itself.
func (n *Node) openSample(author peer.ID, data []byte) (p partial, err error) {
	parts, err := wire.ParseParts(data, wire.MaxSample)
	if err != nil {
		return p, err
	}
	if parts.Refused || parts.Delta != nil || parts.Run.First != 0 || len(parts.Run.Parts) != 1 {
		return p, fmt.Errorf("%w: not a sample", wire.ErrMalformed)
	}
	h, err := n.cfg.headers.Header(parts.Envelope)
	switch {
	case err != nil:
		return p, err
	case !n.cfg.accepts(h.Seed):
		return p, fmt.Errorf("node: sample: %w", summary.ErrSeed)
	case h.Origin != string(author):
		return p, errAuthor
	}
	if r, err := n.cfg.headers.Record(parts.Record); err != nil || r.ID != author {
		return p, errors.Join(errAuthor, err)
	}
	none, err := summary.NewPrefix(&h)
	if err != nil {
		return p, err
	}
	if _, err := n.cfg.cache.Extend(none, parts.Run); err != nil {
		return p, err
	}
	return partial{way: overlay.Message, group: h.Group(), parts: &parts}, nil
}

// sampleMessage is the ordinary message about a new epoch; nil if it would be too large.
func sampleMessage(b built) []byte {
	run, err := b.stream.Prefix().Run(0, 1)
	if err != nil {
		return nil
	}
	msg := wire.AppendParts(nil, wire.Parts{Envelope: b.envelope, Record: b.record, Run: run})
	if len(msg) > wire.MaxSample {
		return nil
	}
	return msg
}
