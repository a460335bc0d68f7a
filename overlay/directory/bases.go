package directory

import (
	"slices"
	"time"

	"github.com/venn-p2p/venn/overlay/agenda"
	"github.com/venn-p2p/venn/summary"
)

const (
	// MaxDeltaKeys is the largest number of keys of a collection that deltas are made of or applied to.
	MaxDeltaKeys = 1 << 20
	maxBases     = 3 // most bases of one entry
	keepBases    = agenda.Seldom
)

// base is a prefix of an earlier epoch, kept for deltas.
type base struct {
	prefix *summary.Prefix
	until  time.Duration
}

// keepBase keeps a replaced prefix as a base of deltas, for keepBases, unless it is empty or its collection large.
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

// hold adds bytes to the memory of others' summaries. Our own summary does not count.
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

// Earlier returns the deepest prefix held of the epochs before ep, the latest of equally deep ones. It returns nil if
// deltas can be made from none of them.
func (e *Entry) Earlier(ep summary.Epoch) (deepest *summary.Prefix) {
	for p := range e.prefixes {
		at := p.Header().Epoch
		if !ep.After(at) || p.Parts() == 0 || p.Plan().N > MaxDeltaKeys {
			continue
		}
		if deepest == nil || p.Parts() > deepest.Parts() || p.Parts() == deepest.Parts() && at.After(deepest.Header().Epoch) {
			deepest = p
		}
	}
	return deepest
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
