package node

import (
	"context"
	"runtime"

	"github.com/venn-p2p/venn/node/internal/admit"
)

// newAdmission gives a third of the processors' time to requests of others, with handshakes and all that libp2p serves
// by itself if the host is [Guarded]: see [admission.New]. The rest is for the node's own work.
func (n *Node) newAdmission() *admit.Table {
	factor := n.cfg.limits.Work
	cores := factor * float64(runtime.GOMAXPROCS(0))
	table := admit.New(cores/3, int(factor*160), n.links.Linked)
	context.AfterFunc(n.ctx, table.Guard(n.host.Network()))
	return table
}
