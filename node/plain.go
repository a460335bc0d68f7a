package node

import (
	"errors"
	"fmt"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/venn-p2p/venn/node/internal/inbox"
	"github.com/venn-p2p/venn/overlay"
	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/group"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// Peers whose pubsub knows no partial messages get the sample of this node's summary. It is an ordinary message on the
// same topic, signed by pubsub as usual: a Parts with header, record and part 0. It is sent with each epoch, and when
// such a peer joins. Pubsub does not send it to other peers. Ordinary messages of these peers about themselves are
// verified and given to the core. Pubsub passes them on among these peers, within a tenth of the line's summary rate.
const (
	sampleEvery  = 5 * time.Second // least time between ordinary messages of our own
	messageShare = 0.1             // share of the line's rate for summaries that ordinary messages of others may take
)

// messageRate returns the rate that ordinary messages of others may take, in bytes a second.
func (c *config) messageRate() float64 {
	return messageShare * overlay.LinkRate(c.overlay.Up, c.overlay.Down, c.overlay.Share)
}

var errAuthor = errors.New("node: sample in a message of another author")

// openSample verifies the sample that a peer published of its own summary, and returns it as a message to the loop.
func (n *Node) openSample(author peer.ID, data []byte) (p inbox.Message, err error) {
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
	none, err := summary.NewPrefix(h)
	if err != nil {
		return p, err
	}
	if _, err := n.cfg.cache.Extend(none, parts.Run); err != nil {
		return p, err
	}
	return inbox.Message{Transport: event.Message, Group: group.Of(h), Parts: &parts}, nil
}

// sampleMessage returns the ordinary message about a new epoch; nil if it would be too large.
func sampleMessage(b built) []byte {
	run, err := b.stream.Run(0, 1)
	if err != nil {
		return nil
	}
	msg := wire.Parts{Envelope: b.envelope, Record: b.record, Run: run}.Append(nil)
	if len(msg) > wire.MaxSample {
		return nil
	}
	return msg
}
