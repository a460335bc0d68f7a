package exchange

import (
	"time"

	"github.com/venn-p2p/venn/overlay/admission"
	"github.com/venn-p2p/venn/overlay/event"
)

// Questions of others share our line: links half of its time and strangers a quarter, over groups and then peers.

// who returns the asker as a principal.
func (x *Exchange) who(in event.Asked) admission.Principal { return in.Who(x.IsLinked(in.From)) }

// Serve counts the bytes of an answer with names, and reports whether it may go: the asker has a share of our own line
// left. Announcements take what such answers leave.
func (x *Exchange) Serve(now time.Duration, in event.Asked, n int) bool {
	line := time.Duration(float64(n) / x.up.rate * float64(time.Second))
	if !x.served.Admit(now, x.who(in), line) {
		return false
	}
	x.Spend(in.From, n)
	return true
}
