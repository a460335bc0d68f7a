package node

import (
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
)

// Traffic counts the bytes over the streams of one protocol with one peer, without the headers of the connection.
// Pubsub's are its RPCs with their lengths.
type Traffic struct {
	Peer           peer.ID
	Protocol       protocol.ID
	Sent, Received uint64
}

// Traffic returns the bytes over streams since New, by peer and protocol. Beyond 4,096 peers, ones that are connected
// no more are forgotten. No more than 16,384 are remembered.
func (n *Node) Traffic() []Traffic {
	all := n.counters.ByPeer()
	out := make([]Traffic, len(all))
	for i, t := range all {
		out[i] = Traffic(t)
	}
	return out
}
