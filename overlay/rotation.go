package overlay

import (
	"time"

	"github.com/venn-p2p/venn/overlay/index"
	"github.com/venn-p2p/venn/summary"
)

// A network rotates its seed peer by peer: each, when it changes, takes in summaries under the seed before for a while, and
// publishes one of its own there too ([Config.Previous]). Until all have changed,
//
//   - a peer that has not is known by its summary under the previous seed, which is asked, compared and indexed under that;
//   - a peer that has is known by the one under the current seed. Of its other one the sample is kept as well, but only for
//     those who have not changed: it is passed on to them, and they fetch from the origin itself what they want of the rest;
//   - who has not changed cannot read summaries under a seed that it does not know. It is nobody's fault that one came; it
//     is remembered as foreign, and not asked for again.
//
// An origin has an entry for each of its summaries, whose tags name each other ([summary.SeedTag.Rotated]). One of them stands for
// the peer in all that the directory says; the other is covered.

// rotation is what there is of the previous seed, while it lasts.
type rotation struct {
	tag     summary.SeedTag
	hasher  summary.Hasher
	index   index.Index
	overlap summary.Comparison // of our collection with each entry's sample
}

// startRotation sets up what is kept of the previous seed.
func (o *Overlay) startRotation() {
	if o.cfg.PreviousUntil <= 0 {
		return
	}
	o.previous = &rotation{tag: o.cfg.Previous.Tag(), hasher: o.cfg.Previous.Hasher()}
	own := &entry{index: len(o.entries), tag: o.previous.tag.OriginTag(string(o.cfg.Self)), peer: o.cfg.Self, old: true, ask: noAsk}
	o.entries = append(o.entries, own)
	o.byTag[own.tag] = own.index
	o.owns++
}

// endRotation makes all that is under the previous seed foreign when its time is over.
func (o *Overlay) endRotation(now time.Duration) {
	if o.previous == nil || now < o.cfg.PreviousUntil {
		return
	}
	own := o.entries[o.owns-1]
	for _, e := range o.others() {
		if e == nil {
			continue
		}
		if s := o.sibling(e); e.old || s != nil && s.cur != nil && !s.old {
			o.disown(e)
		}
	}
	delete(o.byTag, own.tag)
	o.entries[own.index] = nil // not to be used again: the indexes below owns are our own
	o.previous = nil
}

// others are the entries of other peers; some are nil.
func (o *Overlay) others() []*entry { return o.entries[o.owns:] }

// isOwn says whether an entry is of a summary of our own.
func (o *Overlay) isOwn(e *entry) bool { return e.index < o.owns }

// accepts says whether summaries under a seed are taken in.
func (o *Overlay) accepts(s summary.SeedTag) bool {
	return s == o.cfg.Seed || o.previous != nil && s == o.previous.tag
}

// isTag says whether a tag is one of a linked peer's.
func (o *Overlay) isTag(tag uint64, l *link) bool {
	return tag == l.tag || o.previous != nil && tag == o.cfg.Seed.Rotated(l.tag, o.previous.tag)
}

// sibling is the entry of the same peer under the other seed, nil if there is none.
func (o *Overlay) sibling(e *entry) *entry {
	if o.previous == nil {
		return nil
	}
	i, ok := o.byTag[o.cfg.Seed.Rotated(e.tag, o.previous.tag)]
	if !ok {
		return nil
	}
	return o.entries[i]
}

// covered says whether another entry stands for an entry's peer: that under the current seed, as soon as anything is held there.
func (o *Overlay) covered(e *entry) bool {
	s := o.sibling(e)
	return s != nil && s.cur != nil && (e.old || e.cur == nil)
}

// standsAlone says whether nothing is held of an entry's peer under the other seed.
func (o *Overlay) standsAlone(e *entry) bool {
	s := o.sibling(e)
	return s == nil || s.cur == nil
}

// setAnswer makes what is held of an origin that which answers for it, and which is compared with our own; nothing if it is
// covered.
func (o *Overlay) setAnswer(e *entry) {
	in, overlap, p := &o.index, &o.overlap, e.cur
	if e.old {
		in, overlap = &o.previous.index, &o.previous.overlap
	}
	if p != nil && o.covered(e) {
		p = nil
	}
	overlap.Set(e.index, p)
	if !o.cfg.Loop {
		in.Set(e.index, p)
	}
}

// tellSibling brings the other entry of a peer up to date when anything has come, or all has gone, of one of the two.
func (o *Overlay) tellSibling(e *entry) {
	s := o.sibling(e)
	if s == nil {
		return
	}
	if s.cur != nil && o.covered(s) { // the peer has changed
		o.keepSample(s)
		e.answers, e.rtt = s.answers, s.rtt
	}
	o.setAnswer(s)
	s.quiet, o.planAt = 0, 0
}

// keepSample leaves of what is held of an origin the sample of the newest epoch.
func (o *Overlay) keepSample(e *entry) {
	o.endAsk(e)
	o.held -= e.memory()
	e.cur, e.next, e.bases = e.newest().Truncate(1), nil, nil
	o.held += e.memory()
}

// disown forgets what is known of an origin but that it is foreign: under a seed that is not, or no longer, known here.
func (o *Overlay) disown(e *entry) {
	records := e.recordBytes()
	o.drop(e)
	o.leaveGroup(e)
	e.peer, e.record, e.envelope, e.oldEnvelope = "", Record{}, nil, nil
	o.countRecords(e, records)
	e.past, e.newerThan = summary.Epoch{}, summary.Epoch{}
	e.foreign, e.old = true, false
	if !e.pending {
		e.pending, e.by = true, ""
		o.pending++
	}
	e.tried = o.now
	o.expireAt = min(o.expireAt, o.now+pendingFor)
}

// ownUnder is our own summary under the seed of an entry's, nil before it was published.
func (o *Overlay) ownUnder(e *entry) *summary.Prefix {
	if e.old {
		return o.entries[o.owns-1].cur
	}
	return o.entries[0].cur
}

// Unrotated is of how many peers there is no summary under the current seed, but one under the previous.
func (o *Overlay) Unrotated() int {
	n := 0
	for _, e := range o.others() {
		if e != nil && e.old && e.cur != nil && !o.covered(e) {
			n++
		}
	}
	return n
}
