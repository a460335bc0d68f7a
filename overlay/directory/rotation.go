package directory

import (
	"time"

	"github.com/venn-p2p/venn/overlay/agenda"
	"github.com/venn-p2p/venn/overlay/compare"
	"github.com/venn-p2p/venn/overlay/index"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// A network rotates its seed peer by peer. A peer that has changed still accepts summaries under the previous seed for
// a while, and publishes one of its own under that seed, too ([Config.Previous]). Until all have changed,
//
//   - a peer that has not changed is known by its summary under the previous seed, and is asked, compared and indexed
//     under it;
//   - a peer that has changed is known by its summary under the current seed. Of its other summary only the sample is
//     kept. The sample is passed on to peers that have not changed; they fetch the rest from the origin itself;
//   - a peer that has not changed cannot read summaries under a seed that it does not know. Receiving one is nobody's
//     fault; the entry becomes [Foreign], and is not asked for again.
//
// An origin has an entry for each of its summaries; their tags can be computed from each other
// ([summary.SeedTag.Rotated]). The two are siblings. One of them stands for the peer in all that the directory returns;
// the other is covered.

// rotation holds the tables of the previous seed, while it lasts.
type rotation struct {
	tag     summary.SeedTag
	hasher  summary.Hasher
	index   index.Index
	samples compare.Samples // compares our collection with each entry's sample
}

// startRotation sets up the tables of the previous seed, if there is one.
func (d *Directory) startRotation() {
	if d.cfg.PreviousUntil <= 0 {
		return
	}
	d.previous = &rotation{tag: d.cfg.Previous.Tag(), hasher: d.cfg.Previous.Hasher()}
	own := &Entry{index: int32(len(d.entries)), tag: wire.Tag(d.previous.tag, string(d.cfg.Self)), peer: d.cfg.Self, old: true}
	d.entries = append(d.entries, own)
	d.byTag[own.tag] = own
	d.owns++
}

// endRotation makes all entries under the previous seed Foreign when its time is over.
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

// accepts reports whether the directory accepts summaries under a seed.
func (d *Directory) accepts(s summary.SeedTag) bool {
	return s == d.cfg.Seed || d.previous != nil && s == d.previous.tag
}

// isTag reports whether a tag is a linked peer's own, under either seed.
func (d *Directory) isTag(tag uint64, l *Link) bool {
	return tag == l.tag || d.previous != nil && tag == wire.RotateTag(l.tag, d.cfg.Seed, d.previous.tag)
}

// pairUp finds the sibling of a new entry.
func (d *Directory) pairUp(e *Entry) {
	if d.previous == nil {
		return
	}
	if s := d.byTag[wire.RotateTag(e.tag, d.cfg.Seed, d.previous.tag)]; s != nil && !d.isOwn(s) {
		e.sibling = s
		s.sibling = e
	}
}

// part separates an entry that is removed from its sibling.
func (d *Directory) part(e *Entry) {
	if s := e.sibling; s != nil {
		s.sibling = nil
		e.sibling = nil
	}
}

// Covered reports whether the sibling stands for the entry's peer. As soon as a part is held of the entry under the
// current seed, that entry stands for the peer.
func (e *Entry) Covered() bool {
	return e.sibling != nil && e.sibling.cur != nil && (e.old || e.cur == nil)
}

// standsAlone reports whether no prefix of the entry's sibling is held.
func (e *Entry) standsAlone() bool { return e.sibling == nil || e.sibling.cur == nil }

// answer returns the prefix that answers queries for an entry; nil if the entry is covered or holds none.
func (e *Entry) answer() *summary.Prefix {
	if e.Covered() {
		return nil
	}
	return e.cur
}

// tables returns the index and the samples that an entry belongs to.
func (d *Directory) tables(e *Entry) (*index.Index, *compare.Samples) {
	if e.old {
		return &d.previous.index, &d.previous.samples
	}
	return &d.index, &d.samples
}

// setAnswer brings index and samples up to date with an entry.
func (d *Directory) setAnswer(e *Entry) {
	in, samples := d.tables(e)
	p := e.answer()
	samples.Set(e.Index(), p)
	if d.cfg.Cache == nil {
		in.Set(e.Index(), p)
	}
}

// tellSibling brings the sibling up to date after an entry's first part has come, or all of it has gone.
func (d *Directory) tellSibling(e *Entry) {
	s := e.sibling
	if s == nil {
		return
	}
	if s.cur != nil && s.Covered() { // the peer has changed its seed
		d.keepSample(s)
		e.answers, e.rtt = s.answers, s.rtt
	}
	d.setAnswer(s)
	d.change(Reopened, s)
}

// keepSample drops all prefixes of an origin but the sample of the newest epoch.
func (d *Directory) keepSample(e *Entry) {
	d.change(Withdrawn, e)
	d.held -= e.memory()
	e.cur, e.state = e.Newest().Truncate(1), Held
	d.endReplacement(e)
	e.bases = nil
	d.held += e.memory()
}

// disown forgets all about an origin but its tag: its summary is under a seed that is not, or no longer, known here.
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
	d.due.By(dueExpiry, now+agenda.Lately)
}

// ownUnder returns our own summary under the seed of an entry; nil before it was published.
func (d *Directory) ownUnder(e *Entry) *summary.Prefix {
	if e.old {
		return d.entries[d.owns-1].cur
	}
	return d.entries[0].cur
}

// Unrotated returns the number of peers known only by a summary under the previous seed.
func (d *Directory) Unrotated() int {
	n := 0
	for _, e := range d.Others() {
		if e != nil && e.old && e.answer() != nil {
			n++
		}
	}
	return n
}

// Rotating reports whether the directory still accepts summaries under the previous seed.
func (d *Directory) Rotating() bool { return d.previous != nil }
