package admit

import (
	"context"
	"net"
	"net/netip"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	"github.com/libp2p/go-libp2p/core/sec"
	"github.com/libp2p/go-libp2p/p2p/net/upgrader"
	"github.com/libp2p/go-libp2p/p2p/security/noise"
	libp2ptls "github.com/libp2p/go-libp2p/p2p/security/tls"

	"github.com/venn-p2p/venn/overlay/admission"
)

// Security returns an option of libp2p.New for the host of the door: libp2p's Noise and TLS, except that inbound
// handshakes take turns, one for each processor, of the time of a [Handshake]. Otherwise the node's own work waits behind
// all handshakes that begin within an instant. Who has sent nothing yet has no turn, so half-open connections delay
// nobody. By QUIC, who opens a connection has sent something: it takes its turn at the door.
func (d *Door) Security() libp2p.Option {
	return libp2p.ChainOptions(libp2p.Security(noise.ID, inTurn(d.turns, noise.New)), libp2p.Security(libp2ptls.ID, inTurn(d.turns, libp2ptls.New)))
}

// inTurn returns a constructor of a security transport whose inbound handshakes take turns.
func inTurn[T sec.SecureTransport](turns *admission.Slots, create func(protocol.ID, crypto.PrivKey, []upgrader.StreamMuxer) (T, error)) any {
	return func(id protocol.ID, key crypto.PrivKey, muxers []upgrader.StreamMuxer) (turning, error) {
		t, err := create(id, key, muxers)
		return turning{t, turns}, err
	}
}

// turning is a security transport whose inbound handshakes take turns.
type turning struct {
	sec.SecureTransport
	turns *admission.Slots
}

// SecureInbound does the handshake of an inbound connection.
func (s turning) SecureInbound(ctx context.Context, c net.Conn, p peer.ID) (sec.SecureConn, error) {
	return s.SecureTransport.SecureInbound(ctx, &turn{Conn: c, turns: s.turns, ctx: ctx}, p)
}

// turn is a connection. Its first read waits for the other end, then for a turn.
type turn struct {
	net.Conn
	turns *admission.Slots // nil: it has had its turn
	ctx   context.Context  // ends the wait for a turn
}

// Read reads. The first one waits for a turn, too.
func (t *turn) Read(p []byte) (int, error) {
	k, err := t.Conn.Read(p)
	if t.turns == nil || err != nil {
		return k, err
	}
	err = waitTurn(t.ctx, t.turns, caller(t.RemoteAddr()))
	t.turns = nil
	return k, err
}

// waitTurn waits for the turn of a handshake. The error is ctx's.
func waitTurn(ctx context.Context, turns *admission.Slots, who admission.Principal) error {
	s, err := Wait(ctx, turns, who, func() {})
	if err == nil {
		time.AfterFunc(Handshake, s.Release)
	}
	return err
}

// caller returns the principal of a connection before its peer is known. The group is "" without an IP address.
func caller(a net.Addr) admission.Principal {
	at, err := netip.ParseAddrPort(a.String())
	if err != nil {
		return admission.Principal{}
	}
	return admission.Principal{Group: admission.Group(at.Addr().AsSlice())}
}
