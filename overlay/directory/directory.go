package directory

import (
	"math"
	"time"

	"github.com/venn-p2p/venn/overlay/agenda"
	"github.com/venn-p2p/venn/overlay/bound"
	"github.com/venn-p2p/venn/overlay/compare"
	"github.com/venn-p2p/venn/overlay/index"
	"github.com/venn-p2p/venn/overlay/space"
	"github.com/venn-p2p/venn/overlay/wire"
)

// Directory is the machine. Make one with [New]; the zero value is not usable. It is not safe for concurrent use.
type Directory struct {
	cfg     Config
	entries []*Entry // by index; nil: free. The first are our own: 0, and 1 under the previous seed if there is one
	owns    int      // number of our own entries
	byTag   map[uint64]*Entry
	free    []int
	links   []*Link // in the order of their peers
	opened  uint32  // links opened so far
	changes []Change

	pending int            // entries without a summary yet
	origins int            // peers with at least a sample held
	held    int            // bytes of the prefixes of other peers
	signed  int            // bytes of the records and envelopes of other peers
	beside  int            // bytes that the caller keeps beside the directory
	groups  map[string]int // entries of each address group; see Config.Group
	ignored int            // items and records refused because there was no room
	named   []int          // entries known by their record alone, the oldest first
	bans    bans

	within  space.Range   // the places that are wanted
	fits    int           // origins that fit into memory
	refused []space.Place // places of items refused since [Directory.Refused] was last called
	missed  bool          // origins of the range were refused or lost because there was no room
	lost    int           // see Lost; 0: nothing was lost

	regained time.Duration // the time by which links have announced again the lost origins that still exist

	index    index.Index     // finds the entries that may hold a key; empty with Config.Cache
	samples  compare.Samples // compares our collection with each entry's sample
	previous *rotation       // tables of the previous seed; nil: there is none

	trimmed bool // parts were dropped, and are not asked for again

	due         agenda.Agenda
	version     uint64        // see Version
	sigma       float64       // last result of FalseMatches
	sigmaOf     uint64        // version that it is of
	estimate    bool          // there may be overlap to estimate
	lastLearned time.Duration // when a new origin was last learned

	found      []int // memory that each query uses again
	candidates []*Entry
}

// The tasks that are done only when due.
const (
	dueExpiry  = iota // a summary expires, or a pending entry goes
	dueCompact        // a prefix becomes compact
	dueBases          // a base has been kept for long enough
	dueFade           // answers count less
	dueTasks          // number of tasks
)

// New returns a directory without other peers.
func New(cfg Config) *Directory {
	cfg.Limits.defaults(cfg.Memory)
	own := &Entry{tag: wire.Tag(cfg.Seed, string(cfg.Self)), peer: cfg.Self}
	d := &Directory{
		cfg: cfg, bans: newBans(cfg.Limits), entries: []*Entry{own}, owns: 1, byTag: map[uint64]*Entry{},
		groups: map[string]int{}, due: agenda.New(dueTasks), fits: math.MaxInt,
	}
	d.byTag[own.tag] = own
	d.startRotation()
	return d
}

// Version returns a number, never 0, that changes with the set of entries, with what is held of them, and with which
// peers can be dialled. While the number stays, a caller need not read all entries again.
func (d *Directory) Version() uint64 { return d.version + 1 }

// touch changes the version. It is also called when a peer's claims begin or cease to be believed.
func (d *Directory) touch() { d.version++ }

const (
	// MaxPending caps the pending entries, and MaxPendingLink the pending entries that one link named first.
	MaxPending     = bound.Most
	MaxPendingLink = wire.MaxItems
	// unreachableAfter is the number of failed dials after which a peer known by its record alone is forgotten.
	unreachableAfter = bound.Handful
)

// Add returns the entry of an origin that a linked peer announced. It makes one if the origin is in the range and there
// is room for another pending entry; otherwise it returns nil. A linked peer's own entry needs no room.
func (d *Directory) Add(now time.Duration, from wire.PeerID, tag uint64) *Entry {
	e := d.Tagged(tag)
	if e != nil && e.state != Named {
		d.second(e, from)
		return e
	}
	l := d.Link(from)
	if l == nil || d.bans.has(now, tag) {
		return nil
	}
	if !d.isTag(tag, l) && !d.within.Contains(d.PlaceOf(tag)) {
		d.refuse(tag, false)
		return nil
	}
	if !d.mayAdd(l, tag) {
		d.refuse(tag, true)
		return nil
	}
	return d.await(now, from, tag)
}

// await makes an entry pending: a new one, or one that was Named.
func (d *Directory) await(now time.Duration, from wire.PeerID, tag uint64) *Entry {
	e := d.Tagged(tag)
	if e == nil {
		e = d.create(now, from, tag, Pending)
	} else {
		d.second(e, from)
		d.unname(e)
		e.state, e.touched = Pending, now
		d.nameFirst(e, from)
		d.touch()
	}
	d.pending++
	if l := d.Link(from); l != nil {
		l.brought++
	}
	d.due.By(dueExpiry, now+agenda.Lately)
	return e
}

