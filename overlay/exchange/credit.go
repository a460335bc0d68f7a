package exchange

import (
	"time"

	"github.com/venn-p2p/venn/overlay/wire"
)

// A claim is cheap: whoever says that it has newer epochs of all origins is asked for them before anybody who tells the
// truth. So a link's claims are credit. Each ask that brings nothing spends some, each that brings what was claimed
// gives some back, and time does. The claims of a link without credit count only where no link with credit offers
// anything.
const (
	fullCredit  = 8
	creditEvery = time.Minute // time gives back one
)

// credit is how far a link's claims are believed. The zero value is full credit.
type credit struct {
	spent float64
	last  time.Duration
}

// breaks notes that an ask brought nothing.
func (c *credit) breaks(now time.Duration, full float64) {
	c.refill(now)
	c.spent = min(full, c.spent+1)
}

// keeps notes that an ask brought what was claimed.
func (c *credit) keeps() { c.spent = max(0, c.spent-1) }

func (c *credit) refill(now time.Duration) {
	c.spent = max(0, c.spent-float64(now-c.last)/float64(creditEvery))
	c.last = now
}

// trusts says whether a link has credit left, so that its claims compete with those of others.
func (x *Exchange) trusts(l *link) bool {
	return l.credit.spent <= x.cfg.Limits.Credit-1
}

// memory is what stays of a link after it has closed.
type memory struct {
	closed time.Duration
	credit credit
	blames map[int]*blame
	unkept int
}

const (
	rememberFor  = 10 * time.Minute
	maxMemorable = 64 // links
)

// remember keeps what speaks against a link that closes, in the place of the oldest such memory if there are too many.
func (x *Exchange) remember(now time.Duration, l *link) {
	if len(l.blames) == 0 && l.credit.spent == 0 && l.unkept == 0 {
		return
	}
	if len(x.memories) >= maxMemorable {
		x.forgetOldest()
	}
	x.memories[l.peer] = &memory{now, l.credit, l.blames, l.unkept}
}

func (x *Exchange) forgetOldest() {
	var oldest wire.PeerID
	for p, m := range x.memories {
		if o := x.memories[oldest]; o == nil || m.closed < o.closed || m.closed == o.closed && p < oldest {
			oldest = p
		}
	}
	delete(x.memories, oldest)
}

// recall gives a new link what is remembered of the one before.
func (x *Exchange) recall(now time.Duration, l *link) {
	m := x.memories[l.peer]
	delete(x.memories, l.peer)
	if m == nil || now >= m.closed+x.cfg.Limits.Remember {
		return
	}
	l.credit, l.blames, l.unkept = m.credit, m.blames, m.unkept
}
