package exchange

import (
	"math/bits"
	"slices"
	"time"

	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/summary"
)

// trade is what one link and this node have said about one origin.
type trade struct {
	theirs summary.Epoch // the newest epoch that the peer says it holds
	have   uint16        // and how many parts of it
	bases  event.Bases   // and the epochs from which it can make deltas to it

	blamed   bool   // it is in the link's blames
	toldHave uint16 // parts of the newest epoch held here, as last announced to the peer; 0: none
	toldAt   stamp
}

// ledger is the trades of a link, by directory index. There is one for every link and every peer known, and these are
// much of the memory of a directory of small summaries. So a trade is a few bytes, and only those that there are take
// any.
type ledger []page

// page is the trades of 64 directory indexes.
type page struct {
	there  uint64  // which of them have a trade, by bits
	trades []trade // those, in order
}

// place is where a page has, or would have, the trade of a directory index, and that index's bit.
func (p *page) place(i int) (at int, bit uint64) {
	bit = 1 << (i % 64)
	return bits.OnesCount64(p.there & (bit - 1)), bit
}

// find returns the trade of a directory index; nil if there is none.
func (t ledger) find(i int) *trade {
	if i/64 >= len(t) {
		return nil
	}
	p := &t[i/64]
	at, bit := p.place(i)
	if p.there&bit == 0 {
		return nil
	}
	return &p.trades[at]
}

// at returns the trade of a directory index, to be changed until the next call of at or forget.
func (t *ledger) at(i int) *trade {
	for i/64 >= len(*t) {
		*t = append(*t, page{})
	}
	p := &(*t)[i/64]
	at, bit := p.place(i)
	if p.there&bit == 0 {
		if n := len(p.trades); n == cap(p.trades) { // grown by little: pages live long, and there are many
			p.trades = append(make([]trade, 0, n+n/4+2), p.trades...)
		}
		p.trades, p.there = slices.Insert(p.trades, at, trade{}), p.there|bit
	}
	return &p.trades[at]
}

// known is a copy of a trade, for reading; zero where nothing is traded.
func (t ledger) known(i int) trade {
	if found := t.find(i); found != nil {
		return *found
	}
	return trade{}
}

// forget drops what was exchanged about a directory index.
func (t ledger) forget(i int) {
	if t.find(i) == nil {
		return
	}
	p := &t[i/64]
	at, bit := p.place(i)
	p.trades, p.there = slices.Delete(p.trades, at, at+1), p.there&^bit
}

// renewed notes that a newer epoch is held here, which the peer has not heard of.
func (t ledger) renewed(i int) {
	if found := t.find(i); found != nil {
		found.toldHave = 0
	}
}

// claims notes that the peer says it holds parts of an epoch; it says whether that is more than was known.
func (t *trade) claims(e summary.Epoch, have uint16) bool {
	switch {
	case e.After(t.theirs):
		t.theirs, t.have, t.bases = e, have, 0
	case e == t.theirs && have > t.have:
		t.have = have
	default:
		return false
	}
	return true
}

// tells notes that we announced to the peer how much we hold of the newest epoch.
func (t *trade) tells(have int, now time.Duration) {
	t.toldHave, t.toldAt = uint16(have), stampOf(now)
}

// stamp is a time in units of stampUnit, which goes round in 497 days.
type stamp uint32

const stampUnit = 10 * time.Millisecond

func stampOf(t time.Duration) stamp { return stamp(t / stampUnit) }

// since is how long ago it was.
func (s stamp) since(now time.Duration) time.Duration {
	return time.Duration(stampOf(now)-s) * stampUnit
}