// mayAdd reports whether there is room for another pending entry announced by a link. The linked peer's own entry
// always has room.
func (d *Directory) mayAdd(l *Link, tag uint64) bool {
	if d.isTag(tag, l) {
		return true
	}
	room := d.unlinked() <= 2*d.UnlinkedCapacity()
	return d.pending < MaxPending && l.brought < MaxPendingLink && room && !d.pendingFull()
}

// create makes an entry without a summary.
func (d *Directory) create(now time.Duration, from wire.PeerID, tag uint64, s State) *Entry {
	e := &Entry{index: d.freeIndex(), tag: tag, state: s, touched: now}
	d.nameFirst(e, from)
	e.seconded = d.isOf(from, tag)
	d.entries[e.index] = e
	d.byTag[tag] = e
	d.pairUp(e)
	d.touch()
	d.change(Added, e)
	return e
}

func (d *Directory) freeIndex() int32 {
	if n := len(d.free); n > 0 {
		i := d.free[n-1]
		d.free = d.free[:n-1]
		return int32(i)
	}
	d.entries = append(d.entries, nil)
	return int32(len(d.entries) - 1)
}

// nameFirst notes the link that named an entry first; "" for none.
func (d *Directory) nameFirst(e *Entry, by wire.PeerID) {
	e.by, e.session = by, 0
	if l := d.Link(by); l != nil {
		e.session = l.session
	}
}

// broughtBy returns the link that named an entry first; nil if that session has ended, or there was no link.
func (d *Directory) broughtBy(e *Entry) *Link {
	if l := d.Link(e.by); l != nil && l.session == e.session {
		return l
	}
	return nil
}

// settle moves an entry to a state that is not pending. The entry leaves the queue of names and the counts of pending
// entries, and no link counts as having named it first.
func (d *Directory) settle(e *Entry, s State) {
	if e.state == Named {
		d.unname(e)
	}
	if e.state.pending() {
		d.pending--
		if l := d.broughtBy(e); l != nil {
			l.brought--
		}
	}
	e.state = s
	d.nameFirst(e, "")
}

// drop forgets all prefixes held of an origin.
func (d *Directory) drop(e *Entry) {
	if e.cur != nil && e.standsAlone() {
		d.origins--
	}
	d.change(Withdrawn, e)
	d.touch()
	d.held -= e.memory()
	e.cur = nil
	d.endReplacement(e)
	e.bases = nil
	d.setAnswer(e)
	d.tellSibling(e)
}

// Remove forgets an entry.
func (d *Directory) Remove(i int) {
	e := d.entries[i]
	d.settle(e, Empty)
	d.drop(e)
	d.signed -= e.signedBytes()
	d.leaveGroup(e)
	delete(d.byTag, e.tag)
	d.part(e)
	d.entries[i] = nil
	d.free = append(d.free, i)
	d.change(Removed, e)
}

// Entry returns the entry at an index, nil if there is none.
func (d *Directory) Entry(i int) *Entry { return d.entries[i] }

// Tagged returns the entry of an origin tag, nil if there is none.
func (d *Directory) Tagged(tag uint64) *Entry { return d.byTag[tag] }

// Own returns the entry of our own summary under the present seed.
func (d *Directory) Own() *Entry { return d.entries[0] }

// Owned returns our own entries, by index.
func (d *Directory) Owned() []*Entry { return d.entries[:d.owns] }

// Foreign returns the entry of an origin tag if it is another peer's, nil if there is none.
func (d *Directory) Foreign(tag uint64) *Entry {
	e := d.Tagged(tag)
	if e == nil || d.isOwn(e) {
		return nil
	}
	return e
}

// Owns returns the number of our own entries. Their indexes are 0 to Owns()-1.
func (d *Directory) Owns() int { return d.owns }

// Others returns the entries of other peers by index, from [Directory.Owns] on; some are nil. The slice is the
// directory's.
func (d *Directory) Others() []*Entry { return d.entries[d.owns:] }

func (d *Directory) isOwn(e *Entry) bool { return e.Index() < d.owns }

// Lookup returns the entry that stands for a peer; nil if there is none.
func (d *Directory) Lookup(p wire.PeerID) *Entry {
	tag := uint64(0)
	if l := d.Link(p); l != nil {
		tag = l.tag
	} else {
		tag = wire.Tag(d.cfg.Seed, string(p))
	}
	e := d.entryOf(tag, p)
	if d.previous != nil && (e == nil || e.cur == nil) {
		if old := d.entryOf(wire.RotateTag(tag, d.cfg.Seed, d.previous.tag), p); old != nil && (e == nil || old.cur != nil) {
			e = old
		}
	}
	return e
}

// entryOf returns the entry of a tag if it is known to be p's; nil otherwise.
func (d *Directory) entryOf(tag uint64, p wire.PeerID) *Entry {
	e := d.Tagged(tag)
	if e == nil || e.peer != p {
		return nil
	}
	return e
}

// Step does what is due by the time now; the owner calls it about once a second. It returns the entries that may have
// to go.
func (d *Directory) Step(now time.Duration) []Stale {
	d.endRotation(now)
	return d.expire(now)
}

// Tidy does the rest of what is due, after the stale entries have gone.
func (d *Directory) Tidy(now time.Duration) {
	d.restore()
	d.regain(now)
	d.compact(now)
	d.expireBases(now)
	d.fadeAnswers(now)
}
