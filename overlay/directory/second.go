package directory

import (
	"github.com/venn-p2p/venn/overlay/bound"
	"github.com/venn-p2p/venn/overlay/wire"
)

// seconders is the number of links below which the word of one link is enough: perhaps no other knows the origin.
const seconders = bound.Handful

// second notes that a link has named an entry. To invent an origin costs a liar nothing. An origin that exists is soon
// named by a second link, or by itself.
func (d *Directory) second(e *Entry, from wire.PeerID) {
	if e.seconded || from == e.by && !d.isOf(from, e.tag) {
		return
	}
	e.seconded = true
	d.touch()
}

// isOf reports whether a tag is a linked peer's own.
func (d *Directory) isOf(p wire.PeerID, tag uint64) bool {
	l := d.Link(p)
	return l != nil && d.isTag(tag, l)
}

// Offer notes whether a link whose word is enough offers parts of an entry of which nothing is held.
func (d *Directory) Offer(e *Entry, offered bool) {
	if offered != e.offered {
		e.offered = offered
		d.touch()
	}
}

// exists reports whether an origin of which nothing is held is taken to exist. Where the range is everybody, a link
// whose word is enough offers parts of it. Elsewhere links offer a part only of what there is, and two names are enough.
func (d *Directory) exists(e *Entry) bool {
	if d.within.Depth() > 0 {
		return !d.Invented(e)
	}
	return e.offered
}

// Missing reports whether an entry is of an origin that is taken to exist and can be reached, and nothing is held of it.
func (d *Directory) Missing(e *Entry) bool {
	return e.cur == nil && !e.Gone() && e.dialFails == 0 && d.exists(e)
}

// Invented reports whether an origin may not exist: none of its summary has come, and only one link has named it.
func (d *Directory) Invented(e *Entry) bool {
	return (e.state == Pending || e.state == Named) && !e.seconded && len(d.links) >= d.cfg.Limits.Seconders
}
