package node

import (
	"runtime"
	"time"

	"github.com/venn-p2p/venn/node/internal/admit"
)

// What requests take of a processor, as far as it counts: it is paid before it is done.
const (
	keyWork       = 40 * time.Microsecond  // looking up a key, a disk included
	signatureWork = 150 * time.Microsecond // verifying a signature of the dearer kinds of keys
	searchWork    = 500 * time.Microsecond // naming candidates, or searching for another peer
	inquiryWork   = time.Millisecond       // naming peers, out of all that are known
	listWork      = time.Microsecond       // listing a key of our own
)

// newAdmission gives half of the processors' time to what links ask, and a quarter to what strangers ask.
func (n *Node) newAdmission() *admit.Table {
	factor := n.cfg.limits.Work
	cores := factor * float64(runtime.GOMAXPROCS(0))
	return admit.New(admit.Config{
		Links:     admit.Pool{Work: cores / 2, Slots: int(factor * 160)},
		Strangers: admit.Pool{Work: cores / 4, Slots: int(factor * 80)},
		Linked:    n.links.Linked,
	})
}
