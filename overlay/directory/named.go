package directory

import (
	"slices"
	"time"

	"github.com/venn-p2p/venn/overlay/bound"
	"github.com/venn-p2p/venn/overlay/wire"
)

// Records in hellos tell a newcomer of peers to connect with. Anybody can make records of peers that do not exist, so
// entries known by a record alone wait in a queue that ages. The queue bounds the entries of each link, of all links,
// and their age.
const (
	maxNamed     = bound.Many
	maxNamedLink = bound.Few
)

// name returns the entry of an origin. If there is none, it makes one that is known by its record alone, or returns nil
// if there is no room. A linked peer's own entry needs no room, and is made as [Directory.Add] does.
func (d *Directory) name(now time.Duration, from wire.PeerID, tag uint64) *Entry {
	if e := d.Tagged(tag); e != nil {
		return e
	}
	if d.isOf(from, tag) {
		return d.Add(now, from, tag)
	}
	return d.nameNew(now, from, tag)
}

// nameNew makes an entry that is known by its record alone. It returns nil if there is no room.
func (d *Directory) nameNew(now time.Duration, from wire.PeerID, tag uint64) *Entry {
	if d.bans.has(now, tag) || d.unlinked() > 2*d.UnlinkedCapacity() || d.pendingFull() {
		d.ignored++
		return nil
	}
	d.makeNamedRoom(from)
	e := d.create(now, from, tag, Named)
	d.named = append(d.named, e.Index())
	d.due.By(dueExpiry, now+d.cfg.Limits.NamedFor)
	return e
}

// makeNamedRoom forgets the oldest named entry: the link's if it has named too many, else anybody's if the queue is
// full.
func (d *Directory) makeNamedRoom(from wire.PeerID) {
	theirs, oldest := 0, -1
	for _, i := range d.named {
		if d.entries[i].by == from {
			if theirs++; oldest < 0 {
				oldest = i
			}
		}
	}
	switch {
	case theirs >= d.cfg.Limits.NamedLink:
		d.Remove(oldest)
	case len(d.named) >= d.cfg.Limits.Named:
		d.Remove(d.named[0])
	}
}

// unname takes an entry out of the queue.
func (d *Directory) unname(e *Entry) {
	if at := slices.Index(d.named, e.Index()); at >= 0 {
		d.named = slices.Delete(d.named, at, at+1)
	}
}
