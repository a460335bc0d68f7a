package node

import (
	"context"
	"runtime"

	"github.com/venn-p2p/venn/node/internal/admit"
	"github.com/venn-p2p/venn/overlay/admission"
)

// newAdmission gives a third of the processors' time to requests of links, and a sixth to strangers', with handshakes if
// the host is [Guarded]: at most a twelfth. The rest is for the node's own work, and for identify.
func (n *Node) newAdmission() *admit.Table {
	factor := n.cfg.limits.Work
	cores := factor * float64(runtime.GOMAXPROCS(0))
	table := admit.New(admission.Config{
		Links:     admission.Pool{Work: cores / 3, Slots: int(factor * 160)},
		Strangers: admission.Pool{Work: cores / 6, Slots: int(factor * 160)},
	}, n.links.Linked)
	context.AfterFunc(n.ctx, table.Guard(n.host.Network()))
	return table
}
