package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log"
	mrand "math/rand/v2"
	"net"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	"github.com/libp2p/go-libp2p/p2p/muxer/yamux"
	"github.com/libp2p/go-libp2p/p2p/net/upgrader"
	"github.com/libp2p/go-libp2p/p2p/security/noise"
	libp2pquic "github.com/libp2p/go-libp2p/p2p/transport/quic"
	"github.com/libp2p/go-libp2p/p2p/transport/quicreuse"
	"github.com/multiformats/go-multiaddr"
	mss "github.com/multiformats/go-multistream"
	"github.com/quic-go/quic-go"

	"github.com/venn-p2p/venn/overlay/wire"
)

// The protocols of streams.
const (
	haveID  protocol.ID = "/venn/have/1.0.0"
	queryID protocol.ID = "/venn/query/1.0.0"
	helloID protocol.ID = "/venn/hello/1.0.0"
	peersID protocol.ID = "/venn/peers/1.1.0"
)

// patience is the time after which a question counts as unanswered.
const patience = 2 * time.Second

// must returns v. It ends the program if there is an error.
func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}

// identity is a key, with the address from which it dials.
type identity struct {
	key  crypto.PrivKey
	from string
}

func newIdentity(from string) identity {
	key, _, err := crypto.GenerateEd25519Key(rand.Reader)
	return identity{must(key, err), from}
}

// open makes a TCP connection to a daemon from an address.
func (d *daemon) open(ctx context.Context, from string) (net.Conn, error) {
	c, err := (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}).DialContext(ctx, "tcp", d.ip+":4101")
	if err == nil {
		_ = c.(*net.TCPConn).SetLinger(0) // no TIME_WAIT
	}
	return c, err
}

// conn is a connection to a daemon.
type conn struct {
	network.MuxedConn
	id peer.ID // of this end
}

// dial connects to a daemon by QUIC, or by Noise and yamux.
func (d *daemon) dial(ctx context.Context, i identity) (*conn, error) {
	connect := d.byTCP
	if *byQUIC {
		connect = d.byQUIC
	}
	m, err := connect(ctx, i)
	if err != nil {
		return nil, err
	}
	go func() { // the daemon's own streams, such as identify
		for {
			s, err := m.AcceptStream()
			if err != nil {
				return
			}
			_ = s.Reset()
		}
	}()
	return &conn{m, must(peer.IDFromPrivateKey(i.key))}, nil
}

func (d *daemon) byTCP(ctx context.Context, i identity) (network.MuxedConn, error) {
	c, err := d.open(ctx, i.from)
	if err != nil {
		return nil, err
	}
	defer context.AfterFunc(ctx, func() { _ = c.Close() })()
	m, err := d.upgrade(ctx, c, i.key)
	if err != nil {
		_ = c.Close()
	}
	return m, err
}

// quicConn is a connection by QUIC, which has a socket of its own.
type quicConn struct {
	network.MuxedConn
	socket *quicreuse.ConnManager
}

func (c quicConn) Close() error { return errors.Join(c.MuxedConn.Close(), c.socket.Close()) }

func (d *daemon) byQUIC(ctx context.Context, i identity) (network.MuxedConn, error) {
	from := quicreuse.OverrideListenUDP(func(of string, _ *net.UDPAddr) (net.PacketConn, error) {
		return net.ListenUDP(of, &net.UDPAddr{IP: net.ParseIP(i.from)})
	})
	socket := must(quicreuse.NewConnManager(quic.StatelessResetKey{}, quic.TokenGeneratorKey{}, quicreuse.DisableReuseport(), from))
	t := must(libp2pquic.NewTransport(i.key, socket, nil, nil, &network.NullResourceManager{}))
	c, err := t.Dial(ctx, multiaddr.StringCast(quicAddress(d.ip)), d.id)
	if err != nil {
		_ = socket.Close()
		return nil, err
	}
	return quicConn{c, socket}, nil
}

func (d *daemon) upgrade(ctx context.Context, c net.Conn, key crypto.PrivKey) (network.MuxedConn, error) {
	if err := mss.SelectProtoOrFail[protocol.ID](noise.ID, c); err != nil {
		return nil, fmt.Errorf("select noise: %w", err)
	}
	t := must(noise.New(noise.ID, key, []upgrader.StreamMuxer{{ID: yamux.ID, Muxer: yamux.DefaultTransport}}))
	s, err := t.SecureOutbound(ctx, c, d.id)
	if err != nil {
		return nil, fmt.Errorf("noise: %w", err)
	}
	if s.ConnState().StreamMultiplexer == "" {
		if err := mss.SelectProtoOrFail[protocol.ID](yamux.ID, s); err != nil {
			return nil, fmt.Errorf("select yamux: %w", err)
		}
	}
	return yamux.DefaultTransport.NewConn(s, false, &network.NullScope{})
}

// ask sends a message on a stream of its own, and returns the first answer.
func (c *conn) ask(ctx context.Context, id protocol.ID, msg []byte, most int) ([]byte, error) {
	s, err := c.OpenStream(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = s.Reset() }()
	_ = s.SetDeadline(time.Now().Add(patience))
	rw := mss.NewMSSelect(s, wire.ProtocolIn("venn", id))
	if err := wire.WriteFrame(rw, msg); err != nil {
		return nil, err
	}
	return wire.ReadFrame(rw, most, nil)
}

// has asks whether the daemon has a key. It returns nil if so.
func (c *conn) has(ctx context.Context, key []byte) error {
	b, err := c.ask(ctx, haveID, wire.HaveRequest{Keys: [][]byte{key}, Private: true}.Append(nil), wire.MaxHaveAnswer)
	if err != nil {
		return err
	}
	has, err := wire.ParseHaveAnswer(b, 1)
	if err == nil && !has[0] {
		err = errors.New("no")
	}
	return err
}

// search asks the daemon to search for a key. It returns nil if somebody has it.
func (c *conn) search(ctx context.Context, key []byte, budget int) error {
	q := wire.Query{Kind: wire.Search, Key: key, Origin: wire.PeerID(c.id), Nonce: mrand.Uint64(), Want: 1, Budget: budget, Hops: 2, Within: patience}
	b, err := c.ask(ctx, queryID, q.Append(nil), wire.MaxAnswer)
	if err != nil {
		return err
	}
	a, err := wire.ParseAnswer(b)
	if err == nil && len(a.Records) == 0 {
		err = errNobody
	}
	return err
}

var errNobody = errors.New("nobody")
