package overlay

import (
	"math/bits"
	"time"

	"github.com/venn-p2p/venn/overlay/coverage"
)

// A network may be small enough for everybody's memory, but not for anybody's line. There a peer has the first parts of
// all summaries and cannot tell who holds a key. So each line is for a range around its peer's place first. What a peer
// knows well is its sharp range. It asks others about the rest, whom it knows by their first parts.

const (
	// focusFill is the time in which the line should carry what is useful of the focus.
	focusFill = 45 * time.Second
	// usefulBits is how many bits a key make a summary useful: about one false match in a hundred then.
	usefulBits = 8
	// sharpMatches is how many false matches are expected at most of the sharp range.
	sharpMatches = 2
)

// refocus fits the range that the line is for first to what lines carry, and says how far it is filled.
func (s *scope) refocus() {
	keys, n := 0.0, 0
	var blur [coverage.MaxDepth + 1]float64 // false matches, by how many first bits origins share with us
	for _, e := range s.directory.Others() {
		if e == nil || e.Gone() || e.Covered() {
			continue
		}
		blur[min(bits.LeadingZeros64(s.place.Distance(s.directory.Place(e))), coverage.MaxDepth)] += e.Rate()
		if e.Held() != nil {
			keys, n = keys+float64(e.Held().Plan().N), n+1
		}
	}
	s.sharp = coverage.MaxDepth
	for depth, sum := coverage.MaxDepth, 0.0; depth >= s.vouched; depth-- {
		if sum += blur[depth]; sum > sharpMatches {
			break
		}
		s.sharp = depth
	}
	switch {
	case s.depth > 0:
		s.focus = 0 // memory is what there is little of
	case n >= fewKnown:
		m := coverage.Means{Rate: s.exchange.LinesIn(), Wire: keys / float64(n) * usefulBits / 8, Fill: focusFill.Seconds()}
		s.focus = coverage.Depth(s.focus, m, float64(s.directory.Known()+1))
	}
}

// focusPeers lists the peers to ask about ranges as wide as our focus, see [Overlay.Peers].
func (s *scope) focusPeers() []coverage.Contact {
	if s.focus == 0 {
		return nil
	}
	var out []coverage.Contact
	for _, e := range s.directory.Others() {
		if e == nil || e.Covered() || e.Record().Envelope == nil || e.DialFails() > 0 {
			continue
		}
		out = append(out, coverage.Contact{
			Peer: string(e.Peer()), Record: e.Record().Envelope, Place: s.directory.Place(e), Depth: s.focus,
		})
	}
	return out
}
