package directory

import (
	"slices"
	"time"

	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// The directory keeps to [Config.Memory]. It counts what it takes: the prefixes, the index over them, and for every
// entry its records and a constant. A prefix counts decoded. Its parts as received count only if it grew lately or is
// large, because others can be encoded again. When it is too much, what is worth least goes first:
//
//  1. bases, and what is encoded of small prefixes;
//  2. the last part of those prefixes whose last part is worth least a byte, down to the sample; parts dropped are not
//     asked for again while memory is short;
//  3. whole entries: those known by their record alone and those that are covered, then those of least weight (less for
//     each dial that failed). Linked peers and neighbours stay. Peers that have proved useful, by a confirmed hit, go
//     after all others, as long as they take no more than half of the memory: so no crowd of new identities displaces
//     them.
//
// Whole entries seldom go so: [Directory.KeepToRoom] keeps as many origins as memory is enough for, by the rule of
// [Keep]. What is above the others in size or comes at once is left to this.
//
// Each time it frees somewhat more than it needs, so that many inputs pay for a look at all entries. Of whole entries,
// which are quick, it frees a sixteenth. Each part costs a rewrite of an entry's place in the index, so it frees only
// as many as take a fraction of a second. Once entries had to go, no new ones are made until an eighth of the memory is
// free: those that went would only come back.
const (
	entryMemory  = 370 // bytes of an entry, without records and prefixes: its fields, its place in the tables
	usefulShare  = 0.5
	pendingShare = 0.25 // of the memory, for pending entries: more are not noted
	moreParts    = 256  // of parts, one byte in this number is freed beyond need
	moreEntries  = 16   // and of entries
	restoreBelow = 0.75 // of the memory: if less is taken, parts that were dropped may be asked for again
)

const (
	// compactAfter is how long a prefix keeps its encoded parts after it last grew: until then peers ask for them.
	compactAfter = 30 * time.Second
	// compactBytes is up to which size: encoding one again, for a newcomer, takes two milliseconds at most.
	compactBytes = 32 << 10
)

// compact drops the encoded parts of small prefixes that have not grown for a while.
func (d *Directory) compact(now time.Duration) {
	if d.due.Take(dueCompact, now) {
		d.compactOlder(now, compactAfter)
	}
}

// compactOlder drops the encoded parts of small prefixes that have not grown for a time.
func (d *Directory) compactOlder(now, than time.Duration) {
	for _, e := range d.Others() {
		switch {
		case e == nil || e.cur == nil:
		case now-e.touched < than:
			d.due.By(dueCompact, e.touched+than)
		default:
			d.shrink(e, d.compacted(e.cur))
		}
	}
}

// compacted is a prefix in the form in which it is kept for long. Where many directories share the prefixes a form of
// each one's own would take more.
func (d *Directory) compacted(p *summary.Prefix) *summary.Prefix {
	if d.cfg.Loop || p.EncodedBytes() > compactBytes {
		return p
	}
	return p.Compact()
}

// shrink puts a smaller prefix in the place of the one that answers for an entry.
func (d *Directory) shrink(e *Entry, p *summary.Prefix) {
	if p == e.cur {
		return
	}
	d.held += prefixMemory(p) - prefixMemory(e.cur)
	e.cur = p
	d.setAnswer(e)
}

// prefixMemory is what a prefix costs: its decoded form and, unless it is compact, the parts as received.
func prefixMemory(p *summary.Prefix) int {
	if p == nil {
		return 0
	}
	return p.SizeBytes()
}

// memory is what all that is held of an origin's summaries costs.
func (e *Entry) memory() int {
	n := 0
	for p := range e.prefixes {
		n += prefixMemory(p)
	}
	return n
}

// Beside has bytes that the caller keeps beside the directory count as the directory's, in place of those of the last
// call.
func (d *Directory) Beside(bytes int) { d.beside = bytes }

// Memory returns about how many bytes the directory takes: the entries, the prefixes (parts and decoded form), the
// index, and what is kept beside.
func (d *Directory) Memory() int {
	n := d.beside + d.held + d.index.Memory() + d.samples.SizeBytes() + entryMemory*len(d.byTag) + d.signed + d.bans.memory()
	if d.previous != nil {
		n += d.previous.index.Memory() + d.previous.samples.SizeBytes()
	}
	return n
}

// EncodedBytes is the size of all that is held of other peers in the form in which it came: parts, signed headers and
// records. It takes time in proportion to the entries.
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

// pendingFull says whether pending entries take their share of the memory.
func (d *Directory) pendingFull() bool {
	return float64(d.pending+len(d.named))*entryMemory >= pendingShare*float64(d.cfg.Memory)
}

// Short says whether memory is full of samples, or was until a moment ago.
func (d *Directory) Short() bool {
	d.crowded = d.crowded && d.Memory() > d.cfg.Memory/8*7
	return d.crowded
}

// restore lets parts be asked for again once memory is no longer short.
func (d *Directory) restore() {
	if !d.trimmed || float64(d.Memory()) > restoreBelow*float64(d.cfg.Memory) {
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

// Shed brings the directory within its memory. Entries of linked peers stay, and those of peers that keep says so of.
func (d *Directory) Shed(now time.Duration, keep func(wire.PeerID) bool) {
	if d.Memory() <= d.cfg.Memory {
		return
	}
	d.shedBases(slices.Values(d.Others()), d.cfg.Memory)
	if d.Memory() > d.cfg.Memory {
		d.compactOlder(now, 0)
	}
	for d.Memory() > d.cfg.Memory && d.shedParts(d.cfg.Memory-d.cfg.Memory/moreParts) {
	}
	if d.Memory() > d.cfg.Memory {
		d.shedEntries(d.cfg.Memory-d.cfg.Memory/moreEntries, keep)
		d.crowded = true
	}
}
