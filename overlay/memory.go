package overlay

import (
	"cmp"
	"slices"
	"time"

	"github.com/venn-p2p/venn/summary"
)

// The directory keeps to [Config.Memory]. What it takes is counted: the prefixes (the decoded form; the parts as received only
// of those that grew of late, or are large, for they can be encoded anew), the index over them, and for every entry its
// records and a constant. When it is too much, what is worth least goes first:
//
//  1. earlier epochs, which only serve deltas, and what is encoded of small prefixes;
//  2. the last part of those prefixes whose last part is worth least a byte (the planner's value), down to the sample;
//     parts dropped are not asked for again while memory is short;
//  3. whole entries: those known by their record alone and those that another covers (see rotation), then those of least
//     weight (less for each dial that failed). Linked peers and neighbours stay. Peers that have proved useful, by a
//     confirmed hit, go after all others, as long as they take no more than half of the memory: so that no crowd of new
//     identities displaces them.
//
// Each time somewhat more is freed than is needed, so that a look at all entries is paid for by many inputs: of whole entries
// a sixteenth, for that is quick; of parts, each of which is an entry's place in the index written anew, only as much as takes a
// fraction of a second. Once entries had to go no new ones are made until an eighth of the memory is free: those that went
// would only come back, and those known are a sample of all.
const (
	entryMemory  = 900 // bytes of an entry, without records and prefixes: its fields, its place in the maps, some trades
	usefulShare  = 0.5
	pendingShare = 0.25 // of the memory, for origins that are only announced: more are not noted
	moreParts    = 256  // one in so many bytes is freed beyond need, of parts
	moreEntries  = 16   // and of entries
	restoreBelow = 0.75 // of the memory: less is taken, and parts may be asked for again that were dropped
)

const (
	// compactAfter is how long a prefix must not have grown to be kept without its encoded parts: until then peers ask for them.
	compactAfter = 30 * time.Second
	// compactBytes is up to which size: encoding one anew, for a newcomer, takes a millisecond at most.
	compactBytes = 16 << 10
)

// compact drops the encoded parts of small prefixes that have not grown for a while.
func (o *Overlay) compact(now time.Duration) {
	if now >= o.compactAt {
		o.compactAt = forever
		o.compactOlder(compactAfter)
	}
}

// compactOlder drops the encoded parts of small prefixes that have not grown for a time.
func (o *Overlay) compactOlder(than time.Duration) {
	for _, e := range o.others() {
		switch {
		case e == nil || e.cur == nil:
		case o.now-e.grown < than:
			o.compactAt = min(o.compactAt, e.grown+than)
		default:
			o.shrink(e, o.compacted(e.cur))
		}
	}
}

// compacted is a prefix in the form in which it is kept for long. Where many overlays share the prefixes a form of each
// one's own would take more.
func (o *Overlay) compacted(p *summary.Prefix) *summary.Prefix {
	if o.cfg.Loop || p.EncodedBytes() > compactBytes {
		return p
	}
	return p.Compact()
}

// shrink puts a smaller prefix in the place of the one that answers for an entry.
func (o *Overlay) shrink(e *entry, p *summary.Prefix) {
	if p == e.cur {
		return
	}
	o.held += prefixMemory(p) - prefixMemory(e.cur)
	e.cur = p
	o.setAnswer(e)
}

// prefixMemory is what a prefix costs: its decoded form and, unless it is compact, the parts as received.
func prefixMemory(p *summary.Prefix) int {
	if p == nil {
		return 0
	}
	return p.SizeBytes()
}

// memory is what all that is held of an origin's summaries costs.
func (e *entry) memory() int {
	n := 0
	for p := range e.prefixes {
		n += prefixMemory(p)
	}
	return n
}

// used is what the directory takes.
func (o *Overlay) used() int {
	n := o.held + o.index.Memory() + o.overlap.SizeBytes() + entryMemory*len(o.byTag) + o.records
	if o.previous != nil {
		n += o.previous.index.Memory() + o.previous.overlap.SizeBytes()
	}
	return n
}

