package directory

import (
	"time"

	"github.com/venn-p2p/venn/overlay/compare"
	"github.com/venn-p2p/venn/overlay/group"
	"github.com/venn-p2p/venn/overlay/index"
	"github.com/venn-p2p/venn/summary"
)

// A network rotates its seed peer by peer. When a peer changes, it takes in summaries under the seed before for a
// while, and publishes one of its own there too ([Config.Previous]). Until all have changed,
//
//   - a peer that has not is known by its summary under the previous seed, which is asked, compared and indexed under
//     that;
//   - a peer that has is known by the one under the current seed. Of its other one only the sample is kept, for peers
//     that have not changed. It is passed on to them, and they fetch the rest that they want from the origin itself;
//   - a peer that has not changed cannot read summaries under a seed that it does not know. It is nobody's fault that
//     one came; the entry becomes [Foreign], and is not asked for again.
//
// An origin has an entry for each of its summaries, whose tags name each other ([summary.SeedTag.Rotated]): they are
// siblings. One of them stands for the peer in all that the directory says; the other is covered.

// rotation is what there is of the previous seed, while it lasts.
type rotation struct {
	tag     summary.SeedTag
	hasher  summary.Hasher
	index   index.Index
	samples compare.Samples // of our collection with each entry's sample
}

// startRotation sets up what is kept of the previous seed.
func (d *Directory) startRotation() {
	if d.cfg.PreviousUntil <= 0 {
		return
	}
	d.previous = &rotation{tag: d.cfg.Previous.Tag(), hasher: d.cfg.Previous.Hasher()}
	own := &Entry{index: int32(len(d.entries)), tag: group.Tag(d.previous.tag, string(d.cfg.Self)), peer: d.cfg.Self, old: true}
	d.entries = append(d.entries, own)
	d.byTag[own.tag] = own
	d.owns++
}

// endRotation makes all that is under the previous seed foreign when its time is over.
func (d *Directory) endRotation(now time.Duration) {
	if d.previous == nil || now < d.cfg.PreviousUntil {
		return
	}
	own := d.entries[d.owns-1]
	for _, e := range d.Others() {
		if e == nil {
			continue
		}
		if s := e.sibling; e.old || s != nil && s.cur != nil && !s.old {
			d.disown(now, e)
		}
	}
	delete(d.byTag, own.tag)
	d.entries[own.index] = nil // not to be used again: the indexes below owns are our own
	d.change(Removed, own)
	for _, e := range d.Others() {
		if e != nil {
			e.sibling = nil
		}
	}
	d.previous = nil
}

// accepts says whether summaries under a seed are taken in.
func (d *Directory) accepts(s summary.SeedTag) bool {
	return s == d.cfg.Seed || d.previous != nil && s == d.previous.tag
}

// isTag says whether a tag is one of a linked peer's.
func (d *Directory) isTag(tag uint64, l *link) bool {
	return tag == l.tag || d.previous != nil && tag == group.Rotate(l.tag, d.cfg.Seed, d.previous.tag)
}

// pairUp finds the sibling of a new entry.
func (d *Directory) pairUp(e *Entry) {
	if d.previous == nil {
		return
	}
	if s := d.byTag[group.Rotate(e.tag, d.cfg.Seed, d.previous.tag)]; s != nil && !d.isOwn(s) {
		e.sibling = s
		s.sibling = e
	}
}

// part separates an entry that goes from its sibling.
func (d *Directory) part(e *Entry) {
	if s := e.sibling; s != nil {
		s.sibling = nil
		e.sibling = nil
	}
}

// Covered says whether the sibling stands for the entry's peer: that under the current seed, as soon as anything is
// held of it.
func (e *Entry) Covered() bool {
	return e.sibling != nil && e.sibling.cur != nil && (e.old || e.cur == nil)
}

// standsAlone says whether nothing is held of the entry's sibling.
func (e *Entry) standsAlone() bool { return e.sibling == nil || e.sibling.cur == nil }

// answer is the prefix that answers queries for an entry: none if it is covered.
func (e *Entry) answer() *summary.Prefix {
	if e.Covered() {
		return nil
	}
	return e.cur
}

// tables are the index and the comparison that an entry belongs to.
func (d *Directory) tables(e *Entry) (*index.Index, *compare.Samples) {
	if e.old {
		return &d.previous.index, &d.previous.samples
	}
	return &d.index, &d.samples
}

// setAnswer brings index and comparison up to date with an entry.
func (d *Directory) setAnswer(e *Entry) {
	in, samples := d.tables(e)
	p := e.answer()
	samples.Set(e.Index(), p)
	if !d.cfg.Loop {
		in.Set(e.Index(), p)
	}
}

// tellSibling brings the sibling of an entry up to date when anything has come, or all has gone, of the entry.
func (d *Directory) tellSibling(e *Entry) {
	s := e.sibling
	if s == nil {
		return
	}
	if s.cur != nil && s.Covered() { // the peer has changed
		d.keepSample(s)
		e.answers, e.rtt = s.answers, s.rtt
	}
	d.setAnswer(s)
	d.change(Reopened, s)
}

// keepSample leaves of what is held of an origin the sample of the newest epoch.
func (d *Directory) keepSample(e *Entry) {
	d.change(Withdrawn, e)
	d.held -= e.memory()
	e.cur, e.state = e.Newest().Truncate(1), Held
	d.forgetOld(e)
	e.bases = nil
	d.held += e.memory()
}

// disown forgets what is known of an origin but that it is foreign: under a seed that is not, or no longer, known here.
func (d *Directory) disown(now time.Duration, e *Entry) {
	d.drop(e)
	d.leaveGroup(e)
	before := e.signedBytes()
	e.peer, e.record = "", nil
	e.envelope = nil
	d.countSigned(e, before)
	e.past, e.forgotten = summary.Epoch{}, 0
	e.old = false
	if !e.state.pending() {
		d.settle(e, Foreign)
		d.pending++
	}
	e.state = Foreign
	e.touched = now
	d.due.By(dueExpiry, now+pendingFor)
}

// ownUnder is our own summary under the seed of an entry's, nil before it was published.
func (d *Directory) ownUnder(e *Entry) *summary.Prefix {
	if e.old {
		return d.entries[d.owns-1].cur
	}
	return d.entries[0].cur
}

// Unrotated returns of how many peers there is no summary under the current seed, but one under the previous.
func (d *Directory) Unrotated() int {
	n := 0
	for _, e := range d.Others() {
		if e != nil && e.old && e.answer() != nil {
			n++
		}
	}
	return n
}

// Rotating says whether summaries under the previous seed are still taken in.
func (d *Directory) Rotating() bool { return d.previous != nil }
