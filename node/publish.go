package node

import (
	"time"

	"github.com/venn-p2p/venn/node/internal/schedule"

	"github.com/venn-p2p/venn/node/signed"
	"github.com/venn-p2p/venn/overlay"
	"github.com/venn-p2p/venn/summary"
)

// publisher makes the node's own summaries under a seed, when the schedule says so, in a goroutine of its own. If the
// seed is that of the key store, it uses the fingerprints alone, without touching a key.
type publisher struct {
	n        *Node
	seed     summary.SeedTag
	building bool
	schedule schedule.Schedule
	epoch    summary.Epoch // of the last one published; Sequence 0: there was none
	shape    summary.Shape // of the last build

	published int   // epochs so far
	fault     error // why there is no newer one; nil: none was due that failed

	sample    []byte        // ordinary message of the last epoch; nil: none
	sampleDue bool          // somebody has not had it
	sampled   time.Duration // when it was last sent
}

// built is a new epoch, ready to be published.
type built struct {
	of               *publisher
	took             time.Duration
	stream           *summary.Prefix
	envelope, record []byte
	shape            summary.Shape
	keys             int
	err              error
}

// newPublishers returns the publisher under the node's seed, and that under the previous one: nil if there is none.
func newPublishers(n *Node) (current, old *publisher) {
	if n.cfg.previous != nil {
		old = &publisher{n: n, seed: n.cfg.previous.Tag()}
	}
	return &publisher{n: n, seed: n.cfg.seed.Tag()}, old
}

// publish begins new epochs if it is time.
func (l *loop) publish() {
	changes := int(l.n.changes.Swap(0))
	if l.n.moved.Swap(false) {
		l.publisher.schedule.Moved(l.n.now())
	}
	l.tail(changes)
	l.publisher.look()
	l.n.untold.Store(l.publisher.waits())
	if l.previous != nil && !time.Now().Before(l.n.cfg.previous.until) {
		l.previous = nil
	}
	if l.previous != nil {
		l.previous.changed(changes)
		l.previous.look()
	}
}

// changed notes changes that a new epoch is to bring.
func (p *publisher) changed(changes int) {
	if changes > 0 {
		p.schedule.Changed(p.n.now(), changes)
	}
}

// waits says whether there are changes for an epoch to carry.
func (p *publisher) waits() bool { return p.building || p.schedule.Waiting() > 0 }

// look begins a new epoch if it is time.
func (p *publisher) look() {
	now := p.n.now()
	p.sendSample(now)
	if p.building || !p.schedule.Due(now) {
		return
	}
	p.building = true
	p.schedule.Begin(now)
	p.n.touched.begin(p.seed == p.n.cfg.seed.Tag())
	h := summary.Header{Seed: p.seed, Origin: string(p.n.host.ID()), Lifetime: schedule.Lifetime, Shape: p.shape}
	p.n.tasks.Run(func() {
		b := p.n.build(h)
		b.of, b.took = p, p.n.now()-now
		p.n.in.Result(p.n.ctx, b)
	})
}

// build numbers, makes and signs a summary of the keys held. It keeps the shape of h while that fits, so that the parts
// of successive epochs line up and deltas are small.
func (n *Node) build(h summary.Header) (b built) {
	fps, err := n.fingerprints(h.Seed)
	if err != nil {
		return built{err: err}
	}
	if !h.Shape.Fits(len(fps)) {
		h.Shape = summary.DefaultShape(len(fps))
	}
	b.shape, b.keys = h.Shape, len(fps)
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
	b.record, b.err = signed.OwnRecord(n.host, n.key)
	return b
}

// built publishes what was built.
func (p *publisher) built(l *loop, b built) {
	p.building = false
	if b.err != nil {
		p.n.log.Error("no summary", "err", b.err)
		p.fault = b.err
		p.schedule.Changed(p.n.now(), b.keys+1) // try again
		return
	}
	p.fault = nil
	p.shape, p.epoch, p.schedule.Keys = b.shape, b.stream.Header().Epoch, b.keys
	if p == l.previous {
		p.schedule.Rest = schedule.RestAfter * b.took
	}
	l.n.untold.Store(l.publisher.waits())
	l.step(overlay.Published{Envelope: b.envelope, Record: b.record, Stream: b.stream})
	h, all := b.stream.Header(), b.stream
	p.published++
	p.sample, p.sampleDue = sampleMessage(b), true
	p.n.events.emit(EvtSummaryPublished{Seed: h.Seed.Number, Epoch: h.Epoch, Keys: h.N, Parts: all.Parts(), Bytes: all.EncodedBytes()})
}

// sendSample sends the ordinary message if it is due and a peer needs it.
func (p *publisher) sendSample(now time.Duration) {
	if !p.sampleDue || p.sample == nil || p.sampled > 0 && now < p.sampled+sampleEvery || !p.n.mesh.AnyPlain() {
		return
	}
	p.sampleDue, p.sampled = false, now
	p.n.mesh.Publish(p.sample)
}
