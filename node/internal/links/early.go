package links

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/pnet"
	"github.com/libp2p/go-libp2p/core/protocol"
	"github.com/libp2p/go-libp2p/core/sec"
	"github.com/libp2p/go-libp2p/core/transport"
	manet "github.com/multiformats/go-multiaddr/net"
	"github.com/multiformats/go-multistream"
	"go.uber.org/fx"
)

// Early returns an option of libp2p.New. The host's outbound connections, except those by QUIC or in a private network,
// begin the handshake of the host's first security transport at once, as if the other end had chosen it already. This
// saves a round trip. A dial of a host without that transport fails. wrap changes the host's upgrader first, for libp2p
// lets one option do so; nil: it stays.
func Early(wrap func(transport.Upgrader) transport.Upgrader) libp2p.Option {
	return libp2p.WithFxOption(fx.Decorate(fx.Annotate(
		func(u transport.Upgrader, key pnet.PSK, security []sec.SecureTransport) transport.Upgrader {
			if wrap != nil {
				u = wrap(u)
			}
			if key != nil || len(security) == 0 {
				return u // in a private network the choice comes encrypted
			}
			return early{u, choice(security[0].ID())}
		},
		fx.ParamTags("", "", `name:"security"`),
	)))
}

// choice returns what the other end says when it speaks multistream and chooses a protocol.
func choice(of protocol.ID) []byte {
	var b bytes.Buffer
	for _, word := range []string{multistream.ProtocolID, string(of)} {
		b.Write(binary.AppendUvarint(nil, uint64(len(word)+1)))
		b.WriteString(word + "\n")
	}
	return b.Bytes()
}

// early upgrades outbound connections without waiting for the other end's choice of a security transport.
type early struct {
	transport.Upgrader
	choice []byte
}

// Upgrade upgrades a connection.
func (e early) Upgrade(ctx context.Context, t transport.Transport, c manet.Conn, dir network.Direction, p peer.ID, scope network.ConnManagementScope) (transport.CapableConn, error) {
	if dir == network.DirOutbound {
		c = &earlyConn{Conn: c, foretold: e.choice, awaited: e.choice}
	}
	return e.Upgrader.Upgrade(ctx, t, c, dir, p, scope)
}

// earlyConn returns the bytes of the other end's choice before they arrive, then reads and checks them.
type earlyConn struct {
	manet.Conn
	foretold []byte // what is yet to be returned of the choice
	awaited  []byte // what is yet to arrive of the choice
}

// errChoice says that the other end does not choose the transport that this end has begun.
var errChoice = errors.New("links: the other end does not speak our first security transport")

// Read returns the choice, then what follows it. Only one goroutine reads during a handshake.
func (c *earlyConn) Read(p []byte) (int, error) {
	if len(c.foretold) > 0 {
		k := copy(p, c.foretold)
		c.foretold = c.foretold[k:]
		return k, nil
	}
	for arrived := make([]byte, len(c.awaited)); len(c.awaited) > 0; {
		k, err := c.Conn.Read(arrived[:len(c.awaited)])
		if !bytes.HasPrefix(c.awaited, arrived[:k]) {
			return 0, errChoice
		}
		if c.awaited = c.awaited[k:]; err != nil && len(c.awaited) > 0 {
			return 0, err
		}
	}
	return c.Conn.Read(p)
}

// Stat returns what the transport tells of the connection: whether a relay limits it.
func (c *earlyConn) Stat() (s network.ConnStats) {
	if stat, ok := c.Conn.(network.ConnStat); ok {
		s = stat.Stat()
	}
	return s
}

// SetKeepAlive turns TCP's own signs of life on or off.
func (c *earlyConn) SetKeepAlive(on bool) error {
	if k, ok := c.Conn.(interface{ SetKeepAlive(on bool) error }); ok {
		return k.SetKeepAlive(on)
	}
	return nil
}
