package overlay

import (
	"time"

	"github.com/venn-p2p/venn/overlay/rank"
)

// What peers answered is remembered, but fades: a peer that has lost keys may have them again.
const (
	// fadeEvery is how long it takes for answers to count half. After an audit in which none of 20 keys was held, claims are
	// believed again in one to two of these times; the next audit follows at once.
	fadeEvery = auditEvery
	// fadeAgain is how soon they may do so again because the peer has published a new epoch, and so makes other claims.
	fadeAgain = refusedFor
	// maxAnswers bounds how many count, and with them what a look at an audit costs.
	maxAnswers = 256
)

// answers is what confirmations have said of a peer's claims, of late. Those that count were of matches that are true with
// probability sureMatch at least.
type answers struct {
	hits, misses int
	faded        time.Duration
}

// add counts answers; when there are too many, all count less.
func (a *answers) add(hits, misses int) {
	a.hits += max(0, hits)
	a.misses += max(0, misses)
	for a.hits+a.misses > maxAnswers {
		a.halve()
	}
}

// halve makes answers count half. One hit always stays, so that who has proved useful is not forgotten before others.
func (a *answers) halve() { a.hits, a.misses = a.hits-a.hits/2, a.misses/2 }

// fade halves what has not been halved for a time.
func (a *answers) fade(now, unless time.Duration) {
	if now >= a.faded+unless {
		a.halve()
		a.faded = now
	}
}

// audit is the same as package rank judges it.
func (a *answers) audit() rank.Audit {
	return rank.Audit{Asked: a.hits + a.misses, Confirmed: a.hits, Expected: sureMatch}
}

// fadeAnswers makes the answers of all peers count less from time to time.
func (o *Overlay) fadeAnswers(now time.Duration) {
	if now < o.fadeAt {
		return
	}
	o.fadeAt = now + fadeEvery
	for _, e := range o.others() {
		if e != nil {
			e.fade(now, fadeAgain)
		}
	}
}
