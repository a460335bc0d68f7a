package fault

import (
	"bytes"
	"context"
	"encoding/binary"

	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"

	"github.com/venn-p2p/venn/node"
	"github.com/venn-p2p/venn/overlay/group"
	"github.com/venn-p2p/venn/overlay/wire"
)

// frame returns a message with its length before it.
func frame(msg []byte) []byte {
	var b bytes.Buffer
	_ = wire.WriteFrame(&b, msg)
	return b.Bytes()
}

// garbage returns bytes that are no message.
func (p *Peer) garbage(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(p.cfg.Rand.Uint32())
	}
	b[0] = 0xff
	return b
}

// stream draws a protocol that takes garbage.
func (p *Peer) stream() protocol.ID {
	of := []protocol.ID{node.HelloID, node.HaveID, node.QueryID, node.PartsID}
	return p.id(of[p.cfg.Rand.IntN(len(of))])
}

// garbageStream sends garbage of an honest length on a stream.
func (p *Peer) garbageStream(ctx context.Context, to peer.ID) {
	_ = p.send(ctx, to, p.stream(), frame(p.garbage(50)))
}

// claimLength sends a length of a tebibyte, and nothing after it.
func (p *Peer) claimLength(ctx context.Context, to peer.ID) {
	_ = p.send(ctx, to, p.stream(), binary.AppendUvarint(nil, 1<<40))
}

// garbageRPC sends garbage in place of a catalogue or of parts.
func (p *Peer) garbageRPC(_ context.Context, to peer.ID) {
	if p.cfg.Rand.IntN(2) == 0 {
		p.publish(to, []byte(wire.CatalogueGroup), p.garbage(100), nil)
		return
	}
	p.publish(to, p.garbage(len(group.ID{})), nil, p.garbage(1000))
}

// longRPC sends parts one byte longer than the limit.
func (p *Peer) longRPC(_ context.Context, to peer.ID) {
	p.publish(to, p.garbage(len(group.ID{})), nil, make([]byte, wire.MaxPartsRPC+1))
}
