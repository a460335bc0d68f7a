package node

import (
	"context"
	"errors"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/venn-p2p/venn/node/internal/streams"
	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/wire"
)

// partsAsked is a direct fetch that a peer asks of us.
type partsAsked struct {
	from    peer.ID
	request wire.PartsRequest
	reply   reply
}

// fetch gets parts directly from the peer of a record.
func (n *Node) fetch(e event.RequestParts) {
	p, size, err := n.fetchOnce(e)
	if err != nil || p.Refused {
		n.log.Debug("fetch failed", "peer", peer.ID(e.From.Peer), "refused", p.Refused, "err", err)
		n.in.Result(n.ctx, event.FetchFailed{From: e.From.Peer, Group: e.Group})
		return
	}
	n.in.Result(n.ctx, event.PartsReceived{
		From: e.From.Peer, Transport: event.Direct, Group: e.Group, Parts: p, Bytes: size,
	})
}

// fetchOnce asks on a link, which it makes of a record if there is none: the budget is that of the link.
func (n *Node) fetchOnce(e event.RequestParts) (p wire.Parts, size int, err error) {
	ctx, cancel := context.WithTimeout(n.ctx, streams.OpenTime)
	defer cancel()
	if len(e.From.Envelope) == 0 && !n.reached(peer.ID(e.From.Peer)) {
		return p, 0, errParted
	}
	if err := n.reach(ctx, e.From, forLink); err != nil {
		if !errors.Is(err, errFull) { // which is no fault of the peer
			n.in.Result(n.ctx, event.DialFailed{Peer: e.From.Peer})
		}
		return p, 0, err
	}
	n.in.LinkWanted(peer.ID(e.From.Peer))
	s, err := n.streams.Open(ctx, peer.ID(e.From.Peer), PartsID)
	if err != nil {
		return p, 0, err
	}
	defer func() { s.End(err) }()
	req := e.Append(nil)
	n.in.Charged(s.Peer, len(req)+requestOverhead)
	if err = s.Send(req); err != nil {
		return p, 0, err
	}
	b, err := s.Receive(wire.MaxParts, streams.TransferTime)
	if err != nil {
		return p, 0, err
	}
	p, err = wire.ParseParts(b, wire.MaxParts)
	n.unread(s.Peer, PartsID, err)
	return p, len(b), err
}

// requestOverhead is what opening a stream sends: the names of the protocols, and the length of the request.
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
	a, err := n.askLoop(s.Peer, func(r reply) any { return partsAsked{s.Peer, req, r} })
	if err != nil {
		return err
	}
	p, _ := a.(wire.Parts)
	return s.SendWithin(p.Append(nil), streams.TransferTime)
}
