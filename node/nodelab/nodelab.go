// Package nodelab takes the limits off a node, for testnets.
package nodelab

import (
	"math"

	"github.com/venn-p2p/venn/node"
	"github.com/venn-p2p/venn/node/core"
	"github.com/venn-p2p/venn/node/internal/limits"
)

// Undefended takes all limits off a node; change takes off its core's.
func Undefended(change func(*core.Config)) node.Option {
	const unbounded = math.MaxInt32 // a limit that no run reaches
	return node.WithLimits(limits.Limits{Core: change, Work: unbounded, Dials: unbounded, Addrs: unbounded, Offences: unbounded})
}
