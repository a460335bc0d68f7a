package directory

import (
	"github.com/venn-p2p/venn/overlay/wire"
)

// seconders is the number of links below which the word of one is enough: there may be no second that could know.
const seconders = 4

// second notes that a link tells of an entry. An origin costs a liar nothing to invent; for honest ones a second link
// soon speaks, or the origin itself.
func (d *Directory) second(e *Entry, from wire.PeerID) {
	if e.seconded || from == e.by && !d.isOf(from, e.tag) {
		return
	}
	e.seconded = true
	d.touch()
}

// isOf says whether a tag is a linked peer's own.
func (d *Directory) isOf(p wire.PeerID, tag uint64) bool {
	l := d.links[p]
	return l != nil && d.isTag(tag, l)
}

// Invented says whether there may be no such origin: nothing has come of it, and only one link tells of it.
func (d *Directory) Invented(e *Entry) bool {
	return (e.state == Pending || e.state == Named) && !e.seconded && len(d.links) >= d.cfg.Limits.Seconders
}
