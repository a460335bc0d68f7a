package directory

import (
	"time"

	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// rare is the half of an entry that is empty most of the time. Entries with an empty one share it. So do entries of
// which nothing is in it but the link that named them. It is read through the entry and written by [Entry.change] and
// [Directory.nameFirst] only.
type rare struct {
	shared      bool            // by several entries: it is never written
	session     uint32          // of the link that named the entry first; 0: it was none
	by          wire.PeerID     // the link that named the entry first, while it is pending
	sibling     *Entry          // of the same peer under the other seed; nil: there is none
	next        *summary.Prefix // in state Replaced, the newer epoch
	oldEnvelope envelope        // in state Replaced, that of cur
	outdated    time.Duration   // in state Replaced, since when a newer epoch than cur is held
	bases       []base          // earlier epochs, the oldest first
	past        summary.Epoch   // the last one of a summary that has expired: nothing up to it is taken in again
	forgotten   time.Duration   // in state Expired, when the entry goes
	unwanted    time.Duration   // nothing is learned of it before then: its group is full
	rtt         time.Duration   // 0: not measured
	dialFails   int32           // in a row
	answers
}

// nothing is the empty half that entries share.
var nothing = &rare{shared: true}

func (r *rare) empty() bool {
	return r.by == "" && r.sibling == nil && r.next == nil && r.oldEnvelope.empty() && r.outdated == 0 && len(r.bases) == 0 &&
		r.past == (summary.Epoch{}) && r.forgotten == 0 && r.unwanted == 0 && r.rtt == 0 && r.dialFails == 0 && !r.any()
}

// change changes the rare half of an entry.
func (e *Entry) change(do func(*rare)) {
	r := e.rare
	if r.shared {
		own := *r
		r, own.shared = &own, false
	}
	do(r)
	if e.rare = r; r.empty() {
		e.rare = nothing
	}
}

// nameFirst notes which link named an entry first; "" for none.
func (d *Directory) nameFirst(e *Entry, by wire.PeerID) {
	l := d.links[by]
	switch {
	case e.shared && by == "":
		e.rare = nothing
	case e.shared && l != nil:
		if l.named == nil {
			l.named = &rare{by: by, session: l.session, shared: true}
		}
		e.rare = l.named
	case l != nil:
		e.change(func(r *rare) { r.by, r.session = by, l.session })
	default:
		e.change(func(r *rare) { r.by, r.session = by, 0 })
	}
}
