package region

import (
	"math"
	"time"

	"github.com/venn-p2p/venn/overlay/exchange"
	"github.com/venn-p2p/venn/overlay/space"
)

// A network may be small enough for everybody's memory, but not for anybody's line. There a peer has the first parts of
// all summaries and cannot tell who holds a key. So each line first carries summaries of a range around its peer's
// place, the focus. The part that a peer knows well is its precise range. It asks other peers about the rest.

// focusFill is the time in which the line should carry all useful parts of half of the focus.
const focusFill = 45 * time.Second

// usefulBytes is the number of bytes a key from which on an origin is known well: a filter of the rate
// exchange.WellKnown.
var usefulBytes = -math.Log2(exchange.WellKnown) / math.Ln2 / 8

// Focus fits the focus to the rates of the lines, and returns it. whole reports whether the precise range contains it.
func (s *Region) Focus() (focus space.Range, whole bool) {
	s.refocus()
	depth := s.focusDepth()
	return space.Around(s.place, depth), s.seen.precise <= depth
}

// focusDepth returns the depth of the focus; 0: there is none. The focus is twice as wide as the range whose plain parts
// the line carries, because bases save about half of the bytes. It is never everybody.
func (s *Region) focusDepth() int { return min(s.carried, max(1, s.carried-1)) }

func (s *Region) refocus() {
	switch {
	case s.depth > 0:
		s.carried = 0 // memory is scarcer than the line
	case s.seen.held >= exchange.FewOrigins:
		wire := s.seen.keys / float64(s.seen.held) * usefulBytes
		m := Means{Rate: s.exchange.LinesIn(), Wire: wire, Fill: focusFill.Seconds()}
		s.carried = Depth(s.carried, m, float64(s.directory.Known()+1))
	}
}

// FocusPeers lists the peers to ask about ranges as wide as our focus; nil if there is no focus.
func (s *Region) FocusPeers() []Contact {
	depth := s.focusDepth()
	if depth == 0 {
		return nil
	}
	var out []Contact
	for _, e := range s.directory.Others() {
		if e == nil || e.Covered() || e.Record().Envelope == nil || e.DialFails() > 0 {
			continue
		}
		out = append(out, Contact{
			Peer: string(e.Peer()), Record: e.Record().Envelope, Place: s.directory.Place(e),
			Depth: ContactDepth(depth),
		})
	}
	return out
}
