package directory

import (
	"slices"
	"time"

	"github.com/venn-p2p/venn/overlay/agenda"
	"github.com/venn-p2p/venn/overlay/bound"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// The directory keeps to [Config.Memory]. It counts the prefixes, the index over them, and for every entry its records
// and a constant. A prefix counts decoded. Its encoded parts count only if it grew lately or is large; others are
// encoded again on demand. Above the limit, the least valuable goes first:
//
//  1. bases, and the encoded parts of small prefixes;
//  2. last parts, least value a byte first, down to the sample; dropped parts are not asked for again while memory
//     is short;
//  3. whole entries, by the rule of [Keep]. Linked peers and neighbours stay.
//
// Whole entries seldom go this way: [Directory.KeepToRoom] keeps the number of origins that memory is enough for, by
// the same rule. So they go for entries that are unusually large or come all at once.
//
// Each time it frees 1/32 more than it needs, so that one scan of all entries serves many inputs.

// entryMemory is the number of bytes of an entry, without records and prefixes: its fields, its place in the tables and
// the index.
const entryMemory = 400

// slack returns the part of a memory that is freed beyond need, and that bans may take; or the part of a room for
// origins that may be used beyond it.
func slack(n int) int { return int(bound.Little * float64(n)) }

// OriginShare is the share of the memory for the first parts of origins. The rest is for further parts, and at most for
// pending entries and what is kept beside the directory. If it were 1, the first origins to come would stay, because
// there would be no memory to weigh others against them. Below this share, dropped parts may be asked for again.
const OriginShare = 0.75

// compactBytes is the largest size, in encoded bytes, of a prefix that loses its encoded parts: the parts fit into a
// message. To encode one again, for a newcomer, takes four milliseconds at most.
const compactBytes = wire.MaxBatch

// compact drops the encoded parts of small prefixes that have not grown for a while.
func (d *Directory) compact(now time.Duration) {
	if d.due.Take(dueCompact, now) {
		d.compactOlder(now, agenda.Lately)
	}
}

// compactOlder drops the encoded parts of small prefixes that have not grown within the given time.
func (d *Directory) compactOlder(now, within time.Duration) {
	for _, e := range d.Others() {
		switch {
		case e == nil || e.cur == nil:
		case now-e.touched < within:
			d.due.By(dueCompact, e.touched+within)
		default:
			d.shrink(e, d.compacted(e.cur))
		}
	}
}

// compacted returns a prefix in the form that is kept for long. With Config.Cache that is p itself: directories that
// share prefixes would need more memory for compact copies.
func (d *Directory) compacted(p *summary.Prefix) *summary.Prefix {
	if d.cfg.Cache != nil || p.EncodedBytes() > compactBytes {
		return p
	}
	return p.Compact()
}

// shrink replaces the answering prefix of an entry by a smaller one.
func (d *Directory) shrink(e *Entry, p *summary.Prefix) {
	if p == e.cur {
		return
	}
	d.held += prefixMemory(p) - prefixMemory(e.cur)
	e.cur = p
	d.setAnswer(e)
}

// prefixMemory returns the memory that a prefix takes: its decoded form and, unless it is compact, its parts as
// received.
func prefixMemory(p *summary.Prefix) int {
	if p == nil {
		return 0
	}
	return p.SizeBytes()
}

// memory returns the bytes that the prefixes of an entry take.
func (e *Entry) memory() int {
	n := 0
	for p := range e.prefixes {
		n += prefixMemory(p)
	}
	return n
}

// Beside sets the number of bytes that the caller keeps beside the directory. They count as the directory's.
func (d *Directory) Beside(bytes int) { d.beside = bytes }

// Memory returns the approximate number of bytes that the directory takes: entries, prefixes (parts and decoded form),
// index, bans, and what is kept beside.
func (d *Directory) Memory() int {
	n := d.beside + d.held + d.index.Memory() + d.samples.SizeBytes() + entryMemory*len(d.byTag) + d.signed + d.bans.memory()
	if d.previous != nil {
		n += d.previous.index.Memory() + d.previous.samples.SizeBytes()
	}
	return n
}

// EncodedBytes returns the encoded size of all that is held of other peers: parts, signed headers and records.
// O(entries).
func (d *Directory) EncodedBytes() int {
	n := d.signed
	for _, e := range d.Others() {
		if e == nil {
			continue
		}
		for p := range e.prefixes {
			n += p.EncodedBytes()
		}
	}
	return n
}

// pendingFull reports whether entries without a summary, bans, and what is kept beside the directory have used up what
// the first parts of origins leave of the memory.
func (d *Directory) pendingFull() bool {
	bytes := (d.pending+len(d.named))*entryMemory + d.bans.memory() + d.beside
	return float64(bytes) >= float64((1-OriginShare)*float64(d.cfg.Memory))
}

// restore lets dropped parts be asked for again once memory is no longer short.
func (d *Directory) restore() {
	if !d.trimmed || float64(d.Memory()) > OriginShare*float64(d.cfg.Memory) {
		return
	}
	d.trimmed = false
	for _, e := range d.Others() {
		if e != nil && e.limit > 0 {
			e.limit = 0
			d.change(Reopened, e)
		}
	}
}

// Shed frees memory until the directory takes no more than Config.Memory. Entries of linked peers stay, and entries of
// peers for which keep is true. It calls gone with each other entry before it goes.
func (d *Directory) Shed(now time.Duration, keep func(wire.PeerID) bool, gone func(*Entry)) {
	if d.Memory() <= d.cfg.Memory {
		return
	}
	d.shedBases(slices.Values(d.Others()), d.cfg.Memory)
	if d.Memory() > d.cfg.Memory {
		d.compactOlder(now, 0)
	}
	goal := d.cfg.Memory - slack(d.cfg.Memory)
	for d.Memory() > d.cfg.Memory && d.shedParts(goal) {
	}
	if d.Memory() <= d.cfg.Memory {
		return
	}
	for room := d.unlinked(); room > 0 && d.Memory() > goal; {
		room = min(room-1, room*goal/d.Memory())
		d.keepTo(room, keep, gone)
	}
}
