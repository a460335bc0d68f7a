package directory

import (
	"cmp"
	"slices"

	"github.com/venn-p2p/venn/overlay/event"
)

// worth is what an entry, or its last part, is worth.
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

// shedBase forgets the base that has been kept for longest; false when there is none.
func (d *Directory) shedBase() bool {
	var oldest *Entry
	for _, e := range d.Others() {
		if e != nil && len(e.bases) > 0 && (oldest == nil || e.bases[0].until < oldest.bases[0].until) {
			oldest = e
		}
	}
	if oldest == nil {
		return false
	}
	d.dropBase(oldest)
	return true
}

// shedParts drops the last part of each prefix, least value a byte first, until the goal is reached; false when there
// is nothing to drop.
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
	e.limit, d.trimmed = e.cur.Parts()-1, true
	d.shrink(e, d.compacted(e.cur.Truncate(e.limit)))
	d.sigma = unknownSigma
}

// shedEntries forgets whole entries until the goal is reached.
func (d *Directory) shedEntries(goal int, keep func(event.PeerID) bool) {
	var all []worth
	useful := 0
	for _, e := range d.Others() {
		if e == nil || d.links[e.peer] != nil || keep(e.peer) || e.state == Banned {
			continue
		}
		w := worth{e: e, value: -1}
		if e.answer() != nil {
			w.value, w.useful = e.Weight()/float64(1+e.dialFails), e.hits > 0
		}
		if w.useful {
			useful += d.entryMemory(e)
			w.useful = float64(useful) <= usefulShare*float64(d.cfg.Memory)
		}
		all = append(all, w)
	}
	slices.SortFunc(all, leastWorth)
	for _, w := range all {
		if d.Memory() <= goal {
			return
		}
		d.Remove(w.e.index)
	}
}

func (d *Directory) entryMemory(e *Entry) int { return e.memory() + entryMemory + e.recordBytes() }
