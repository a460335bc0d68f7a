package directory

import (
	"cmp"
	"iter"
	"slices"
	"time"
)

// shedBases forgets bases, the longest kept first, until the goal, in bytes, is reached. It looks at each entry once,
// however many bases go.
func (d *Directory) shedBases(others iter.Seq[*Entry], goal int) {
	type kept struct {
		e     *Entry
		until time.Duration
	}
	var all []kept
	for e := range others {
		if e == nil {
			continue
		}
		for _, b := range e.bases {
			all = append(all, kept{e, b.until})
		}
	}
	slices.SortStableFunc(all, func(a, b kept) int { return cmp.Compare(a.until, b.until) })
	for _, k := range all {
		if d.Memory() <= goal {
			return
		}
		d.dropBase(k.e)
	}
}

// shedParts drops the last part of each prefix, least value a byte first, until the goal is reached. It returns false
// if there is nothing to drop.
func (d *Directory) shedParts(goal int) bool {
	type last struct {
		e     *Entry
		value float64
	}
	var all []last
	for _, e := range d.Others() {
		if e != nil && e.cur != nil && e.cur.Parts() > 1 {
			all = append(all, last{e, e.value(e.cur, e.cur.Parts()-1, e.cur.Parts())})
		}
	}
	slices.SortFunc(all, func(a, b last) int {
		return cmp.Or(cmp.Compare(a.value, b.value), cmp.Compare(a.e.index, b.e.index))
	})
	for _, l := range all {
		if d.Memory() <= goal {
			break
		}
		d.dropPart(l.e)
	}
	return len(all) > 0
}

func (d *Directory) dropPart(e *Entry) {
	e.limit, d.trimmed = uint16(e.cur.Parts()-1), true
	d.shrink(e, d.compacted(e.cur.Truncate(e.Limit())))
	d.touch()
}
