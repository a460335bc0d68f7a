package directory

import (
	"slices"
	"time"

	"github.com/venn-p2p/venn/overlay/agenda"
	"github.com/venn-p2p/venn/summary"
	"github.com/venn-p2p/venn/summary/estimate"
)

// Estimate estimates the part of our collection that each peer holds: first of every peer, from its sample. Then it
// estimates the overlaps of peers without a sample, and then the largest overlaps again, from all parts held: one a
// call. It reports whether any estimate changed.
func (d *Directory) Estimate() (changed bool) {
	if d.Own().cur == nil || !d.estimate {
		return false
	}
	d.estimate = false
	best := make([]*Entry, 0, d.cfg.Compared) // entries with an estimate, the largest overlap first
	for _, e := range d.Others() {
		if e == nil || e.cur == nil || e.cur.Parts() == 0 || e.Covered() {
			continue
		}
		own := d.ownUnder(e)
		switch {
		case own == nil:
		case e.judged > 0:
			best = insertBest(best, e)
		case d.compareSample(own, e):
			changed = true
			best = insertBest(best, e)
		case !d.estimate:
			changed = d.estimateOverlap(own, e) || changed
			d.estimate = true
		}
	}
	for _, e := range best {
		if !d.estimate && e.cur.Parts() >= 2*int(e.judged) {
			changed = d.estimateOverlap(d.ownUnder(e), e) || changed
			d.estimate = true
		}
	}
	return changed
}

// insertBest inserts an entry into the list of largest overlaps, up to the list's capacity. Among equals the first
// stays first.
func insertBest(best []*Entry, e *Entry) []*Entry {
	at := len(best)
	for at > 0 && best[at-1].overlap.value < e.overlap.value {
		at--
	}
	switch {
	case at == cap(best):
		return best
	case len(best) == cap(best):
		best = best[:len(best)-1]
	}
	return slices.Insert(best, at, e)
}

// compareSample sets an entry's overlap from its sample alone. It returns false if there is no sample to compare.
func (d *Directory) compareSample(own *summary.Prefix, e *Entry) bool {
	_, samples := d.tables(e)
	common, ok := samples.Common(e.Index(), Confidence)
	if ok {
		e.setOverlap(own, common, 1)
	}
	return ok
}

// estimateOverlap sets an entry's overlap from the AND-merge of both summaries; false if they cannot be merged.
func (d *Directory) estimateOverlap(own *summary.Prefix, e *Entry) bool {
	ov, err := summary.EstimateOverlap(own, e.cur, Confidence)
	if err == nil {
		e.setOverlap(own, ov.Intersection, e.cur.Parts())
	}
	e.judged = uint16(e.cur.Parts())
	return err == nil
}

func (e *Entry) setOverlap(own *summary.Prefix, i estimate.Interval, parts int) {
	e.judged, e.overlap = uint16(parts), bounds{}
	if n := float64(own.Plan().N); n > 0 {
		part := func(keys float64) float32 { return float32(min(1, keys/n)) }
		e.overlap = bounds{part(i.Value), part(i.Low), part(i.High)}
	}
}

// outdateOverlap has the overlap estimated again after a new epoch of either side, but at most once a minute.
func (e *Entry) outdateOverlap(now time.Duration) {
	if now >= e.overlapUntil {
		e.judged, e.overlapUntil = 0, now+agenda.Seldom
	}
}

// SureMatches reports whether a key of ours that matches the entry's summary is held by the peer with probability
// SureMatch or more, if the estimated overlap is true.
func (e *Entry) SureMatches() bool {
	if e.cur == nil || e.judged == 0 {
		return false
	}
	held := float64(e.overlap.value)
	return held > 0 && held >= SureMatch*(held+float64((1-held)*e.Rate()))
}
