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
