package admit

import (
	"context"
	"net"
	"sync/atomic"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/transport"
	manet "github.com/multiformats/go-multiaddr/net"
)

// Upgrader returns an upgrader whose inbound connections pay for what they do before they are billed: see [Table.Bill].
// The price of the handshake covers what a handshake needs. But to choose a protocol for it, the other end may ask for
// any number, one after the other, and each question has an answer. A WebSocket's pings are paid as long as it lasts.
func Upgrader(u transport.Upgrader) transport.Upgrader { return tolled{u} }

// tolled is an upgrader whose inbound connections are tolls.
type tolled struct{ transport.Upgrader }

// UpgradeGatedMaListener returns a listener for the upgraded connections of l.
func (u tolled) UpgradeGatedMaListener(t transport.Transport, l transport.GatedMaListener) transport.Listener {
	return u.Upgrader.UpgradeGatedMaListener(t, tollListener{l})
}

type tollListener struct{ transport.GatedMaListener }

// Accept returns the next connection. Those that do not come through a door are free.
func (l tollListener) Accept() (manet.Conn, network.ConnManagementScope, error) {
	c, scope, err := l.GatedMaListener.Accept()
	if in, ok := scope.(*connection); ok && err == nil {
		t := &toll{Conn: c, in: in}
		t.ctx, t.stop = context.WithCancel(in.ctx)
		if w, ok := c.(pinged); ok {
			pays, answer := in.pays.Load(), w.PingHandler()
			w.SetPingHandler(func(data string) error {
				if err := t.payFrame(pays); err != nil {
					return err
				}
				return answer(data)
			})
			w.SetPongHandler(func(string) error { return t.payFrame(pays) })
		}
		c = t
	}
	return c, scope, err
}

// pinged is a WebSocket. It reads and answers pings below its Read, so they are paid as they come.
type pinged interface {
	PingHandler() func(data string) error
	SetPingHandler(handle func(data string) error)
	SetPongHandler(handle func(data string) error)
}

// covered is the number of reads and writes that [Handshake] covers. With the choice of each protocol and a handshake,
// a connection takes some twenty.
const covered = 40

// toll is an inbound connection that pays a [Frame] for each read and write above those covered, until it is billed.
type toll struct {
	manet.Conn
	in    *connection
	ctx   context.Context // ends with the connection, or when it gives way
	stop  context.CancelFunc
	calls atomic.Int32 // reads and writes so far
}

// pay waits until the connection's networks have paid for a read or write.
func (t *toll) pay() error {
	by := t.in.pays.Load()
	if by == nil || t.calls.Add(1) <= covered {
		return nil
	}
	return t.payFrame(by)
}

// payFrame waits until a principal has paid for a [Frame]. by may be nil: it is free.
func (t *toll) payFrame(by *Stream) error {
	if by != nil && by.PayLate(t.ctx, Frame) != nil {
		return net.ErrClosed
	}
	return nil
}

func (t *toll) Read(p []byte) (int, error) {
	if err := t.pay(); err != nil {
		return 0, err
	}
	return t.Conn.Read(p)
}

func (t *toll) Write(p []byte) (int, error) {
	if err := t.pay(); err != nil {
		return 0, err
	}
	return t.Conn.Write(p)
}

// Close closes the connection, and ends a wait.
func (t *toll) Close() error {
	t.stop()
	return t.Conn.Close()
}

// Stat returns what the transport tells of the connection: whether a relay limits it.
func (t *toll) Stat() (s network.ConnStats) {
	if stat, ok := t.Conn.(network.ConnStat); ok {
		s = stat.Stat()
	}
	return s
}
