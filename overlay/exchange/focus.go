package exchange

import (
	"slices"

	"github.com/venn-p2p/venn/overlay/space"
)

// Where no line carries much of everybody's summary, each peer's line is for a range around its own place first: the
// focus. A peer knows that range well, and asks others about the rest. Until its focus is whole it asks for nothing
// deeper of other origins, for whoever serves that could serve somebody's focus instead.

const (
	// focusWeight is how many times as much the parts of an origin in focus are worth as those of others.
	focusWeight = 64
	// fastVoices is how many linked peers must say that their lines are fast before that counts: one may boast.
	fastVoices = 2
	// slowLinks is how many linked peers must have slow lines before a slow peer stops waiting for a faster one.
	slowLinks = 8
)

// focus is the range that the line is for first.
type focus struct {
	places space.Range // everybody: there is none
	whole  bool        // what is useful of it is held
}

// SetFocus says which places the line is for first, and whether what is useful of them is held. At first it is for all
// alike.
func (x *Exchange) SetFocus(places space.Range, whole bool) {
	if f := (focus{places, whole}); f != x.focus {
		x.focus = f
		x.due.By(duePlan, 0)
	}
}

// beside says whether a place is outside of the focus.
func (f focus) beside(p space.Place) bool { return f.places.Depth() > 0 && !f.places.Contains(p) }

// weight is how much a fall of an origin's false-positive rate matters; 0 says that it does not now.
func (x *Exchange) weight(e *origin) float64 {
	switch {
	case x.focus.places.Depth() == 0:
		return e.Weight()
	case !x.focus.beside(e.place):
		return focusWeight * e.Weight()
	case x.focus.whole:
		return e.Weight()
	}
	return 0
}

// LinesIn is the rate of summaries, in bytes a second, on the lines of those who could answer for us. It is that of our
// own line, or of linked peers that say theirs are faster.
func (x *Exchange) LinesIn() float64 {
	own := float64(x.cfg.Down)
	var said []float64
	for _, l := range x.order {
		if l.heard && float64(l.hello.Down) > own {
			said = append(said, float64(l.hello.Down))
		}
	}
	if len(said) < fastVoices {
		return x.down.rate
	}
	slices.Sort(said)
	return x.down.rate * said[len(said)-fastVoices] / max(1, own)
}

// fastest says whether many peers are linked, and none of them can pass our own summary on faster than we can.
func (x *Exchange) fastest() bool {
	n := 0
	for _, l := range x.order {
		if l.heard && l.hello.Up > x.cfg.Up {
			return false
		}
		if l.heard {
			n++
		}
	}
	return n >= slowLinks
}
