package exchange

import (
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
// most of the memory of a directory of small summaries. So a trade is a few bytes, and pages of the table without a
// trade don't exist. Pages are small: a link into another range has trades about the two ends of the link alone.
type ledger []*[ledgerPage]trade

const ledgerPage = 8

// at returns the trade of a directory index, to be changed.
func (t *ledger) at(i int) *trade {
	for i/ledgerPage >= len(*t) {
		*t = append(*t, nil)
	}
	page := &(*t)[i/ledgerPage]
	if *page == nil {
		*page = new([ledgerPage]trade)
	}
	return &(*page)[i%ledgerPage]
}

// known is a copy of a trade, for reading; zero where nothing is traded.
func (t ledger) known(i int) trade {
	if i/ledgerPage >= len(t) || t[i/ledgerPage] == nil {
		return trade{}
	}
	return t[i/ledgerPage][i%ledgerPage]
}

// forget drops what was exchanged about a directory index.
func (t ledger) forget(i int) {
	if i/ledgerPage < len(t) && t[i/ledgerPage] != nil {
		t[i/ledgerPage][i%ledgerPage] = trade{}
	}
}

// renewed notes that a newer epoch is held here, which the peer has not heard of.
func (t ledger) renewed(i int) {
	if i/ledgerPage < len(t) && t[i/ledgerPage] != nil {
		t[i/ledgerPage][i%ledgerPage].toldHave = 0
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
