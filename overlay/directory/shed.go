package directory

import (
	"cmp"
	"iter"
	"slices"
	"time"

	"github.com/venn-p2p/venn/overlay/bound"
	"github.com/venn-p2p/venn/overlay/wire"
)

// worth is the value of an entry, or of its last part.
type worth struct {
	e      *Entry
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
	var all []worth
	for _, e := range d.Others() {
		if e != nil && e.cur != nil && e.cur.Parts() > 1 {
			all = append(all, worth{e: e, value: e.value(e.cur, e.cur.Parts()-1, e.cur.Parts())})
		}
	}
	slices.SortFunc(all, leastWorth)
	for _, w := range all {
		if d.Memory() <= goal {
			break
		}
		d.dropPart(w.e)
	}
	return len(all) > 0
}

func (d *Directory) dropPart(e *Entry) {
	e.limit, d.trimmed = uint16(e.cur.Parts()-1), true
	d.shrink(e, d.compacted(e.cur.Truncate(e.Limit())))
	d.touch()
}

// shedEntries forgets whole entries until the goal is reached.
func (d *Directory) shedEntries(goal int, keep func(wire.PeerID) bool) {
	var all []worth
	for _, e := range d.Others() {
		if e == nil || d.IsLinked(e.peer) || keep(e.peer) {
			continue
		}
		w := worth{e: e, value: -1}
		if e.answer() != nil {
			w.value, w.useful = e.Weight()/float64(1+e.dialFails), e.hits > 0
		}
		all = append(all, w)
	}
	slices.SortFunc(all, leastWorth)
	useful := 0
	// The useful peers of most weight keep their preference, as far as their share of the memory goes.
	for i := len(all) - 1; i >= 0 && all[i].useful; i-- {
		useful += d.entryMemory(all[i].e)
		all[i].useful = float64(useful) <= bound.Half*float64(d.cfg.Memory)
	}
	slices.SortFunc(all, leastWorth)
	for _, w := range all {
		if d.Memory() <= goal {
			return
		}
		d.lose(w.e)
	}
}

// entryMemory returns the bytes that an entry takes, with its part of the index and of the samples.
func (d *Directory) entryMemory(e *Entry) int {
	return e.memory() + entryMemory + e.signedBytes() + (d.index.Memory()+d.samples.SizeBytes())/len(d.byTag)
}
