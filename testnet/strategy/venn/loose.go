package venn

import (
	"math"

	"github.com/venn-p2p/venn/node/core"
	"github.com/venn-p2p/venn/overlay"
	"github.com/venn-p2p/venn/overlay/directory"
	"github.com/venn-p2p/venn/overlay/exchange"
	"github.com/venn-p2p/venn/overlay/tails"
	"github.com/venn-p2p/venn/routing"
)

// Bounds that no run reaches.
const (
	forever   = math.MaxInt64 / 2 // a time.Duration
	unbounded = math.MaxInt
)

// Loosen removes the limits of a core on what others can make it remember, do and believe. A run then shows the damage
// of each attack without these limits.
func Loosen(c *core.Config) {
	c.Overlay.Limits = overlay.Limits{
		Directory: directory.Limits{Bans: unbounded, BanFor: forever, Named: unbounded, NamedLink: unbounded, NamedFor: forever, Seconders: unbounded, Answers: 1},
		Exchange:  exchange.Limits{Credit: math.Inf(1), Remember: -1, Boasters: unbounded},
		Accept:    forever, Visitors: unbounded,
	}
	c.Tails.Limits = tails.Limits{Disbelief: -1, Behind: 1}
	c.Routing.Fresh = -1
	c.Routing.Limits = routing.Limits{
		NameRest: -1, Forgive: -1, Fade: 1, Credit: unbounded, Silent: unbounded, Trust: 1, Boasters: unbounded,
		Denials: 1, Believed: unbounded, Visited: -1,
	}
}
