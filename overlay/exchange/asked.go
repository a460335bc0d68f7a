package exchange

import (
	"time"

	"github.com/venn-p2p/venn/overlay/admission"
	"github.com/venn-p2p/venn/overlay/event"
)

// Answers to others share our line: links get half of its time, strangers a quarter, shared by groups and then peers.

// who returns the asker as a principal.
func (x *Exchange) who(in event.Asked) admission.Principal {
	return in.Who(x.directory.IsLinked(in.From))
}

// Serve reports whether an answer of n bytes with names may go, because the asker has not used up its share of our own
// line. If so, it charges the bytes. Announcements get the bytes that these answers leave.
func (x *Exchange) Serve(now time.Duration, in event.Asked, n int) bool {
	line := time.Duration(float64(n) / x.up.rate * float64(time.Second))
	if !x.served.Admit(now, x.who(in), line) {
		return false
	}
	x.Spend(in.From, n)
	return true
}
