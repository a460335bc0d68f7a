package node

import (
	"runtime"

	"github.com/venn-p2p/venn/node/internal/admit"
	"github.com/venn-p2p/venn/overlay/admission"
)

// newAdmission gives half of the processors' time to requests of links, and a quarter to strangers'.
func (n *Node) newAdmission() *admit.Table {
	factor := n.cfg.limits.Work
	cores := factor * float64(runtime.GOMAXPROCS(0))
	return admit.New(admission.Config{
		Links:     admission.Pool{Work: cores / 2, Slots: int(factor * 160)},
		Strangers: admission.Pool{Work: cores / 4, Slots: int(factor * 80)},
	}, n.links.Linked)
}
