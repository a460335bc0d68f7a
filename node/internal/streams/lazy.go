package streams

import (
	"context"
	"io"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	"github.com/multiformats/go-multistream"
)

// open opens a stream by the first of a protocol's versions that both ends speak. Of a peer that has not yet said by
// identify what it speaks, it takes for granted that it speaks the only version there is. The peer's agreement is then
// read with its first answer.
func (n *Node) open(ctx context.Context, p peer.ID, id protocol.ID) (network.Stream, error) {
	ids := n.Versions(id)
	if known, err := n.Host.Peerstore().GetProtocols(p); err != nil || len(known) > 0 || len(ids) > 1 || n.Lasting(id) {
		return n.Host.NewStream(ctx, p, ids...)
	}
	s, err := n.Host.Network().NewStream(ctx, p)
	if err != nil {
		return nil, err
	}
	if err := s.SetProtocol(ids[0]); err != nil {
		_ = s.Reset()
		return nil, err
	}
	return lazy{s, multistream.NewMSSelect(s, ids[0])}, nil
}

// lazy is a stream that begins with the choice of its protocol. The first read waits for the other end's agreement.
type lazy struct {
	network.Stream
	negotiated io.ReadWriteCloser
}

func (l lazy) Read(b []byte) (int, error)  { return l.negotiated.Read(b) }
func (l lazy) Write(b []byte) (int, error) { return l.negotiated.Write(b) }

// Close closes the stream once the agreement has come, or after the time for a short message.
func (l lazy) Close() error {
	_ = l.SetReadDeadline(time.Now().Add(IOTime))
	return l.negotiated.Close()
}
