package node

import (
	"context"

	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"

	"github.com/venn-p2p/venn/node/internal/admit"
	"github.com/venn-p2p/venn/node/internal/streams"
	"github.com/venn-p2p/venn/node/signed"
	"github.com/venn-p2p/venn/overlay/wire"
)

// inquire asks the peer of a record to name others.
func (n *Node) inquire(to wire.Record, q wire.Inquiry) (names wire.Names, err error) {
	ctx, cancel := context.WithTimeout(n.ctx, streams.OpenTime)
	defer cancel()
	if err := n.reach(ctx, to, forInquiry); err != nil {
		return names, err
	}
	s, err := n.streams.Open(ctx, peer.ID(to.Peer), PeersID)
	if err != nil {
		return names, err
	}
	defer func() { s.End(err) }()
	if err = s.Send(q.Append(nil)); err != nil {
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
		n.verifyOutside(*r)
	}
	for _, p := range names.Similar {
		_, _ = n.cfg.headers.Header(p.Envelope)
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
	if err := s.Pay(admit.Inquiry); err != nil {
		return err
	}
	return n.relay(s, asked{question: q}, 1, streams.TransferTime)
}
