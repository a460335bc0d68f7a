package link

import (
	"bytes"
	"net"
	"sync"
	"time"
)

// Line joins a peer to the network: a rate each way, shared by all its connections. It is safe for concurrent use.
//
// Bytes that leave wait until earlier bytes have left. Bytes that arrive do so behind earlier ones, and are read the
// connection's latency later. Both ends of a connection have lines of their own, so the slower one counts. Data on its
// way waits in a queue of the underlying connection and in a few segments here. A sender that writes faster than the
// lines carry is slowed down, and nothing is lost.
type Line struct {
	up, down bucket
}

// NewLine makes a line with rates in bit/s, each at least 1.
func NewLine(up, down uint64) *Line {
	return &Line{up: bucket{rate: float64(up) / 8}, down: bucket{rate: float64(down) / 8}}
}

// SetRates gives the line other rates, in bit/s, each at least 1.
func (l *Line) SetRates(up, down uint64) {
	l.up.setRate(float64(up) / 8)
	l.down.setRate(float64(down) / 8)
}

// Conn returns a connection over the line. It owns c and three goroutines, which end after Close. It calls latency
// once, when the first bytes have arrived.
func (l *Line) Conn(c net.Conn, latency func() time.Duration) net.Conn {
	outer, inner := net.Pipe()
	s := &conn{
		Conn: outer, below: c, inner: inner, line: l, latency: sync.OnceValue(latency),
		in: make(chan segment, queue), closed: make(chan struct{}),
	}
	go s.send()
	go s.receive()
	go s.deliver()
	return s
}

const (
	queue = 64 // segments that have arrived and were not read; each has at most maxSegment bytes

	minSegment = 1200
	maxSegment = 16 << 10
	segments   = 100 // segments a second at the line's rate; each has minSegment to maxSegment bytes

	coarse = time.Millisecond // shorter waits are skipped; the next wait makes up for them
)

// slack is the longest lateness of a timer that costs no rate: timers are late on a busy machine. The next wait
// makes up for it.
const slack = 100 * time.Millisecond

// bucket lets bytes pass at a rate.
type bucket struct {
	rate float64 // bytes/s
	mu   sync.Mutex
	free time.Time // when all bytes so far will have passed
}

// pass returns the time at which n bytes have passed, behind earlier bytes. They arrived at the time came.
func (b *bucket) pass(n int, came time.Time) time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.free.Before(came) {
		b.free = came
	}
	b.free = b.free.Add(time.Duration(float64(n) / b.rate * float64(time.Second)))
	return b.free
}

// segment returns the number of bytes that are passed at once.
func (b *bucket) segment() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return max(minSegment, min(maxSegment, int(b.rate/segments)))
}

func (b *bucket) setRate(rate float64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.rate = rate
}

// conn is a connection over a line: one end of a pipe, which has deadlines. Goroutines carry bytes between the other
// end and the connection below, as the line lets them.
type conn struct {
	net.Conn
	below, inner net.Conn
	line         *Line
	latency      func() time.Duration

	in       chan segment
	up, down lateness // lateness of send and of receive
	closing  sync.Once
	closed   chan struct{}
}

// segment is bytes that have arrived.
type segment struct {
	b  []byte
	at time.Time // time from which they can be read
}

// send writes bytes to the connection below at the rate of the line. A writer is at most one segment ahead.
func (c *conn) send() {
	b := make([]byte, maxSegment)
	for {
		n, err := c.inner.Read(b[:c.line.up.segment()])
		if err != nil {
			return
		}
		if _, open := c.pass(n, &c.line.up, &c.up); !open {
			return
		}
		if _, err := c.below.Write(b[:n]); err != nil {
			_ = c.inner.Close()
			return
		}
	}
}

// receive queues arriving bytes for Read, at the rate of the line, until the connection ends.
func (c *conn) receive() {
	defer close(c.in)
	b := make([]byte, c.line.down.segment())
	for {
		n, err := c.below.Read(b)
		if n > 0 {
			passed, open := c.pass(n, &c.line.down, &c.down)
			if !open {
				return
			}
			select {
			case c.in <- segment{bytes.Clone(b[:n]), passed.Add(c.latency())}:
			case <-c.closed:
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// deliver hands on bytes that have arrived, the latency later. After the last ones the reader sees the end.
func (c *conn) deliver() {
	defer c.inner.Close()
	for s := range c.in {
		if !c.wait(s.at) {
			return
		}
		if _, err := c.inner.Write(s.b); err != nil {
			return
		}
	}
}

// lateness is the time by which the last wait ended late, at most slack.
type lateness time.Duration

// pass waits until n bytes have passed, and returns when that was; false: the connection was closed before. If the wait
// before ended late, the bytes count as having arrived that much earlier.
func (c *conn) pass(n int, b *bucket, late *lateness) (passed time.Time, open bool) {
	passed = b.pass(n, time.Now().Add(-time.Duration(*late)))
	open = c.wait(passed)
	*late = lateness(min(slack, max(0, time.Since(passed))))
	return passed, open
}

// wait waits until a time; false: the connection was closed before.
func (c *conn) wait(until time.Time) bool {
	if d := time.Until(until); d >= coarse {
		select {
		case <-c.closed:
		case <-time.After(d):
		}
	}
	select {
	case <-c.closed:
		return false
	default:
		return true
	}
}

// Close closes the connection. Bytes that were not written yet are lost.
func (c *conn) Close() error {
	c.closing.Do(func() { close(c.closed) })
	_ = c.Conn.Close()
	return c.below.Close()
}

// LocalAddr returns the address of this end of the connection below.
func (c *conn) LocalAddr() net.Addr { return c.below.LocalAddr() }

// RemoteAddr returns the address of its other end.
func (c *conn) RemoteAddr() net.Addr { return c.below.RemoteAddr() }
