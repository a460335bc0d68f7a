package link

import (
	"bytes"
	"net"
	"os"
	"sync"
	"time"
)

// Line joins a peer to the network: a rate each way, shared by all its connections, and a latency. It is safe for
// concurrent use.
//
// Bytes that leave wait until earlier bytes have left. Bytes that arrive wait until earlier bytes have passed, and
// can be read one latency later. Each end of a connection has a line of its own, so the slower line sets the rate.
// Data on its way waits in a queue of the underlying connection and in a few segments here. A sender that writes
// faster than the lines carry is slowed down, and nothing is lost.
type Line struct {
	up, down bucket
	latency  time.Duration
}

// NewLine makes a line with rates in bit/s, each at least 1, and a latency for arriving bytes.
func NewLine(up, down uint64, latency time.Duration) *Line {
	return &Line{up: bucket{rate: float64(up) / 8}, down: bucket{rate: float64(down) / 8}, latency: latency}
}

// SetRates gives the line other rates, in bit/s, each at least 1.
func (l *Line) SetRates(up, down uint64) {
	l.up.setRate(float64(up) / 8)
	l.down.setRate(float64(down) / 8)
}

// Conn returns a connection over the line. It owns c and a goroutine, which ends after Close.
func (l *Line) Conn(c net.Conn) net.Conn {
	return l.ConnFrom(c, func() time.Duration { return l.latency })
}

// ConnFrom returns a connection with a latency of its own, in place of the line's. It calls latency once, when the
// first bytes have arrived.
func (l *Line) ConnFrom(c net.Conn, latency func() time.Duration) net.Conn {
	s := &conn{
		Conn: c, line: l, latency: sync.OnceValue(latency), in: make(chan segment, queue), closed: make(chan struct{}), readBy: newDeadline(), writeBy: newDeadline(),
	}
	go s.receive()
	return s
}

const (
	queue = 64 // segments that have arrived and were not read; each has at most maxSegment bytes

	minSegment = 1200
	maxSegment = 16 << 10
	segments   = 100 // segments a second at the line's rate, within these bounds of bytes

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

// pass returns the time at which n bytes that came at a time have passed, behind earlier bytes.
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

// conn is a connection over a line.
type conn struct {
	net.Conn
	line *Line

	latency func() time.Duration

	in      chan segment
	reading sync.Mutex
	head    segment // segment being read
	writing sync.Mutex
	up      lateness // of Write's waits
	down    lateness // of receive's waits

	readBy, writeBy *deadline
	closing         sync.Once
	closed          chan struct{}
}

// segment is bytes that have arrived, or the error that ended the connection.
type segment struct {
	b   []byte
	at  time.Time // time from which it can be read
	err error
}

// receive queues arriving bytes for Read, at the rate of the line, until the connection ends.
func (c *conn) receive() {
	b := make([]byte, c.line.down.segment())
	for {
		n, err := c.Conn.Read(b)
		passed, closed := c.pass(n, &c.line.down, &c.down, nil)
		if closed != nil {
			return
		}
		select {
		case c.in <- segment{bytes.Clone(b[:n]), passed.Add(c.late(n)), err}:
		case <-c.closed:
			return
		}
		if err != nil {
			return
		}
	}
}

// late returns the latency for n bytes that have arrived: 0 if there are none.
func (c *conn) late(n int) time.Duration {
	if n == 0 {
		return 0
	}
	return c.latency()
}

// Read reads bytes that have arrived.
func (c *conn) Read(b []byte) (int, error) {
	c.reading.Lock()
	defer c.reading.Unlock()
	if err := c.wait(time.Time{}, c.readBy.over()); err != nil {
		return 0, err
	}
	if len(c.head.b) == 0 && c.head.err == nil {
		select {
		case c.head = <-c.in:
		case <-c.readBy.over():
			return 0, os.ErrDeadlineExceeded
		case <-c.closed:
			return 0, net.ErrClosed
		}
	}
	if err := c.wait(c.head.at, c.readBy.over()); err != nil {
		return 0, err
	}
	n := copy(b, c.head.b)
	c.head.b = c.head.b[n:]
	if len(c.head.b) == 0 {
		return n, c.head.err
	}
	return n, nil
}

// Write writes at the rate of the line up.
func (c *conn) Write(b []byte) (n int, err error) {
	c.writing.Lock()
	defer c.writing.Unlock()
	for len(b) > 0 && err == nil {
		part := b[:min(len(b), c.line.up.segment())]
		if _, err = c.pass(len(part), &c.line.up, &c.up, c.writeBy.over()); err != nil {
			break
		}
		var wrote int
		wrote, err = c.Conn.Write(part)
		n, b = n+wrote, b[wrote:]
	}
	return n, err
}

// lateness is the time by which the last wait ended late, at most slack.
type lateness time.Duration

// pass waits until n bytes have passed, and returns the time at which they should have. Lateness of the last wait
// counts as waited already.
func (c *conn) pass(n int, b *bucket, late *lateness, over <-chan struct{}) (time.Time, error) {
	passed := b.pass(n, time.Now().Add(-time.Duration(*late)))
	err := c.wait(passed, over)
	*late = lateness(min(slack, max(0, time.Since(passed))))
	return passed, err
}

// wait waits until a time. It returns an error when over is closed before, or the connection.
func (c *conn) wait(until time.Time, over <-chan struct{}) error {
	var timer <-chan time.Time
	if d := time.Until(until); d >= coarse {
		t := time.NewTimer(d)
		defer t.Stop()
		timer = t.C
	}
	for {
		select {
		case <-over:
			return os.ErrDeadlineExceeded
		case <-c.closed:
			return net.ErrClosed
		default:
		}
		if timer == nil {
			return nil
		}
		select {
		case <-over:
		case <-c.closed:
		case <-timer:
			timer = nil
		}
	}
}

// Close closes the connection. Bytes that were not written yet are lost.
func (c *conn) Close() error {
	c.closing.Do(func() { close(c.closed) })
	return c.Conn.Close()
}

// SetDeadline sets both deadlines.
func (c *conn) SetDeadline(t time.Time) error {
	c.readBy.set(t)
	return c.SetWriteDeadline(t)
}

// SetReadDeadline sets the deadline of Read.
func (c *conn) SetReadDeadline(t time.Time) error {
	c.readBy.set(t)
	return nil
}

// SetWriteDeadline sets the deadline of Write, and of the write to the underlying connection.
func (c *conn) SetWriteDeadline(t time.Time) error {
	c.writeBy.set(t)
	return c.Conn.SetWriteDeadline(t)
}

// deadline is a time that can be moved while others wait for it.
type deadline struct {
	mu    sync.Mutex
	timer *time.Timer
	done  chan struct{} // closed at the deadline
}

func newDeadline() *deadline { return &deadline{done: make(chan struct{})} }

// over returns a channel that is closed at the deadline. A deadline that is moved after it was reached has a new
// channel.
func (d *deadline) over() <-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.done
}

// set moves the deadline. The zero time means no deadline.
func (d *deadline) set(t time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.timer != nil && !d.timer.Stop() {
		<-d.done // the old timer has fired, and closes done
	}
	d.timer = nil
	select {
	case <-d.done:
		d.done = make(chan struct{})
	default:
	}
	switch left := time.Until(t); {
	case t.IsZero():
	case left <= 0:
		close(d.done)
	default:
		done := d.done
		d.timer = time.AfterFunc(left, func() { close(done) })
	}
}
