package node

import (
	"context"
	"errors"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/venn-p2p/venn/node/internal/streams"
	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/wire"
)

// errRefused means that a peer has nothing to send, or no budget to send it.
var errRefused = errors.New("node: refused")

// fetch asks the peer of a record for parts, on a link, which it makes if there is none: the budget is the link's. It
// also returns the bytes of the answer.
func (n *Node) fetch(from wire.Record, req wire.PartsRequest) (p wire.Parts, size int, err error) {
	ctx, cancel := context.WithTimeout(n.ctx, streams.OpenTime)
	defer cancel()
	if len(from.Envelope) == 0 && !n.reached(peer.ID(from.Peer)) {
		return p, 0, errParted
	}
	if err := n.reach(ctx, from, forLink); err != nil {
		if !errors.Is(err, errFull) { // which is no fault of the peer
			n.in.Result(n.ctx, event.DialFailed{Peer: from.Peer})
		}
		return p, 0, err
	}
	n.in.LinkWanted(peer.ID(from.Peer))
	s, err := n.streams.Open(ctx, peer.ID(from.Peer), PartsID)
	if err != nil {
		return p, 0, err
	}
	defer func() { s.End(err) }()
	question := req.Append(nil)
	n.in.Charged(s.Peer, len(question)+requestOverhead)
	if err = s.Send(question); err != nil {
		return p, 0, err
	}
	b, err := s.Receive(wire.MaxParts, streams.TransferTime)
	if err != nil {
		return p, 0, err
	}
	p, err = wire.ParseParts(b, wire.MaxParts)
	_, _ = n.cfg.headers.Header(p.Envelope) // is remembered for the loop
	n.unread(s.Peer, PartsID, err)
	if err == nil && p.Refused {
		err = errRefused
	}
	return p, len(b), err
}

// requestOverhead is the number of bytes that opening a stream sends: the names of the protocols, and the length of the
// request.
const requestOverhead = 54

func (n *Node) serveParts(s *streams.Stream) error {
	b, err := s.Receive(wire.MaxPartsRequest, streams.IOTime)
	if err != nil {
		return err
	}
	req, err := wire.ParsePartsRequest(b)
	if err != nil {
		return err
	}
	return n.relay(s, asked{question: req}, 1, streams.TransferTime)
}
