package exchange

import (
	"time"

	"github.com/venn-p2p/venn/summary"
)

// trade has the announcements about one origin that one link and this node have made to each other. It takes 24 bytes.
type trade struct {
	theirs   summary.Epoch // newest epoch that the peer claims to hold
	have     uint16        // number of its parts that the peer claims to hold
	toldHave uint16        // parts of the newest epoch held here, as last announced to the peer; 0: none
	toldAt   time.Duration // when toldHave was announced
}

// ledger is the trades of a link, by directory index.
type ledger []trade

// at returns the trade of a directory index, to be changed until the next call of at.
func (t *ledger) at(i int) *trade {
	for len(*t) <= i {
		*t = append(*t, trade{})
	}
	return &(*t)[i]
}

// known returns a copy of a trade, for reading; zero if nothing is traded.
func (t ledger) known(i int) trade {
	if i >= len(t) {
		return trade{}
	}
	return t[i]
}

// forget drops what was exchanged about a directory index.
func (t ledger) forget(i int) {
	if i < len(t) {
		t[i] = trade{}
	}
}

// renewed notes a newer epoch, which the peer has not heard of.
func (t ledger) renewed(i int) {
	if i < len(t) {
		t[i].toldHave = 0
	}
}

// claims notes that the peer claims to hold parts of an epoch. It reports whether that is more than was known.
func (t *trade) claims(e summary.Epoch, have uint16) bool {
	switch {
	case e.After(t.theirs):
		t.theirs, t.have = e, have
	case e == t.theirs && have > t.have:
		t.have = have
	default:
		return false
	}
	return true
}

// tells notes that we announced to the peer the number of parts that we hold of the newest epoch.
func (t *trade) tells(have int, now time.Duration) { t.toldHave, t.toldAt = uint16(have), now }
