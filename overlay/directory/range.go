package directory

import (
	"time"

	"github.com/venn-p2p/venn/overlay/agenda"
	"github.com/venn-p2p/venn/overlay/space"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// A directory that cannot hold everybody holds a range of places, and beside it peers that are similar or useful: see
// [Keep]. It refuses items of catalogues about origins outside of the range.

// SetRange sets the range of wanted places. At first all are wanted.
func (d *Directory) SetRange(r space.Range) {
	d.within = r
	d.touch()
}

// Range returns the range of wanted places.
func (d *Directory) Range() space.Range { return d.within }

// SetRoom sets the number of origins that fit into memory, linked peers included. At first it is unlimited.
func (d *Directory) SetRoom(origins int) { d.fits = origins }

// UnlinkedCapacity returns the number of unlinked origins that may be known: as many as memory is enough for, and
// [Config.MaxOrigins] at most.
func (d *Directory) UnlinkedCapacity() int { return min(d.cfg.MaxOrigins, max(1, d.fits-len(d.links))) }

// PlaceOf returns the place of the origin with a tag under the present seed. A place is the same under every seed.
func (d *Directory) PlaceOf(tag uint64) space.Place {
	return space.Place(wire.RotateTag(tag, d.cfg.Seed, summary.SeedTag{Network: d.cfg.Seed.Network}))
}

// Place returns the place of an entry's origin.
func (d *Directory) Place(e *Entry) space.Place {
	if e.old && d.previous != nil {
		return space.Place(wire.RotateTag(e.tag, d.previous.tag, summary.SeedTag{Network: d.cfg.Seed.Network}))
	}
	return d.PlaceOf(e.tag)
}

// Old reports whether the entry's summary is under the previous seed.
func (e *Entry) Old() bool { return e.old }

// refuse notes a refused item. If room is set, there was no room for it, else its origin is outside of the range.
func (d *Directory) refuse(tag uint64, room bool) {
	d.refused = append(d.refused, d.PlaceOf(tag))
	if room {
		d.ignored++
		d.missed = true
	}
}

// Refused returns the places of origins refused since the last call. It is valid until the next call of any method.
func (d *Directory) Refused() []space.Place {
	r := d.refused
	d.refused = d.refused[:0]
	return r
}

// Missed reports whether origins of the range were refused or lost for want of room, and there is room again. It
// returns true once; then the links are to announce everything again.
func (d *Directory) Missed(now time.Duration) bool {
	if !d.missed || d.pendingFull() || d.fits <= len(d.links) || 10*d.unlinked() > 9*d.UnlinkedCapacity() {
		return false
	}
	d.missed, d.regained = false, now+agenda.Lately
	return true
}

// Lost returns the depth of the widest range around us of which no summary had to go for want of room. Lost summaries
// count until [Directory.Missed] has reported room, and half a minute longer. By then the links have announced again what
// there is, as pending entries.
func (d *Directory) Lost() int { return d.lost }

// regain resets the lost depth once the links have announced everything again.
func (d *Directory) regain(now time.Duration) {
	if d.lost > 0 && !d.missed && now >= d.regained {
		d.lost = 0
		d.touch()
	}
}

// lose forgets an entry for want of room.
func (d *Directory) lose(e *Entry) {
	if place := d.Place(e); d.within.Contains(place) {
		d.missed = true
		if e.cur != nil {
			d.lost = max(d.lost, space.SharedBits(d.PlaceOf(d.Own().tag), place)+1)
		}
	}
	d.Remove(e.Index())
}

// unlinked returns the approximate number of entries that count against the room: linked peers do not.
func (d *Directory) unlinked() int { return len(d.byTag) - d.owns - len(d.links) }

// Invite returns the entry of an origin that a peer vouches for, whatever its place. It makes one if there is memory,
// else it returns nil. [Directory.KeepToRoom] later weighs it against the others.
func (d *Directory) Invite(now time.Duration, from wire.PeerID, tag uint64) *Entry {
	if e := d.Tagged(tag); e != nil && e.state != Named {
		return e
	}
	if d.bans.has(now, tag) || d.pending >= MaxPending || d.pendingFull() {
		return nil
	}
	return d.await(now, from, tag)
}

// KeepToRoom forgets the entries for which there is no room, by the rule of [Keep]. A peer for which keep is true
// stays. It calls gone with each entry before it goes.
func (d *Directory) KeepToRoom(keep func(wire.PeerID) bool, gone func(*Entry)) {
	if room := d.UnlinkedCapacity(); d.unlinked() > room+slack(room) {
		d.keepTo(room, keep, gone)
	}
}

// keepTo forgets all but room entries of peers without a link, by the rule of [Keep].
func (d *Directory) keepTo(room int, keep func(wire.PeerID) bool, gone func(*Entry)) {
	others := d.Others()
	all, entries := make([]Candidate, 0, len(others)), make([]*Entry, 0, len(others))
	own := d.Own().cur
	for _, e := range others {
		if e == nil {
			continue
		}
		if e.judged <= 0 && e.cur != nil && own != nil && !e.old {
			d.compareSample(own, e)
		}
		c := Candidate{
			Place: d.Place(e), Linked: d.IsLinked(e.peer) || keep(e.peer),
			Hits: int(e.hits),
		}
		if e.cur != nil && !e.Refuted() {
			c.Overlap = float64(e.overlap.value)
		}
		all, entries = append(all, c), append(entries, e)
	}
	for i, stays := range Keep(d.within, d.PlaceOf(d.Own().tag), room, all) {
		if stays {
			continue
		}
		gone(entries[i])
		d.lose(entries[i])
	}
}

// Judge estimates the overlap of an entry from its sample, unless there is an estimate.
func (d *Directory) Judge(e *Entry) {
	if own := d.ownUnder(e); e.judged <= 0 && e.cur != nil && own != nil {
		d.compareSample(own, e)
	}
}

// Average returns the mean bytes, in memory and on the wire, of the n origins with at least a part held. It counts only
// the first part of each summary, because all others are dropped before an origin is.
func (d *Directory) Average() (memory, wire float64, n int) {
	for _, e := range d.Others() {
		if e != nil && e.cur != nil {
			n++
			m, w := FirstBytes(e.signedBytes(), e.cur.Plan().EncodedBytes(1))
			memory, wire = memory+m, wire+w
		}
	}
	return memory / float64(max(n, 1)), wire / float64(max(n, 1)), n
}

// FirstBytes returns the bytes, in memory and on the wire, of an origin whose signed header, record and first part have
// the given sizes. A prefix takes entryMemory beside its parts, as an entry does.
func FirstBytes(signed, first int) (memory, wire float64) {
	return float64(2*entryMemory + signed + decoded*first), float64(signed + first)
}

// decoded is the approximate number of bytes in memory, index included, that an encoded byte of a summary takes.
const decoded = 4
