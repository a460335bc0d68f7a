package directory

import (
	"slices"
	"time"

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
	if d.cfg.Loop {
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

// vagueRate is the false-positive rate above which a summary says little about a key.
const vagueRate = 0.5

// vague says whether so little is held of an origin outside of the own range that it is no candidate. Those of its
// range know it better, and name it if it may have the key.
func (d *Directory) vague(e *Entry) bool {
	return d.within.Depth() > 0 && e.Rate() > vagueRate && !d.within.Contains(d.Place(e))
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

// Ignored returns how many lines of catalogues were not taken in so far, because there was no room for origins that
// nobody vouches for.
func (d *Directory) Ignored() int { return d.ignored }

// FalseMatches returns the expected number of peers that a query for a key nobody holds would match. It is the sum of
// the false-positive rates of all peers known. A peer with nothing held counts 1 if it is said to have published. Peers
// known by their record alone do not count, nor those that may be invented or do not hold what they claim. No query for
// all holders asks them. Origins with too little held to ask them do not count either.
func (d *Directory) FalseMatches() float64 {
	if d.sigma == unknownSigma {
		d.sigma = 0
		for _, e := range d.Others() {
			if e != nil && !e.state.gone() && e.state != Named && !e.Covered() && !d.Invented(e) && !e.Refuted() && !d.vague(e) {
				d.sigma += e.Rate()
			}
		}
	}
	return d.sigma
}

// Incomplete says whether there are peers, within reach, that nothing is held of. Those that may be invented do not
// count.
func (d *Directory) Incomplete() bool {
	for _, e := range d.Others() {
		if e != nil && (e.state == Pending || e.state == Named) && e.dialFails == 0 && !e.Covered() && !d.Invented(e) {
			return true
		}
	}
	return false
}

// Origins returns the number of peers that at least a part is held of.
func (d *Directory) Origins() int { return d.origins }

// LastLearned returns when a peer was last added to those that a part is held of.
func (d *Directory) LastLearned() time.Duration { return d.lastLearned }

// Len returns one more than the largest index that any entry had so far.
func (d *Directory) Len() int { return len(d.entries) }

// Pending returns the number of entries that no summary has come of, those known by their record alone included.
func (d *Directory) Pending() int { return d.pending + len(d.named) }

// Known returns the number of entries, our own left out.
func (d *Directory) Known() int {
	if d.Rotating() {
		return len(d.byTag) - 2
	}
	return len(d.byTag) - 1
}
