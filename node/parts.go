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
// also returns the answer's size in bytes.
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
	err = n.put(ctx, peer.ID(from.Peer), PartsID, req, func(s *streams.Stream) error {
		n.in.Charged(s.Peer, req.Size()+requestOverhead)
		parse := func(b []byte) (wire.Parts, error) { return wire.ParseParts(b, wire.MaxParts) }
		p, size, err = answerOn(n, s, PartsID, wire.MaxParts, streams.TransferTime, parse)
		return err
	})
	n.openOutside(p)
	if err == nil && p.Refused {
		err = errRefused
	}
	return p, size, err
}

// requestOverhead is the number of bytes that opening a stream sends: the names of the protocols, and the length of the
// request.
const requestOverhead = 54

func (n *Node) serveParts(s *streams.Stream, req wire.PartsRequest) error {
	return n.relay(s, asked{question: req}, 1, streams.TransferTime)
}
