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

// Invented reports whether an origin may not exist: none of its summary has come, and only one link has named it.
func (d *Directory) Invented(e *Entry) bool {
	return (e.state == Pending || e.state == Named) && !e.seconded && len(d.links) >= d.cfg.Limits.Seconders
}
