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

// focusFill is the time in which the line should carry all useful parts of the focus.
const focusFill = 45 * time.Second

// usefulBytes is the number of bytes a key from which on an origin is known well: a filter of the rate
// exchange.WellKnown.
var usefulBytes = -math.Log2(exchange.WellKnown) / math.Ln2 / 8

// Focus fits the focus to the rates of the lines, and returns it. whole reports whether the precise range contains it.
func (s *Region) Focus() (focus space.Range, whole bool) {
	s.refocus()
	return space.Around(s.place, s.focus), s.seen.precise <= s.focus
}

func (s *Region) refocus() {
	switch {
	case s.depth > 0:
		s.focus = 0 // memory is scarcer than the line
	case s.seen.held >= exchange.FewOrigins:
		wire := s.seen.keys / float64(s.seen.held) * usefulBytes
		m := Means{Rate: s.exchange.LinesIn(), Wire: wire, Fill: focusFill.Seconds()}
		s.focus = Depth(s.focus, m, float64(s.directory.Known()+1))
	}
}

// FocusPeers lists the peers to ask about ranges as wide as our focus; nil if there is no focus.
func (s *Region) FocusPeers() []Contact {
	if s.focus == 0 {
		return nil
	}
	var out []Contact
	for _, e := range s.directory.Others() {
		if e == nil || e.Covered() || e.Record().Envelope == nil || e.DialFails() > 0 {
			continue
		}
		out = append(out, Contact{
			Peer: string(e.Peer()), Record: e.Record().Envelope, Place: s.directory.Place(e),
			Depth: ContactDepth(s.focus),
		})
	}
	return out
}
