package routing

import "fmt"

// Loosen switches a defence off.
func (r *Router) Loosen(defence string) {
	switch defence {
	case "":
	case "children's names count when confirmed":
		r.lax.trustChildren = true
	case "a search is known by its sender":
		r.lax.anySender = true
	case "informants are remembered":
		r.lax.forgetVoices = true
	case "failures are remembered":
		r.lax.forgetFailures = true
	case "what is known is not asked":
		r.lax.askAgain = true
	case "linked peers are asked":
		r.lax.noSweep = true
	case "an order of one's own":
		r.lax.sameOrder = true
	case "visited peers are left out":
		r.lax.noVisited = true
	case "a second contact is asked":
		r.lax.oneVoice = true
	default:
		panic(fmt.Sprintf("no defence %q", defence))
	}
}

// Failures is how many peers' failures are remembered.
func (r *Router) Failures() int { return len(r.failures) }
