package directory

import (
	"slices"
	"time"

	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

const (
	// MaxDeltaKeys is the largest collection that deltas are made of or applied to.
	MaxDeltaKeys = 1 << 20
	maxBases     = 3 // of one entry
	keepBases    = 2 * time.Minute
)

// base is a prefix of an earlier epoch, kept for deltas.
type base struct {
	prefix *summary.Prefix
	until  time.Duration
}

// keepBase keeps p, which a prefix of a later epoch has replaced.
func (d *Directory) keepBase(now time.Duration, e *Entry, p *summary.Prefix) {
	if p == nil || p.Parts() == 0 || p.Plan().N > MaxDeltaKeys {
		return
	}
	e.bases = append(e.bases, base{p, now + keepBases})
	d.due.By(dueBases, now+keepBases)
	d.hold(e, prefixMemory(p))
	if len(e.bases) > maxBases {
		d.dropBase(e)
	}
}

// dropBase forgets the oldest base of an entry.
func (d *Directory) dropBase(e *Entry) {
	d.hold(e, -prefixMemory(e.bases[0].prefix))
	e.bases = slices.Delete(e.bases, 0, 1)
}

// hold counts memory of others' summaries; our own is not part of the directory's.
func (d *Directory) hold(e *Entry, bytes int) {
	if !d.isOwn(e) {
		d.held += bytes
	}
}

// expireBases forgets the bases that have been kept for long enough.
func (d *Directory) expireBases(now time.Duration) {
	if !d.due.Take(dueBases, now) {
		return
	}
	for _, e := range d.entries {
		for e != nil && len(e.bases) > 0 && now >= e.bases[0].until {
			d.dropBase(e)
		}
		if e != nil && len(e.bases) > 0 {
			d.due.By(dueBases, e.bases[0].until)
		}
	}
}

// bit returns the bit of epoch at in the bases of the later epoch ep; 0 if it has none.
func bit(at, ep summary.Epoch) wire.Bases {
	if at.Generation != ep.Generation || at.Sequence >= ep.Sequence {
		return 0
	}
	return wire.Bases(1) << (min(ep.Sequence-at.Sequence, 8) - 1) & wire.MaxBases
}

// BasesOf returns the epochs before ep with at least parts parts held.
func (e *Entry) BasesOf(ep summary.Epoch, parts int) wire.Bases {
	var all wire.Bases
	for p := range e.prefixes {
		if p.Parts() >= parts && p.Plan().N <= MaxDeltaKeys {
			all |= bit(p.Header().Epoch, ep)
		}
	}
	return all
}

// Base returns the latest held prefix of the epochs in mask, counted back from ep, with at least parts parts; nil if
// there is none.
func (e *Entry) Base(ep summary.Epoch, mask wire.Bases, parts int) *summary.Prefix {
	var best *summary.Prefix
	for p := range e.prefixes {
		at := p.Header().Epoch
		if mask&bit(at, ep) != 0 && p.Parts() >= parts && (best == nil || at.After(best.Header().Epoch)) {
			best = p
		}
	}
	return best
}

// Deepest returns the largest number of parts of an epoch before ep that a delta to ep can start from.
func (e *Entry) Deepest(ep summary.Epoch) int {
	most := 0
	for p := range e.prefixes {
		if e.BasesOf(ep, p.Parts()) != 0 {
			most = max(most, p.Parts())
		}
	}
	return most
}

// prefixes yields all prefixes held of an origin: the newest epoch, the answering one, then bases from the oldest.
func (e *Entry) prefixes(yield func(*summary.Prefix) bool) {
	if e.next != nil && !yield(e.next) || e.cur != nil && !yield(e.cur) {
		return
	}
	for _, b := range e.bases {
		if !yield(b.prefix) {
			return
		}
	}
}