// pendingFull says whether origins of which nothing is held yet take their share of the memory.
func (o *Overlay) pendingFull() bool {
	return float64(o.pending)*entryMemory >= pendingShare*float64(o.cfg.Memory)
}

// shed brings the directory within its memory.
func (o *Overlay) shed() {
	if o.used() <= o.cfg.Memory {
		return
	}
	for o.used() > o.cfg.Memory && o.shedBase() {
	}
	if o.used() > o.cfg.Memory {
		o.compactOlder(0)
	}
	for o.used() > o.cfg.Memory && o.shedParts(o.cfg.Memory-o.cfg.Memory/moreParts) {
	}
	if o.used() > o.cfg.Memory {
		o.shedEntries(o.cfg.Memory - o.cfg.Memory/moreEntries)
		o.crowded = true
	}
}

// worth is what an entry, or its last part, is worth.
type worth struct {
	e      *entry
	useful bool
	value  float64
}

func leastWorth(a, b worth) int {
	switch {
	case a.useful != b.useful && b.useful:
		return -1
	case a.useful != b.useful:
		return 1
	}
	return cmp.Or(cmp.Compare(a.value, b.value), cmp.Compare(a.e.index, b.e.index))
}

// shedParts drops the last part of each prefix, least value a byte first, until the goal is reached; false when there
// is nothing to drop.
func (o *Overlay) shedParts(goal int) bool {
	var all []worth
	for _, e := range o.others() {
		if e != nil && e.cur != nil && e.cur.Parts() > 1 {
			all = append(all, worth{e: e, value: o.value(e, e.cur, e.cur.Parts()-1, e.cur.Parts())})
		}
	}
	slices.SortFunc(all, leastWorth)
	for _, w := range all {
		if o.used() <= goal {
			break
		}
		o.dropPart(w.e)
	}
	return len(all) > 0
}

func (o *Overlay) dropPart(e *entry) {
	e.depth, o.trimmed = e.cur.Parts()-1, true
	o.shrink(e, o.compacted(e.cur.Truncate(e.depth)))
	o.sigma = unknownSigma
}

// shedEntries forgets whole entries until the goal is reached.
func (o *Overlay) shedEntries(goal int) {
	var all []worth
	useful := 0
	for _, e := range o.others() {
		if e == nil || o.links[e.peer] != nil || o.neighbours[e.peer] != nil || e.banned {
			continue
		}
		w := worth{e: e, value: -1}
		if e.cur != nil && !o.covered(e) {
			w.value, w.useful = o.weight(e)/float64(1+e.dialFails), e.hits > 0
		}
		if w.useful {
			useful += o.entryMemory(e)
			w.useful = float64(useful) <= usefulShare*float64(o.cfg.Memory)
		}
		all = append(all, w)
	}
	slices.SortFunc(all, leastWorth)
	for _, w := range all {
		if o.used() <= goal {
			return
		}
		o.remove(w.e)
	}
}

func (o *Overlay) entryMemory(e *entry) int { return e.memory() + entryMemory + e.recordBytes() }

// recordBytes is the size of what is signed about an entry.
func (e *entry) recordBytes() int {
	return len(e.record.Envelope) + len(e.envelope) + len(e.oldEnvelope)
}

// countRecords counts what is signed about all entries; it is called when some of it has changed.
func (o *Overlay) countRecords(e *entry, before int) {
	if !o.isOwn(e) {
		o.records += e.recordBytes() - before
	}
}

// restore lets parts be asked for again once memory is no longer short.
func (o *Overlay) restore() {
	if !o.trimmed || float64(o.used()) > restoreBelow*float64(o.cfg.Memory) {
		return
	}
	o.trimmed = false
	for _, e := range o.others() {
		if e != nil && e.depth > 0 {
			e.depth, e.quiet, o.planAt = 0, 0, 0
		}
	}
}
