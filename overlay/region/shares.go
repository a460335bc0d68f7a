package region

import (
	"github.com/venn-p2p/venn/overlay/wire"
)

// maxServed is how many inquiries are answered with names in a second.
const maxServed = 16

// shares divides what is served in a second among those who ask. Each has an equal share of what those of the second
// before would leave to one more, so that a newcomer finds some. The zero value is ready.
type shares struct {
	took   map[wire.PeerID]int // this second, of each that asked; at most maxServed are remembered
	served int
	askers int // in the second before
}

// next begins a new second.
func (s *shares) next() {
	s.askers, s.served = len(s.took), 0
	clear(s.took)
}

// take says whether an asker is served.
func (s *shares) take(p wire.PeerID) bool {
	took, asked := s.took[p]
	if !asked && len(s.took) == maxServed {
		return false
	}
	if s.took == nil {
		s.took = make(map[wire.PeerID]int)
	}
	s.took[p] = took
	if s.served == maxServed || took >= max(1, maxServed/(s.askers+1)) {
		return false
	}
	s.took[p]++
	s.served++
	return true
}
