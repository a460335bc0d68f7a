package admit

import (
	"context"
	"encoding/binary"
	"net"
	"sync/atomic"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/p2p/muxer/yamux"
)

// Muxer is libp2p's yamux, except that the other end pays for what it sends on its own streams before this end reads
// it. If it sends more than its share, the connection is not read for a while. Yamux has windows for streams, but none
// for a connection. Without payment, bytes of streams that nobody reads, or that are refused, would take memory and
// time as fast as they arrive.
type Muxer struct{ *yamux.Transport }

// Times without a byte after which an end pings. The end that has dialled pings first, and the other end only if no
// such ping comes. Each end closes the connection when it has heard nothing for 10 s more. Yamux by itself pings from
// both ends each half a minute, to measure the round trip. Its first measurement is enough.
const (
	pingTime, latePingTime = 44 * time.Second, 45 * time.Second
	measureTime            = 24 * time.Hour
)

// NewConn begins a connection, which is free until [Table.Bill].
func (m Muxer) NewConn(c net.Conn, isServer bool, scope network.PeerScope) (network.MuxedConn, error) {
	b, quiet := &billed{Conn: c}, *m.Transport
	quiet.KeepAliveInterval, quiet.MeasureRTTInterval = pingTime, measureTime
	if isServer {
		b.theirs, quiet.KeepAliveInterval = 1, latePingTime
	}
	b.ctx, b.stop = context.WithCancel(context.Background())
	muxed, err := quiet.NewConn(b, isServer, scope)
	if err != nil {
		b.stop()
		return nil, err
	}
	return billedConn{muxed, b}, nil
}

// Bill makes the peer pay from now on for what it sends on a connection. It does nothing for connections of another
// muxer.
func (t *Table) Bill(c network.Conn) {
	var b *billed
	if c.As(&b) {
		b.by.Store(t.Of(c))
	}
}

// billedConn is a muxed connection that knows its billed connection.
type billedConn struct {
	network.MuxedConn
	b *billed
}

// As sets target to the connection's billed, if that is target's type. Otherwise it does what yamux does.
func (c billedConn) As(target any) bool {
	if t, ok := target.(**billed); ok {
		*t = c.b
		return true
	}
	return c.MuxedConn.As(target)
}

// billed is the connection below yamux. One goroutine reads it.
type billed struct {
	net.Conn
	by     atomic.Pointer[Stream] // the principal that pays; nil: nobody pays yet
	ctx    context.Context        // ends when the connection is closed
	stop   context.CancelFunc
	theirs uint32 // lowest bit of the ids of streams that the other end opens
	head   []byte // header bytes read so far of the next frame
	left   uint32 // bytes of the current frame's body that were not read yet
	owed   time.Duration
}

// Read first waits until the peer can pay for the frames whose headers were read before, and charges it. Then it
// reads.
func (b *billed) Read(p []byte) (int, error) {
	if by := b.by.Load(); by != nil {
		if err := by.PayLate(b.ctx, b.owed); err != nil {
			return 0, net.ErrClosed
		}
	}
	b.owed = 0
	k, err := b.Conn.Read(p)
	b.follow(p[:k])
	return k, err
}

// Close closes the connection, and ends a wait of Read.
func (b *billed) Close() error {
	b.stop()
	return b.Conn.Close()
}

// The header of a yamux frame: version, type, flags (2 bytes), stream (4), length (4). Only a data frame has a body.
const (
	headBytes = 12
	dataFrame = 0
	synFlag   = 1 // set in a stream's first frame
)

// follow adds the price of the frames in p to what is owed.
func (b *billed) follow(p []byte) {
	for len(p) > 0 {
		if b.left > 0 {
			k := min(b.left, uint32(len(p)))
			b.left -= k
			p = p[k:]
			continue
		}
		k := min(headBytes-len(b.head), len(p))
		b.head, p = append(b.head, p[:k]...), p[k:]
		if len(b.head) < headBytes {
			return
		}
		if b.head[1] == dataFrame {
			b.left = binary.BigEndian.Uint32(b.head[8:])
		}
		if stream := binary.BigEndian.Uint32(b.head[4:]); stream == 0 || stream&1 == b.theirs {
			b.owed += Frame + time.Duration(b.left)*Byte
			if b.head[3]&synFlag != 0 {
				b.owed += Begin
			}
		}
		b.head = b.head[:0]
	}
}
