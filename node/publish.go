package node

import (
	"slices"
	"time"

	"github.com/venn-p2p/venn/overlay"
	"github.com/venn-p2p/venn/summary"
)

const (
	settle   = 500 * time.Millisecond // from the first change after a quiet time to a new epoch
	spacing  = 20 * time.Second       // between epochs at least
	lifetime = time.Hour              // of a summary, from its first receipt
	renewal  = lifetime / 2           // between epochs at most, once there is one
)

// publisher makes the node's own summaries: it decides when, in the loop, and builds them in a goroutine of its own.
type publisher struct {
	n        *Node
	building bool
	dirty    bool          // keys have changed since the last build began
	since    time.Duration // since when
	last     time.Duration // when the last build began
	epoch    summary.Epoch // of the last one published; Sequence 0: there was none
	shape    summary.Shape // of the last build
}

// built is a new epoch, ready to be published.
type built struct {
	stream           *summary.Stream
	envelope, record []byte
	shape            summary.Shape
	err              error
}

func newPublisher(n *Node) publisher {
	return publisher{n: n}
}

// look begins a new epoch if it is time.
func (p *publisher) look() {
	now := p.n.now()
	if p.n.changed.Swap(false) && !p.dirty {
		p.dirty, p.since = true, now
	}
	first := p.epoch.Sequence == 0
	changed := p.dirty && now >= p.since+settle && (first || now >= p.last+spacing)
	if p.building || !changed && (first || now < p.last+renewal) {
		return
	}
	p.building, p.dirty, p.last = true, false, now
	h := summary.Header{Seed: p.n.cfg.seed.Tag(), Origin: string(p.n.host.ID()), Lifetime: lifetime, Shape: p.shape}
	p.n.tasks.run(func() { p.n.in.result(p.n.ctx, p.n.build(h)) })
}

// build numbers, makes and signs a summary of the keys held, in the shape of h while it fits, so that the parts of successive
// epochs line up and deltas are small.
func (n *Node) build(h summary.Header) (b built) {
	fps := slices.Collect(n.keys.Fingerprints())
	if !h.Shape.Fits(len(fps)) {
		h.Shape = summary.DefaultShape(len(fps))
	}
	b.shape = h.Shape
	if h.Epoch, b.err = n.cfg.epochs.NextEpoch(); b.err != nil {
		return b
	}
	if b.stream, b.err = summary.Build(fps, h); b.err != nil {
		return b
	}
	payload, err := b.stream.Header().AppendBinary(nil)
	if err != nil {
		b.err = err
		return b
	}
	if b.envelope, b.err = signer(n.key)(payload); b.err != nil {
		return b
	}
	b.record, b.err = ownRecord(n.host, n.key)
	return b
}

// built publishes what was built.
func (p *publisher) built(l *loop, b built) {
	p.building = false
	if b.err != nil {
		p.n.log.Error("no summary", "err", b.err)
		p.dirty, p.since = true, p.n.now() // try again
		return
	}
	p.shape, p.epoch = b.shape, b.stream.Header().Epoch
	l.step(overlay.Published{Envelope: b.envelope, Record: b.record, Stream: b.stream})
	h, all := b.stream.Header(), b.stream.Prefix()
	p.n.events.emit(Published{Epoch: h.Epoch, Keys: h.N, Parts: all.Parts(), Bytes: all.Bytes()})
}
