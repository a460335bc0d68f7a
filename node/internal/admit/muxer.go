package admit

import (
	"context"
	"encoding/binary"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/p2p/muxer/yamux"
)

// Muxer is libp2p's yamux, except that the other end pays for what it sends before this end reads it. Only what this end
// has asked for is free: the window of each stream that it opens. If the other end sends more than its share, the
// connection is not read for a while. Yamux has windows for streams, but none for a connection. Without payment, frames
// of streams that nobody reads, that are refused or that are not open would take memory and time as fast as they arrive.
//
// Windows take nothing from the host's limit of memory. A window is no memory before bytes come, and bytes are paid, which
// shares them by networks and peers. The limit goes to whoever comes first.
type Muxer struct{ *yamux.Transport }

// Times without a byte after which an end pings. The end that has dialled pings first, and the other end only if no
// such ping comes. Each end closes the connection when it has heard nothing for 10 s more. Yamux by itself pings from
// both ends each half a minute, to measure the round trip. Its first measurement is enough.
const (
	pingTime, latePingTime = 44 * time.Second, 45 * time.Second
	measureTime            = 24 * time.Hour
)

// NewConn begins a connection. Nobody pays for what it reads until [Table.Bill].
func (m Muxer) NewConn(c net.Conn, isServer bool, _ network.PeerScope) (network.MuxedConn, error) {
	b, quiet := &billed{Conn: c}, *m.Transport
	quiet.KeepAliveInterval, quiet.MeasureRTTInterval = pingTime, measureTime
	if isServer {
		b.theirs, quiet.KeepAliveInterval = 1, latePingTime
	}
	b.read.took, b.read.body, b.wrote.took = b.came, b.body, b.asked
	b.ctx, b.stop = context.WithCancel(context.Background())
	muxed, err := quiet.NewConn(b, isServer, nil)
	if err != nil {
		b.stop()
		return nil, err
	}
	return billedConn{muxed, b}, nil
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

// billed is the connection below yamux. One goroutine reads it, and one writes it.
type billed struct {
	net.Conn
	by     atomic.Pointer[Stream] // the principal that pays; nil: nobody pays yet
	ctx    context.Context        // ends when the connection is closed
	stop   context.CancelFunc
	theirs uint32 // lowest bit of the ids of streams that the other end opens
	read   frames
	wrote  frames
	owed   time.Duration // price of what was read last

	mu         sync.Mutex
	freeFrames time.Duration // price of the frames that this end has asked for, and that have not come
	freeBytes  time.Duration // price of their bodies
}

// Read first waits until the peer can pay for what was read before, and charges it. Then it reads.
func (b *billed) Read(p []byte) (int, error) {
	if by := b.by.Load(); by != nil {
		if err := by.PayLate(b.ctx, b.owed); err != nil {
			return 0, net.ErrClosed
		}
	}
	b.owed = 0
	k, err := b.Conn.Read(p)
	b.read.follow(p[:k])
	return k, err
}

// Write writes frames. What they ask for is free.
func (b *billed) Write(p []byte) (int, error) {
	b.wrote.follow(p)
	return b.Conn.Write(p)
}

// Close closes the connection, and ends a wait of Read.
func (b *billed) Close() error {
	b.stop()
	return b.Conn.Close()
}

// The header of a yamux frame: version, type, flags (2 bytes), stream (4), length (4). Only a data frame has a body. The
// length of a window update is the number of bytes by which the window grows.
const (
	headBytes   = 12
	dataFrame   = 0
	windowFrame = 1
	synFlag     = 1         // set in a stream's first frame
	firstWindow = 256 << 10 // window of a new stream
)

const (
	// asFrame is the number of bytes asked for that make a frame free, too. A window that comes in frames of one byte
	// takes 460 ms to read.
	asFrame = 2000
	// mostFree bounds what may come for nothing: 100 MB. Few of the bytes that a stream may bring come, and what is left
	// adds up.
	mostFree = 10 * time.Second
)

// came adds the price of a frame without its body.
func (b *billed) came(_, _ byte, stream, _ uint32) { b.owes(stream, Frame, &b.freeFrames) }

// opens reports whether a frame belongs to a stream that the other end opens, or to none.
func (b *billed) opens(stream uint32) bool { return stream == 0 || stream&1 == b.theirs }

// body adds the price of bytes of a frame's body. They are paid for once they have come: a header may announce 4 GB, and
// others of the peer's network would wait until that is paid.
func (b *billed) body(stream, bytes uint32) { b.owes(stream, time.Duration(bytes)*Byte, &b.freeBytes) }

// owes adds the price of what came on a stream to what is owed, unless it was asked for.
func (b *billed) owes(stream uint32, price time.Duration, free *time.Duration) {
	if b.opens(stream) {
		b.owed += price
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.owed += max(0, price-*free)
	*free = max(0, *free-price)
}

// asked makes what a frame of this end asks for free.
func (b *billed) asked(kind, flags byte, stream, length uint32) {
	if b.opens(stream) {
		return
	}
	bytes := 0
	if flags&synFlag != 0 {
		bytes = firstWindow
	}
	if kind == windowFrame {
		bytes += int(length)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.freeBytes = min(b.freeBytes+time.Duration(bytes)*Byte, mostFree)
	b.freeFrames = min(b.freeFrames+time.Duration(bytes/asFrame)*Frame, mostFree)
}

// frames follows the frames of one direction of a connection.
type frames struct {
	took   func(kind, flags byte, stream, length uint32) // called with each header
	body   func(stream, bytes uint32)                    // called with each piece of a body; nil: not called
	head   []byte                                        // header bytes of the next frame so far
	stream uint32                                        // stream of the current frame
	left   uint32                                        // bytes of the current frame's body that are still to come
}

// follow calls took and body for what p holds of them.
func (f *frames) follow(p []byte) {
	for len(p) > 0 {
		if f.left > 0 {
			k := min(f.left, uint32(len(p)))
			f.left, p = f.left-k, p[k:]
			if f.body != nil {
				f.body(f.stream, k)
			}
			continue
		}
		k := min(headBytes-len(f.head), len(p))
		f.head, p = append(f.head, p[:k]...), p[k:]
		if len(f.head) < headBytes {
			return
		}
		kind, length := f.head[1], binary.BigEndian.Uint32(f.head[8:])
		f.stream = binary.BigEndian.Uint32(f.head[4:])
		if kind == dataFrame {
			f.left = length
		}
		f.took(kind, f.head[3], f.stream, length)
		f.head = f.head[:0]
	}
}
