package links

import (
	"bytes"
	"context"
	"errors"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/pnet"
	"github.com/libp2p/go-libp2p/core/transport"
	"github.com/libp2p/go-libp2p/p2p/security/noise"
	manet "github.com/multiformats/go-multiaddr/net"
	"github.com/multiformats/go-multistream"
	"go.uber.org/fx"
)

// Early is an option of libp2p.New for a host whose first security transport is Noise. The host's outbound connections,
// except those by QUIC or in a private network, begin Noise's handshake at once, as if the other end had chosen Noise
// already. This saves a round trip. A dial of a host without Noise fails.
var Early = libp2p.WithFxOption(fx.Decorate(func(u transport.Upgrader, key pnet.PSK) transport.Upgrader {
	if key != nil {
		return u // the agreement comes encrypted
	}
	return early{u}
}))

// agreement holds the bytes by which the other end chooses Noise.
var agreement = func() []byte {
	var b bytes.Buffer
	for _, word := range []string{multistream.ProtocolID, noise.ID} {
		b.WriteByte(byte(len(word) + 1))
		b.WriteString(word + "\n")
	}
	return b.Bytes()
}()

// early upgrades outbound connections without waiting for the other end's choice of Noise.
type early struct{ transport.Upgrader }

// Upgrade upgrades a connection.
func (e early) Upgrade(ctx context.Context, t transport.Transport, c manet.Conn, dir network.Direction, p peer.ID, scope network.ConnManagementScope) (transport.CapableConn, error) {
	if dir == network.DirOutbound {
		c = &earlyConn{Conn: c, foretold: agreement}
	}
	return e.Upgrader.Upgrade(ctx, t, c, dir, p, scope)
}

// earlyConn returns the bytes by which the other end chooses Noise before they arrive, then reads and checks them.
type earlyConn struct {
	manet.Conn
	foretold []byte // what is yet to be read of the agreement
	agreed   bool   // the agreement has come
}

// errDisagreed says that the other end does not choose Noise.
var errDisagreed = errors.New("links: the other end does not speak Noise")

// Read reads the agreement, then what follows it. Only one goroutine reads during a handshake.
func (c *earlyConn) Read(p []byte) (int, error) {
	if len(c.foretold) > 0 {
		k := copy(p, c.foretold)
		c.foretold = c.foretold[k:]
		return k, nil
	}
	if !c.agreed {
		for k := 0; k < len(agreement); {
			some := make([]byte, len(agreement)-k)
			got, err := c.Conn.Read(some)
			if !bytes.HasPrefix(agreement[k:], some[:got]) {
				return 0, errDisagreed
			}
			if k += got; err != nil && k < len(agreement) {
				return 0, err
			}
		}
		c.agreed = true
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
