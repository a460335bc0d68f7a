package drive

import (
	"sync"

	"github.com/venn-p2p/venn/testnet/strategy"
)

// frame is the content of one write on a stream: a message, or the opening or closing of a link.
type frame struct {
	from, to strategy.ID
	kind     kind
	message  strategy.Message
}

// headBytes is the least size of a frame. A stream's first frame begins with the number of its pipe.
const headBytes = 4

// bytes returns the frame's size.
func (f *frame) bytes() int { return max(headBytes, f.message.Bytes-strategy.Overhead) }

// deliver gives the frame to its receiver.
func (f *frame) deliver(n *Network) {
	n.peers[f.to].put(event{kind: f.kind, peer: f.from, message: f.message})
}

// fail tells the sender that the frame could not be delivered.
func (f *frame) fail(n *Network) {
	n.peers[f.from].put(event{kind: failed, peer: f.to, message: f.message, was: f.kind})
}

// pipe carries the frames of a stream, while the stream carries their padding. A frame is in the pipe before its
// bytes are in the stream.
type pipe struct {
	from, to strategy.ID

	mu     sync.Mutex
	frames []*frame // frames that have not arrived
	closed bool
}

// push puts a frame into the pipe. It returns false if the pipe is closed.
func (p *pipe) push(f *frame) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.frames = append(p.frames, f)
	}
	return !p.closed
}

// pop removes and returns the next frame; nil: there is none.
func (p *pipe) pop() (f *frame) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.frames) > 0 {
		f, p.frames = p.frames[0], p.frames[1:]
	}
	return f
}

// close closes the pipe, and fails the frames in it.
func (p *pipe) close(n *Network) {
	p.mu.Lock()
	left := p.frames
	p.frames, p.closed = nil, true
	p.mu.Unlock()
	for _, f := range left {
		f.fail(n)
	}
}

// pipes has the pipes of streams that were opened and not yet read from, by number.
type pipes struct {
	mu   sync.Mutex
	last uint32
	open map[uint32]*pipe
}

// add makes a pipe.
func (p *pipes) add(from, to strategy.ID) (number uint32, made *pipe) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.open == nil {
		p.open = map[uint32]*pipe{}
	}
	p.last++
	p.open[p.last] = &pipe{from: from, to: to}
	return p.last, p.open[p.last]
}

// take removes and returns the pipe with a number, for the reader of its stream; nil: there is none between these
// peers.
func (p *pipes) take(number uint32, from, to strategy.ID) *pipe {
	p.mu.Lock()
	defer p.mu.Unlock()
	made := p.open[number]
	if made == nil || made.from != from || made.to != to {
		return nil
	}
	delete(p.open, number)
	return made
}
