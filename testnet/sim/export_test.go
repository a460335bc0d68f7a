package sim

import (
	"math/rand/v2"
	"time"

	"github.com/venn-p2p/venn/testnet/strategy"
)

// Away has a peer leave at an instant, and come back at another; 0: it doesn't come back. Call it in order of time.
func (s *Sim) Away(p strategy.ID, leaves, back time.Duration) {
	s.churn.moves = append(s.churn.moves, Move{At: leaves, Peer: p})
	if back > 0 {
		s.churn.moves = append(s.churn.moves, Move{At: back, Peer: p, Online: true})
	}
}

// AlwaysEach has Config.Each do all windows, also those in which few peers have something to do.
func (s *Sim) AlwaysEach() { s.few = -1 }

// Stray plans an event for a peer, whether or not there is one.
func Stray(h strategy.Host, to strategy.ID) { h.(*node).emit(event{to: to, kind: arrive}) }

// Linking is the source that the topology is drawn from.
func (s *Sim) Linking() *rand.Rand { return s.cfg.random(linking) }

// Kept is the number of connections of a peer to peers without a link.
func Kept(h strategy.Host) int { return len(h.(*node).recent) }
