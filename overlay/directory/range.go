package directory

import (
	"time"

	"github.com/venn-p2p/venn/overlay/group"
	"github.com/venn-p2p/venn/overlay/space"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// A directory that cannot hold everybody holds a range of places, and beside it those that are like us or proved
// useful: see [Keep]. Lines about origins outside of the range are not taken in.

// SetRange says which places are wanted. At first all are.
func (d *Directory) SetRange(r space.Range) {
	d.within = r
	d.touch()
}

// Range returns the places that are wanted.
func (d *Directory) Range() space.Range { return d.within }

// SetRoom says how many origins there is memory for, linked peers included. At first it is not known.
func (d *Directory) SetRoom(origins int) { d.fits = origins }

// Room is how many origins may be known, not counting linked peers: as many as memory is enough for, and
// [Config.MaxOrigins] at most.
func (d *Directory) Room() int { return min(d.cfg.MaxOrigins, max(1, d.fits-len(d.links))) }

// PlaceOf returns where the origin with a tag under the present seed stands. It is the same under every seed.
func (d *Directory) PlaceOf(tag uint64) space.Place {
	return space.Place(group.Rotate(tag, d.cfg.Seed, summary.SeedTag{Network: d.cfg.Seed.Network}))
}

// Place returns where an entry's origin stands.
func (d *Directory) Place(e *Entry) space.Place {
	if e.old && d.previous != nil {
		return space.Place(group.Rotate(e.tag, d.previous.tag, summary.SeedTag{Network: d.cfg.Seed.Network}))
	}
	return d.PlaceOf(e.tag)
}

// Old says whether the entry's summary is under the previous seed.
func (e *Entry) Old() bool { return e.old }

// refuse notes that a line was not taken in, because there was no room or because it is of no interest.
func (d *Directory) refuse(tag uint64, room bool) {
	d.refused = append(d.refused, d.PlaceOf(tag))
	if room {
		d.ignored++
		d.missed = true
	}
}

// Refused returns the places of the lines that were not taken in since the last call. It is valid until the next call
// of any method.
func (d *Directory) Refused() []space.Place {
	r := d.refused
	d.refused = d.refused[:0]
	return r
}

// Missed reports whether lines of the range were refused because there was no room, and there is room again. It says so
// once: then the links are to tell of all again.
func (d *Directory) Missed(now time.Duration) bool {
	if !d.missed || d.Short() || d.pendingFull() || 10*d.unlinked() > 9*d.Room() {
		return false
	}
	d.missed, d.regained = false, now+pendingFor
	return true
}

// Lost is the depth of the widest range around us of which no summary had to go for want of room. Those that went count
// until [Directory.Missed] has said that there is room, and for some time more. By then the links have told of those
// that there still are, and what is told of is pending.
func (d *Directory) Lost() int { return d.lost }

// regain forgets what was lost once it has been told again.
func (d *Directory) regain(now time.Duration) {
	if d.lost > 0 && !d.missed && now >= d.regained {
		d.lost = 0
		d.touch()
	}
}

// lose forgets an entry for which there is no room.
func (d *Directory) lose(e *Entry) {
	if place := d.Place(e); d.within.Contains(place) {
		d.missed = true
		if e.cur != nil {
			d.lost = max(d.lost, space.SharedBits(d.PlaceOf(d.Own().tag), place)+1)
		}
	}
	d.Remove(e.Index())
}

// unlinked is the number of entries that count, about: linked peers do not.
func (d *Directory) unlinked() int { return len(d.byTag) - d.owns - len(d.links) }

// Invite returns the entry of an origin that a peer vouches for, whatever its place. It makes one if there is memory
// for it, and returns nil if there is none: [Directory.KeepToRoom] weighs it against the others.
func (d *Directory) Invite(now time.Duration, from wire.PeerID, tag uint64) *Entry {
	if e := d.Tagged(tag); e != nil && e.state != Named {
		return e
	}
	if d.bans.has(now, tag) || d.pending >= MaxPending || d.pendingFull() || d.Short() {
		return nil
	}
	return d.await(now, from, tag)
}

// looseRoom: of a large room one part in this number more may be known, so that not every newcomer pays for a look at all
// entries.
const looseRoom = 256

// KeepToRoom forgets the entries for which there is no room, by the rule of [Keep]. keep says who stays in
// any case. It calls gone with each before it goes.
func (d *Directory) KeepToRoom(keep func(wire.PeerID) bool, gone func(*Entry)) {
	room := d.Room()
	if d.unlinked() <= room+room/looseRoom {
		return
	}
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
			Place: d.Place(e), Linked: d.links[e.peer] != nil || keep(e.peer),
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

// Judge has the overlap of an entry estimated by its sample now, if it is not yet.
func (d *Directory) Judge(e *Entry) {
	if own := d.ownUnder(e); e.judged <= 0 && e.cur != nil && own != nil {
		d.compareSample(own, e)
	}
}

// Meet takes in a signed record of a peer that another vouches for. The record was verified. It says whether it is
// news.
func (d *Directory) Meet(now time.Duration, from wire.PeerID, r wire.Record) bool {
	tag := group.Tag(d.cfg.Seed, string(r.Peer))
	e := d.Tagged(tag)
	r.Envelope = d.newest(e, r)
	if e == nil {
		e = d.nameNew(now, from, tag)
	}
	if e == nil || e.record != nil || e.peer != "" && e.peer != r.Peer || d.isOwn(e) || !d.joinGroup(now, e, r, false) {
		return false
	}
	before := e.signedBytes()
	e.peer, e.record = r.Peer, d.Keep(r.Envelope)
	d.countSigned(e, before)
	return true
}

// Average returns the mean bytes, in memory and on the wire, of an origin with at least a part held. It counts as if
// only the first part of its summary stays. More is dropped before an origin is. n is how many there are.
func (d *Directory) Average() (memory, wire float64, n int) {
	for _, e := range d.Others() {
		if e != nil && e.cur != nil {
			n++
			first := e.cur.Plan().EncodedBytes(1)
			memory += float64(entryMemory + e.signedBytes() + decoded*first)
			wire += float64(e.signedBytes() + first)
		}
	}
	return memory / float64(max(n, 1)), wire / float64(max(n, 1)), n
}

// decoded is how many bytes a byte of a summary takes in memory, about: decoded, with its place in the index.
const decoded = 4
