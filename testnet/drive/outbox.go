package drive

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
)

const (
	outboxFrames = 1 << 14 // most frames that wait
	idleFor      = 10 * time.Second
	dialTimeout  = 30 * time.Second
	headTimeout  = time.Minute     // longest time from a stream's opening to its first bytes
	writeTimeout = 2 * time.Minute // longest time to write a frame
)

var (
	errGone     = errors.New("drive: nobody reads the stream")
	errStranger = errors.New("drive: a stream that belongs to no pipe")
)

// outbox sends a member's frames of one protocol to another member. It has a goroutine and a stream while it has
// frames to send, while the members have a link, and for a while after.
type outbox struct {
	from *member
	way  way
	keep atomic.Bool   // the stream stays open without use
	more chan struct{} // a frame was pushed

	mu      sync.Mutex
	queue   []*frame
	running bool
}

func newOutbox(from *member, w way) *outbox {
	return &outbox{from: from, way: w, more: make(chan struct{}, 1)}
}

// push adds a frame to the queue. It returns false if there is no room.
func (o *outbox) push(f *frame) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.queue) >= outboxFrames {
		return false
	}
	o.queue = append(o.queue, f)
	if !o.running {
		o.running = o.from.net.spawn(o.run)
	}
	select {
	case o.more <- struct{}{}:
	default:
	}
	return true
}

// run sends waiting frames. If it cannot, it fails all of them.
func (o *outbox) run() {
	if err := o.carry(); err == nil {
		return
	}
	o.mu.Lock()
	queue := o.queue
	o.queue, o.running = nil, false
	o.mu.Unlock()
	for _, f := range queue {
		f.fail(o.from.net)
	}
}

// carry writes frames to a stream until the outbox was idle for a while. It returns an error if the stream fails.
// After it returns nil, push may already have started the next run.
func (o *outbox) carry() error {
	n := o.from.net
	s, err := o.dial()
	if err != nil {
		return err
	}
	defer n.resetAtEnd(s)()
	number, p := n.pipes.add(o.from.id, o.way.to)
	for head := true; ; head = false {
		f := o.next()
		if f == nil {
			_ = s.Close() // an error does not matter: waiting frames go on the stream of the next run
			time.AfterFunc(headTimeout, func() {
				if n.pipes.take(number, p.from, p.to) != nil { // the receiver has not read from it
					p.close(n)
				}
			})
			return nil
		}
		b := make([]byte, f.bytes())
		if head {
			binary.BigEndian.PutUint32(b, number)
		}
		if err := p.write(n, s, f, b); err != nil {
			_ = s.Reset()
			n.pipes.take(number, p.from, p.to) // if the receiver has not taken it
			p.close(n)
			return err
		}
	}
}

// dial opens the stream, and first a connection if there is none.
func (o *outbox) dial() (network.Stream, error) {
	ctx, cancel := context.WithTimeout(o.from.net.ctx, dialTimeout)
	defer cancel()
	to := o.from.net.peers[o.way.to].address
	if err := o.from.host.Connect(ctx, to); err != nil {
		return nil, err
	}
	return o.from.host.NewStream(ctx, to.ID, o.way.id)
}

// next waits for a frame. It returns nil if none came for a while and the outbox has stopped running, or if the run
// ends.
func (o *outbox) next() *frame {
	idle := time.NewTimer(idleFor)
	defer idle.Stop()
	for {
		if f := o.pop(); f != nil {
			return f
		}
		select {
		case <-o.more:
		case <-o.from.net.ctx.Done():
			return nil
		case <-idle.C:
			if o.rest() {
				return nil
			}
			idle.Reset(idleFor)
		}
	}
}

func (o *outbox) pop() *frame {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.queue) == 0 {
		return nil
	}
	f := o.queue[0]
	o.queue[0] = nil
	o.queue = o.queue[1:]
	return f
}

// rest stops the outbox's run if no frame waits and the stream need not stay open. It reports whether it did.
func (o *outbox) rest() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.queue) > 0 || o.keep.Load() {
		return false
	}
	o.running = false
	return true
}

// write puts a frame into the pipe, and its bytes on the stream in one write.
func (p *pipe) write(n *Network, s network.Stream, f *frame, b []byte) error {
	if !p.push(f) {
		f.fail(n)
		return errGone
	}
	if err := s.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
		return err
	}
	_, err := s.Write(b)
	return err
}

// read delivers the frames that another peer sends over a stream. If the stream breaks off, it posts the end of the
// link to that peer.
func (m *member) read(s network.Stream) {
	from, known := m.net.numbers[s.Conn().RemotePeer()]
	if !known {
		_ = s.Reset()
		return
	}
	defer m.net.resetAtEnd(s)()
	var head [headBytes]byte
	_ = s.SetReadDeadline(time.Now().Add(headTimeout))
	_, err := io.ReadFull(s, head[:])
	_ = s.SetReadDeadline(time.Time{})
	if err == nil {
		err = errStranger
		if p := m.net.pipes.take(binary.BigEndian.Uint32(head[:]), from, m.id); p != nil {
			err = p.read(m.net, s)
		}
	}
	if errors.Is(err, io.EOF) {
		_ = s.Close()
		return
	}
	_ = s.Reset()
	m.post(event{kind: closed, peer: from})
}

// read delivers frames as their bytes arrive, until the stream ends; the error is io.EOF if it ends after a whole
// frame. The head of the first frame was read before.
func (p *pipe) read(n *Network, s io.Reader) error {
	defer p.close(n)
	var first [1]byte
	for have := headBytes; ; have = len(first) {
		f := p.pop()
		if f == nil { // the sender has given it up
			return errGone
		}
		if _, err := io.CopyN(io.Discard, s, int64(f.bytes()-have)); err != nil {
			f.fail(n)
			return errGone
		}
		f.deliver(n)
		if _, err := io.ReadFull(s, first[:]); err != nil {
			return err
		}
	}
}
