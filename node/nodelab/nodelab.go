// Package nodelab takes limits off a node, for experiments and testnets.
package nodelab

import (
	"math"

	"github.com/venn-p2p/venn/node"
	"github.com/venn-p2p/venn/node/core"
	"github.com/venn-p2p/venn/node/internal/limits"
)

// Limits bounds what others can make a node do. Zero values mean the defaults, which every node has.
type Limits = limits.Limits

// Unbounded is a limit that no run reaches.
const Unbounded = math.MaxInt32

// Without replaces the limits of a node.
func Without(l Limits) node.Option { return node.WithLimits(l) }

// Undefended takes all limits off a node; change takes off its core's.
func Undefended(change func(*core.Config)) node.Option {
	return Without(Limits{
		Core: change, Work: Unbounded, Dials: Unbounded, Addrs: Unbounded, Offences: Unbounded, Claim: Unbounded, Stray: Unbounded,
	})
}
