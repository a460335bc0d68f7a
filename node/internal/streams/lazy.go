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

// open opens a stream by the first of a protocol's versions that both ends speak. If identify has not yet told the
// peer's protocols, open assumes the only version there is, and the first read checks it.
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

// lazy is a stream that sends the choice of its protocol with the first write. The first read waits for the other end's
// agreement. CloseWrite must follow a write.
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
