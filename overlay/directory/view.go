package directory

import (
	"slices"
	"time"

	"github.com/venn-p2p/venn/overlay/bound"
	"github.com/venn-p2p/venn/summary"
)

// Candidates returns the entries whose answering prefix contains a key, in the order of their indexes. f is the key's
// fingerprint under [Config.Seed]; the key itself is hashed again for summaries under [Config.Previous], if there may
// be any. The result is valid until the next call.
func (d *Directory) Candidates(key []byte, f summary.Fingerprint) []*Entry {
	var old summary.Fingerprint
	if d.previous != nil {
		old = d.previous.hasher.Fingerprint(key)
	}
	d.candidates = d.candidates[:0]
	if d.cfg.Cache != nil {
		d.loop(f, old)
		return d.candidates
	}
	d.found = d.index.Candidates(d.found[:0], f)
	if d.previous != nil {
		d.found = d.previous.index.Candidates(d.found, old)
		slices.Sort(d.found)
	}
	for _, i := range d.found {
		if e := d.entries[i]; !d.vague(e) {
			d.candidates = append(d.candidates, e)
		}
	}
	return d.candidates
}

// LookedAt is the most entries that are searched for summaries similar to one, or for its base. A search takes up to a
// few milliseconds.
const LookedAt = bound.Many

// VagueRate is the false-positive rate above which a prefix tells too little about a key to answer.
const VagueRate = bound.Half

// vague reports whether so few parts are held of an origin outside of our range that it is no candidate. Peers of its
// range know it better, and name it if it may have the key.
func (d *Directory) vague(e *Entry) bool {
	return d.within.Depth() > 0 && e.Rate() > VagueRate && !d.within.Contains(d.Place(e))
}

// loop finds the candidates for a key by asking every prefix; old is the key's fingerprint under the previous seed.
func (d *Directory) loop(f, old summary.Fingerprint) {
	for _, e := range d.Others() {
		if e == nil || e.cur == nil {
			continue
		}
		f := f
		if e.old {
			f = old
		}
		if e.cur.Contains(f) && !e.Covered() && !d.vague(e) {
			d.candidates = append(d.candidates, e)
		}
	}
}

// Ignored returns the number of items and records refused so far, because there was no room for origins that nobody
// vouches for.
func (d *Directory) Ignored() int { return d.ignored }

// FalseMatches returns the expected number of peers that match a key nobody holds: the sum of the false-positive rates
// of all peers known. A peer with no part held counts 1 if a summary was announced. Not counted are peers that no query
// asks: those known by their record alone, perhaps invented, refuted, or with too few parts held.
func (d *Directory) FalseMatches() float64 {
	if d.sigmaOf != d.Version() {
		d.sigma, d.sigmaOf = 0, d.Version()
		for _, e := range d.Others() {
			if e != nil && (e.cur != nil || e.state == Pending && d.exists(e)) && !e.Covered() && !e.Refuted() && !d.vague(e) {
				d.sigma += e.Rate()
			}
		}
	}
	return d.sigma
}

// Incomplete reports whether there are reachable peers of which no part is held. Peers that may be invented do not
// count.
func (d *Directory) Incomplete() bool {
	for _, e := range d.Others() {
		if e != nil && d.Missing(e) && !e.Covered() {
			return true
		}
	}
	return false
}

// Origins returns the number of peers of which at least a part is held.
func (d *Directory) Origins() int { return d.origins }

// LastLearned returns when the first part of a new origin last came.
func (d *Directory) LastLearned() time.Duration { return d.lastLearned }

// Pending returns the number of entries without a summary, including entries known by their record alone.
func (d *Directory) Pending() int { return d.pending + len(d.named) }

// Known returns the number of entries, our own left out.
func (d *Directory) Known() int {
	if d.Rotating() {
		return len(d.byTag) - 2
	}
	return len(d.byTag) - 1
}
