package node

import (
	"context"
	"errors"

	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"

	"github.com/venn-p2p/venn/node/internal/streams"
	"github.com/venn-p2p/venn/node/signed"
	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/wire"
)

// peersAsked is an inquiry of a peer.
type peersAsked struct {
	from    peer.ID
	inquiry wire.Inquiry
	reply   reply
}

// inquire asks the peer of a record to name others.
func (n *Node) inquire(e event.AskPeers) {
	names, err := n.inquireOnce(e)
	if err != nil {
		n.log.Debug("inquiry failed", "peer", peer.ID(e.To.Peer), "err", err)
		n.in.Result(n.ctx, event.PeersSilent{From: e.To.Peer, Later: errors.Is(err, errFull)})
		return
	}
	n.in.Result(n.ctx, event.PeersNamed{From: e.To.Peer, Names: names})
}

func (n *Node) inquireOnce(e event.AskPeers) (names wire.Names, err error) {
	ctx, cancel := context.WithTimeout(n.ctx, streams.OpenTime)
	defer cancel()
	if err := n.reach(ctx, e.To, forInquiry); err != nil {
		return names, err
	}
	s, err := n.streams.Open(ctx, peer.ID(e.To.Peer), PeersID)
	if err != nil {
		return names, err
	}
	defer func() { s.End(err) }()
	if err = s.Send(e.Inquiry.Append(nil)); err != nil {
		return names, err
	}
	return n.receiveNames(s, PeersID)
}

// receiveNames receives the peers that the other end of a stream of a protocol names.
func (n *Node) receiveNames(s *streams.Stream, id protocol.ID) (names wire.Names, err error) {
	b, err := s.Receive(wire.MaxNames, streams.TransferTime)
	if err != nil {
		return names, err
	}
	names, err = wire.ParseNames(b)
	for i := range names.Peers {
		r := &names.Peers[i].Record
		r.Peer = signed.Signer(r.Envelope)
	}
	n.unread(s.Peer, id, err)
	return names, err
}

func (n *Node) servePeers(s *streams.Stream) error {
	b, err := s.Receive(wire.MaxInquiry, streams.IOTime)
	if err != nil {
		return err
	}
	q, err := wire.ParseInquiry(b)
	if err != nil {
		return err
	}
	if err := s.Pay(inquiryWork); err != nil {
		return err
	}
	return n.answerNames(s, func(r reply) any { return peersAsked{s.Peer, q, r} })
}

// answerNames hands a request to the loop, and sends the peers that the core names.
func (n *Node) answerNames(s *streams.Stream, request func(reply) any) error {
	a, err := n.askLoop(s.Peer, request)
	if err != nil {
		return err
	}
	names, _ := a.(wire.Names)
	return s.SendWithin(names.Append(nil), streams.TransferTime)
}

// askLoop hands a request of a peer to the loop, and waits for the core's answer for as long as a transfer may take.
func (n *Node) askLoop(from peer.ID, request func(reply) any) (answer any, err error) {
	ctx, cancel := context.WithTimeout(n.ctx, streams.TransferTime)
	defer cancel()
	r := reply{make(chan any, 1), ctx}
	if !n.in.OfferRequest(from, request(r)) {
		return nil, streams.ErrBusy
	}
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case a := <-r.answers:
		return a, nil
	}
}
