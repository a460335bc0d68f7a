package node

import (
	"time"

	"github.com/venn-p2p/venn/node/core"
	"github.com/venn-p2p/venn/node/signed"
	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// publisher makes the node's own summaries under a seed, when the core asks for one, in a goroutine of its own. If the
// seed is the key store's, the publisher uses the stored fingerprints, and reads no key.
type publisher struct {
	n     *Node
	seed  summary.SeedTag
	epoch summary.Epoch // epoch of the last summary published; Sequence 0: there was none
	shape summary.Shape // shape of the last summary published

	published int   // number of summaries published so far
	bytes     int   // size of the last summary's parts on the wire
	fault     error // error of the last build; nil: it did not fail
}

// built is a new epoch, ready to be published.
type built struct {
	of               *publisher
	stream           *summary.Prefix
	envelope, record []byte
	shape            summary.Shape
	err              error
}

// newPublishers returns the publisher under the node's seed, and the one under the previous seed: nil if there is none.
func newPublishers(n *Node) (current, old *publisher) {
	if n.cfg.previous != nil {
		old = &publisher{n: n, seed: n.cfg.previous.Tag()}
	}
	return &publisher{n: n, seed: n.cfg.seed.Tag()}, old
}

// changed tells the core of changed keys and addresses, and drops an expired previous seed.
func (l *loop) changed() {
	if l.n.moved.Swap(false) {
		l.step(core.Moved{})
	}
	if waiting, many := l.n.unannounced.waiting(); waiting > 0 {
		l.step(core.Changed{Waiting: waiting, Many: many})
	}
	if l.previous != nil && !time.Now().Before(l.n.cfg.previous.until) {
		l.previous = nil
	}
}

// makeEpoch begins to build a new epoch, in another goroutine.
func (l *loop) makeEpoch(e core.MakeEpoch) {
	p := l.publisher
	if e.Seed == p.seed {
		l.n.unannounced.take()
	} else if p = l.previous; p == nil {
		return
	}
	h := summary.Header{Seed: p.seed, Origin: string(l.n.host.ID()), Lifetime: e.Lifetime, Shape: p.shape}
	before := l.ownRecord()
	l.n.tasks.Run(func() {
		b := l.n.build(h, before)
		b.of = p
		l.n.in.Result(l.n.ctx, b)
	})
}

// ownRecord returns the newest record of this node that others may hold, of this run or the last; nil if there is none.
func (l *loop) ownRecord() []byte {
	self := wire.PeerID(l.n.host.ID())
	if r, ok := l.core.Overlay.Record(self); ok {
		return r.Envelope
	}
	return l.n.lastRecords[self]
}

// build numbers, makes and signs a summary of the keys held. It keeps the shape of h while that fits, so that the parts
// of successive epochs line up and deltas are small. before is this node's record that others may hold.
func (n *Node) build(h summary.Header, before []byte) (b built) {
	fps, err := n.fingerprints(h.Seed)
	if err != nil {
		return built{err: err}
	}
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
	if b.envelope, b.err = signed.HeaderSigner(n.key)(payload); b.err != nil {
		return b
	}
	b.record, b.err = signed.OwnRecord(n.host, n.key, before)
	return b
}

// built publishes a summary that was built.
func (p *publisher) built(l *loop, b built) {
	if p.fault = b.err; b.err != nil {
		p.n.log.Error("no summary", "err", b.err)
		l.step(core.NotPublished{Seed: p.seed})
		return
	}
	p.shape, p.epoch = b.shape, b.stream.Header().Epoch
	l.step(event.Published{Envelope: b.envelope, Record: b.record, Stream: b.stream})
	h, all := b.stream.Header(), b.stream
	p.published++
	p.bytes = all.EncodedBytes()
	p.n.events.emit(EvtSummaryPublished{Seed: h.Seed.Number, Epoch: h.Epoch, Keys: h.N, Parts: all.Parts(), Bytes: p.bytes})
}
