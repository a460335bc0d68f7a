package node

import (
	"context"

	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"

	"github.com/venn-p2p/venn/node/internal/streams"
	"github.com/venn-p2p/venn/overlay/wire"
)

// inquire asks the peer of a record to name others.
func (n *Node) inquire(to wire.Record, q wire.Inquiry) (names wire.Names, err error) {
	ctx, cancel := context.WithTimeout(n.ctx, streams.OpenTime)
	defer cancel()
	if err := n.reach(ctx, to, forInquiry); err != nil {
		return names, err
	}
	err = n.put(ctx, peer.ID(to.Peer), PeersID, q, func(s *streams.Stream) error {
		names, err = n.receiveNames(s, PeersID)
		return err
	})
	return names, err
}

// receiveNames receives the peers that the other end names on a stream of the protocol id.
func (n *Node) receiveNames(s *streams.Stream, id protocol.ID) (names wire.Names, err error) {
	names, _, err = answerOn(n, s, id, wire.MaxNames, streams.TransferTime, wire.ParseNames)
	for i := range names.Peers {
		n.verifyOutside(names.Peers[i].Record)
	}
	n.openOutside(names.Introductions...)
	return names, err
}

func (n *Node) servePeers(s *streams.Stream, q wire.Inquiry) error {
	n.openOutside(q.Own...)
	return n.relay(s, asked{question: q}, 1, streams.TransferTime)
}
