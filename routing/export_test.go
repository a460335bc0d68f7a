package routing

import (
	"fmt"

	"github.com/venn-p2p/venn/routing/defence"
)

// Loosen switches a defence off.
func (r *Router) Loosen(name string) {
	switch name {
	case "":
	case "children's names count when confirmed":
		r.cfg.Undefended |= defence.Confirmed
	case "a search is known by its sender":
		r.cfg.Undefended |= defence.Sender
	case "contacts are remembered":
		r.cfg.Undefended |= defence.Reputations
	case "failures are remembered":
		r.cfg.Undefended |= defence.Failures
	case "what is known is not asked":
		r.cfg.Undefended |= defence.Knowledge
	case "linked peers are asked":
		r.cfg.Undefended |= defence.Sweep
	case "an order of one's own":
		r.cfg.Undefended |= defence.Order
	case "visited peers are left out":
		r.cfg.Undefended |= defence.Visited
	case "a second contact is asked":
		r.cfg.Undefended |= defence.Second
	default:
		panic(fmt.Sprintf("no defence %q", name))
	}
}

// Failures is how many peers' failures are remembered.
func (r *Router) Failures() int { return len(r.failures) }
