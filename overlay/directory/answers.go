package directory

import (
	"time"

	"github.com/venn-p2p/venn/overlay/agenda"
	"github.com/venn-p2p/venn/overlay/bound"
	"github.com/venn-p2p/venn/overlay/rank"
	"github.com/venn-p2p/venn/overlay/wire"
)

// maxAnswers caps the answers of a peer that count, and so the cost of judging them.
const maxAnswers = bound.Few

// SureMatch is the probability from which a claim to hold a key counts as sure. Only sure matches that prove false
// count against a peer: below this probability an honest filter is wrong too often. Six sure matches in a row are wrong
// once in 10^6. A peer that another peer names as a holder has this probability, too.
const SureMatch = 0.9

// answers counts the recent confirmations and denials of a peer's claims. Only matches that were true with probability
// SureMatch or more count.
type answers struct {
	hits, misses uint16
	faded        time.Duration
}

// add counts answers. While their sum is above most, all are halved.
func (a *answers) add(hits, misses, most int) {
	hits, misses = int(a.hits)+max(0, hits), int(a.misses)+max(0, misses)
	for hits+misses > most {
		hits, misses = halved(hits, misses)
	}
	a.hits, a.misses = uint16(hits), uint16(misses)
}

// any reports whether any answer counts.
func (a *answers) any() bool { return a.hits+a.misses > 0 }

func (a *answers) halve() {
	hits, misses := halved(int(a.hits), int(a.misses))
	a.hits, a.misses = uint16(hits), uint16(misses)
}

// halved halves the counts. One hit always stays, so that a useful peer is not forgotten before others.
func halved(hits, misses int) (int, int) { return hits - hits/2, misses / 2 }

// fade halves the answers, unless it has done so within the last minute.
func (e *Entry) fade(now time.Duration) {
	if e.any() && now >= e.faded+agenda.Seldom {
		e.halve()
		e.faded = now
	}
}

// Refuted reports whether the answers show that the peer does not hold what its summary claims.
func (a *answers) Refuted() bool { return refuting(int(a.hits), int(a.misses)) }

// refuting reports whether these numbers of hits and misses refute the claims of a peer's summary.
func refuting(hits, misses int) bool {
	audit := rank.Audit{Asked: hits + misses, Confirmed: hits, Expected: SureMatch}
	return audit.Refuted()
}

// fadeAnswers halves the answers of all peers from time to time: a peer that has lost keys may have them again. One that
// confirmed none of 20 claims is believed again after one to two of these times.
func (d *Directory) fadeAnswers(now time.Duration) {
	if !d.due.Take(dueFade, now) {
		return
	}
	d.due.By(dueFade, now+agenda.Faded)
	d.touch()
	for _, e := range d.Others() {
		if e != nil {
			e.fade(now)
		}
	}
}

// Outcome adds the hits and misses of confirmations with a peer. It reports whether the peer's claims are refuted now;
// false if there were no misses. Answers to several keys at once, as of an audit, count only where they refute the
// claims: a peer sees that it is audited, so its good answers say nothing of the answers that searches will get.
func (d *Directory) Outcome(now time.Duration, p wire.PeerID, hits, misses int) (refuted bool) {
	e := d.Lookup(p)
	if e == nil || hits+misses > 1 && !refuting(hits, misses) {
		return false
	}
	before := e.Refuted()
	if !e.any() {
		e.faded = now
	}
	e.add(hits, misses, d.cfg.Limits.Answers)
	if refuted = e.Refuted(); refuted != before {
		d.touch()
	}
	return misses > 0 && refuted
}

// RoundTrip notes a measured round trip to a peer.
func (d *Directory) RoundTrip(p wire.PeerID, rtt time.Duration) {
	if e := d.Lookup(p); e != nil {
		e.rtt = rtt
	}
}

// DialFailed notes that a peer could not be reached.
func (d *Directory) DialFailed(p wire.PeerID) {
	if e := d.Lookup(p); e != nil {
		e.dialFails++
		d.touch()
	}
}
