package nodetest

import (
	"github.com/venn-p2p/venn/node"
	"github.com/venn-p2p/venn/node/core"
	"github.com/venn-p2p/venn/node/defence"
	"github.com/venn-p2p/venn/node/internal/limits"
)

// Without takes limits off a node, and has change set those of its core; nil: they stay.
func Without(off defence.Off, change func(*core.Config)) node.Option {
	return node.WithLimits(limits.Limits{Off: off, Core: change})
}
