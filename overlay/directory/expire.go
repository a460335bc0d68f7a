package directory

import (
	"time"

	"github.com/venn-p2p/venn/overlay/agenda"
	"github.com/venn-p2p/venn/summary"
)

// Stale names an entry whose time is over. The owner removes it, unless Offerable is set and a link offers parts of it.
type Stale struct {
	Index     int
	Offerable bool
}

// Asked notes that an entry was asked for.
func (d *Directory) Asked(now time.Duration, i int) {
	if e := d.entries[i]; e.cur == nil {
		e.touched = now
	}
}

// expire forgets summaries past their lifetime, and returns the entries that may have to go. It remembers the epoch of
// an expired summary for one more lifetime: peers that received it later still hold it and would send it back.
func (d *Directory) expire(now time.Duration) (stale []Stale) {
	if !d.due.Take(dueExpiry, now) {
		return nil
	}
	for _, e := range d.Others() {
		if e == nil {
			continue
		}
		if d.IsLinked(e.peer) { // the entry expires only after the link has closed
			continue
		}
		switch {
		case e.cur != nil && now >= e.expires():
			d.outlive(now, e)
		case e.state == Expired && now >= e.forgotten:
			stale = append(stale, Stale{Index: e.Index()})
		case e.state == Named && now >= e.touched+d.cfg.Limits.NamedFor,
			e.state == Named && now >= e.touched+agenda.Lately && e.dialFails >= unreachableAfter:
			stale = append(stale, Stale{Index: e.Index()})
		case e.state.pending() && now >= e.touched+agenda.Lately:
			stale = append(stale, Stale{Index: e.Index(), Offerable: true})
		}
		d.due.By(dueExpiry, max(d.nextExpiry(e), now+agenda.Beat))
	}
	return stale
}

// outlive makes an entry Expired, and forgets its record and all prefixes held of it.
func (d *Directory) outlive(now time.Duration, e *Entry) {
	last, _ := e.Epoch()
	forgotten := now + e.Newest().Header().Lifetime
	e.past, e.forgotten = last, forgotten
	before := e.signedBytes()
	e.record = nil
	d.countSigned(e, before)
	d.settle(e, Expired)
	d.drop(e)
}

// expires returns the end of the lifetime of the newest prefix, counted from first receipt.
func (e *Entry) expires() time.Duration { return e.since + e.Newest().Header().Lifetime }

// nextExpiry returns the earliest time at which an entry may have to go.
func (d *Directory) nextExpiry(e *Entry) time.Duration {
	at := agenda.Never
	if e.cur != nil {
		at = e.expires()
	} else if e.past != (summary.Epoch{}) {
		at = e.forgotten
	}
	switch {
	case e.state == Named:
		at = e.touched + d.cfg.Limits.NamedFor
	case e.state.pending():
		at = min(at, e.touched+agenda.Lately)
	}
	return at
}
