package drive

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/venn-p2p/venn/testnet/strategy"
)

// frame is written at a time: a message, or the opening or closing of a link.
type frame struct {
	from, to strategy.ID
	kind     kind
	message  strategy.Message
	settled  atomic.Bool // it was delivered, or failed
}

// headBytes is the least size of a frame. A stream's first frame begins with the number of its pipe.
const headBytes = 4

// bytes returns the frame's size.
func (f *frame) bytes() int { return max(headBytes, f.message.Bytes-strategy.Overhead) }

// deliver gives the frame to its receiver, and fail gives it back to its sender: whichever comes first.
func (f *frame) deliver(n *Network) {
	if f.settled.CompareAndSwap(false, true) {
		n.peers[f.to].put(event{kind: f.kind, peer: f.from, message: f.message})
	}
}

func (f *frame) fail(n *Network) {
	if f.settled.CompareAndSwap(false, true) {
		n.peers[f.from].put(event{kind: failed, peer: f.to, message: f.message, was: f.kind})
	}
}

// pipe carries the frames of a stream, while the stream carries their padding: each is in the pipe before its bytes are
// in the stream.
type pipe struct {
	from, to strategy.ID
	frames   chan *frame
	taken    chan struct{} // closed when there is somebody to read
	gone     chan struct{} // closed when nobody reads any more
}

// pipeFrames is the largest number of frames of a stream that are under way.
const pipeFrames = 64

// pipes has the pipes of streams that have been opened and not yet been read from, by number.
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
	made = &pipe{from: from, to: to, frames: make(chan *frame, pipeFrames), taken: make(chan struct{}), gone: make(chan struct{})}
	p.open[p.last] = made
	return p.last, made
}

// take hands a pipe to the reader of its stream, once; nil: there is none of that number between the two.
func (p *pipes) take(number uint32, from, to strategy.ID) *pipe {
	p.mu.Lock()
	defer p.mu.Unlock()
	made := p.open[number]
	if made == nil || made.from != from || made.to != to {
		return nil
	}
	delete(p.open, number)
	close(made.taken)
	return made
}

// leave waits until a pipe that is no longer written to has been taken. If that doesn't come, the frames in it fail.
func (p *pipes) leave(n *Network, number uint32, left *pipe) {
	timeout := time.NewTimer(headTimeout)
	defer timeout.Stop()
	select {
	case <-left.taken:
	case <-n.ctx.Done():
	case <-timeout.C:
		if p.take(number, left.from, left.to) != nil {
			left.drain(n)
		}
	}
}

// shut notes that nobody reads any more, and fails the frames in the pipe.
func (p *pipe) shut(n *Network) {
	close(p.gone)
	p.drain(n)
}

func (p *pipe) drain(n *Network) {
	for {
		select {
		case f := <-p.frames:
			f.fail(n)
		default:
			return
		}
	}
}

// padding is the bytes that frames are made of, the same for all.
type padding struct {
	mu    sync.Mutex
	bytes []byte
}

// of returns n bytes, which nobody may change.
func (p *padding) of(n int) []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.bytes) < n {
		p.bytes = make([]byte, max(n, 2*len(p.bytes)))
	}
	return p.bytes[:n]
}
