package directory

import (
	"time"

	"github.com/venn-p2p/venn/overlay/rank"
	"github.com/venn-p2p/venn/overlay/wire"
)

// What peers answered is remembered, but fades: a peer that has lost keys may have them again.
const (
	// fadeEvery is how long it takes for answers to count half. Claims that none of 20 confirmations kept are believed
	// again after one to two of these times.
	fadeEvery = 10 * time.Minute
	// fadeAgain is the least time between two fadings of one entry. A new epoch makes other claims, and so fades them
	// early.
	fadeAgain = time.Minute
	// maxAnswers bounds how many count, and with them what a look at an audit costs.
	maxAnswers = 256
	// sureMatch is the least probability that a match is true for its confirmation to count (see package
	// routing/match).
	sureMatch = 0.9
)

// answers is what confirmations have said of a peer's claims, of late. Those count whose match was true with
// probability sureMatch at least.
type answers struct {
	hits, misses uint16
	faded        time.Duration
}

// add counts answers; when there are more than most, all count less.
func (a *answers) add(hits, misses, most int) {
	hits, misses = int(a.hits)+max(0, hits), int(a.misses)+max(0, misses)
	for hits+misses > most {
		hits, misses = halved(hits, misses)
	}
	a.hits, a.misses = uint16(hits), uint16(misses)
}

// any says whether there are answers.
func (a *answers) any() bool { return a.hits+a.misses > 0 }

func (a *answers) halve() {
	hits, misses := halved(int(a.hits), int(a.misses))
	a.hits, a.misses = uint16(hits), uint16(misses)
}

// halved makes answers count half. One hit always stays, so that a peer that has proved useful is not forgotten before
// others.
func halved(hits, misses int) (int, int) { return hits - hits/2, misses / 2 }

// fade halves answers that were not halved for a time.
func (e *Entry) fade(now, unless time.Duration) {
	if e.any() && now >= e.faded+unless {
		e.halve()
		e.faded = now
	}
}

// Refuted says whether confirmations have shown that the peer does not hold what its summary claims.
func (a *answers) Refuted() bool {
	audit := rank.Audit{Asked: int(a.hits + a.misses), Confirmed: int(a.hits), Expected: sureMatch}
	return audit.Refuted()
}

// fadeAnswers makes the answers of all peers count less from time to time.
func (d *Directory) fadeAnswers(now time.Duration) {
	if !d.due.Take(dueFade, now) {
		return
	}
	d.due.By(dueFade, now+fadeEvery)
	d.touch()
	for _, e := range d.Others() {
		if e != nil {
			e.fade(now, fadeAgain)
		}
	}
}

// Outcome counts what confirmations with a peer brought. It says whether its claims are refuted now, which is new if
// there were misses.
func (d *Directory) Outcome(now time.Duration, p wire.PeerID, hits, misses int) (refuted bool) {
	e := d.Lookup(p)
	if e == nil {
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

// DialFailed notes that a peer could not be reached, and returns its entry, nil if there is none.
func (d *Directory) DialFailed(p wire.PeerID) *Entry {
	e := d.Lookup(p)
	if e != nil {
		e.dialFails++
		d.touch()
	}
	return e
}
