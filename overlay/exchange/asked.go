package exchange

import (
	"time"

	"github.com/venn-p2p/venn/overlay/admission"
	"github.com/venn-p2p/venn/overlay/event"
)

// Questions of others share our line: links half of its time and strangers a quarter, over groups and then peers.

// namesWork is the price of an inquiry before the length of its answer is known. With it strangers together get some 16
// answers a second, links twice as many.
const namesWork = time.Second / 64

// who returns the asker as a principal.
func (x *Exchange) who(in event.Asked) admission.Principal { return in.Who(x.IsLinked(in.From)) }

// Serves reports whether an inquiry is to be answered with names: our own line can send more, and the asker has a share
// of it left.
func (x *Exchange) Serves(now time.Duration, in event.Asked) bool {
	return x.Spare() && x.served.Admit(now, x.who(in), namesWork)
}

// Serve counts the bytes of an answer to an inquiry.
func (x *Exchange) Serve(now time.Duration, in event.Asked, n int) {
	x.Spend(in.From, n)
	x.served.Charge(now, x.who(in), time.Duration(float64(n)/x.up.rate*float64(time.Second)))
}
