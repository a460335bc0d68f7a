// Package pipes sends messages that need no answer to linked peers, over one stream to each that stays open.
//
// A message goes out whole and in order, or is lost. The owner learns of a loss when the next message goes out, at the
// latest. If a peer does not read for too long, its stream ends. A goroutine runs only while there is something to
// send. Only the latest stream of each peer is read.
package pipes

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"

	"github.com/venn-p2p/venn/node/internal/streams"
	"github.com/venn-p2p/venn/node/internal/tasks"
)

// Config holds the pipes' settings and the hooks of their node.
type Config struct {
	Streams *streams.Node
	ID      protocol.ID
	Limit   int             // most bytes of a message
	Within  time.Duration   // most time for sending one message; the stream ends if it takes longer
	Done    context.Context // ends with the node
	Tasks   *tasks.Group
	Lost    func(to peer.ID)                                 // called when messages to a peer are lost
	Take    func(from *streams.Stream, message []byte) error // handles a message; an error ends the stream
}

// maxWaiting is the most messages that wait in a pipe. Senders that heed Busy have one waiting at a time.
const maxWaiting = 16

// Pipes makes the pipes to linked peers and reads the streams of their pipes. It is safe for concurrent use.
type Pipes struct {
	cfg Config

	mu sync.Mutex
	in map[peer.ID]*streams.Stream
}

// Pipe holds the messages that wait for a linked peer, and the stream to it. It is safe for concurrent use.
type Pipe struct {
	cfg *Config
	to  peer.ID

	mu      sync.Mutex
	waiting [][]byte
	writing bool            // a goroutine is writing the waiting messages
	stream  *streams.Stream // nil: none is open. It belongs to the writing goroutine while there is one
	closed  bool            // the link has ended
}

// New returns pipes without streams.
func New(cfg Config) *Pipes { return &Pipes{cfg: cfg, in: make(map[peer.ID]*streams.Stream)} }

// To returns a pipe for a new link with a peer. Close must follow.
func (p *Pipes) To(q peer.ID) *Pipe { return &Pipe{cfg: &p.cfg, to: q} }

// Send sends a message without waiting. If too many messages wait, this one is lost.
func (o *Pipe) Send(message []byte) {
	if !o.queue(message) {
		o.cfg.Lost(o.to)
	}
}

// queue adds a message to those that wait; false if too many wait. If no goroutine writes, it starts one.
func (o *Pipe) queue(message []byte) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.waiting) >= maxWaiting {
		return false
	}
	o.waiting = append(o.waiting, message)
	if !o.writing {
		o.writing = o.cfg.Tasks.Run(o.write)
	}
	return true
}

// Busy reports whether messages wait or are being written.
func (o *Pipe) Busy() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.waiting) > 0
}

// Close ends the stream, because the link has ended.
func (o *Pipe) Close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	switch s := o.stream; {
	case s == nil:
	case o.writing:
		o.cfg.Tasks.Run(func() { _ = s.Reset() })
	default:
		o.cfg.Tasks.Run(func() { s.End(nil) })
	}
}

// write sends the waiting messages. It returns when there are none left.
func (o *Pipe) write() {
	for {
		message, s := o.next()
		if message == nil {
			if s != nil {
				s.End(nil)
			}
			return
		}
		s, err := o.send(s, message)
		if lost := o.wrote(s, err == nil); lost {
			o.cfg.Streams.Log.Debug("stream of messages failed", "protocol", o.cfg.ID, "peer", o.to, "err", err)
			o.cfg.Lost(o.to)
		}
	}
}

// next returns the message to write next, and the open stream, if there is one. If it returns no message, the
// goroutine must end the stream that it got, if any, and return.
func (o *Pipe) next() (message []byte, s *streams.Stream) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.closed:
		s, o.stream = o.stream, nil
	case len(o.waiting) > 0:
		return o.waiting[0], o.stream
	}
	o.writing = false
	return nil, s
}

// send writes a message to a stream. If s is nil, it opens one. It returns the stream to use next; nil after an error.
func (o *Pipe) send(s *streams.Stream, message []byte) (*streams.Stream, error) {
	var err error
	if s == nil {
		if s, err = o.cfg.Streams.Open(o.cfg.Done, o.to, o.cfg.ID); err != nil {
			return nil, err
		}
	}
	if err = s.SendWithin(message, o.cfg.Within); err != nil { // waits while the other end does not read
		s.End(err)
		return nil, err
	}
	return s, nil
}

// wrote records that the first waiting message was written, or else that all waiting messages are lost. It reports
// whether the loss must be reported.
func (o *Pipe) wrote(s *streams.Stream, ok bool) (lost bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.stream = s
	if ok {
		if o.waiting = o.waiting[1:]; len(o.waiting) == 0 {
			o.waiting = nil
		}
		return false
	}
	o.waiting = nil
	return !o.closed
}

// errStranger refuses a stream of a peer without a link.
var errStranger = errors.New("pipes: no link with the peer")

// Serve reads a stream that a linked peer has opened.
func (p *Pipes) Serve(s *streams.Stream) error {
	if !s.Linked() {
		return errStranger
	}
	p.enter(s)
	defer p.leave(s)
	return s.Each(p.cfg.Limit, func(message []byte) error { return p.cfg.Take(s, message) })
}

// enter records a stream as the only one read from its peer, and resets the peer's earlier stream.
func (p *Pipes) enter(s *streams.Stream) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if before := p.in[s.Peer]; before != nil {
		p.cfg.Tasks.Run(func() { _ = before.Reset() })
	}
	p.in[s.Peer] = s
}

func (p *Pipes) leave(s *streams.Stream) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.in[s.Peer] == s {
		delete(p.in, s.Peer)
	}
}

// Remembered returns the number of streams that are being read.
func (p *Pipes) Remembered() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.in)
}
