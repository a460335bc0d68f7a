package exchange

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay/agenda"
	"github.com/venn-p2p/venn/overlay/wire"
)

// many is an exchange of one link and n origins, without any offers.
func many(n int) *world {
	w := lone(rand.New(rand.NewPCG(1, 1)), 1e7)
	for i := range n {
		if i%1000 == 0 { // a link may not tell of more at a time
			w.d.Close("link")
			w.d.Open("link", "")
		}
		w.d.Add(0, "link", uint64(i+1))
		w.pass()
	}
	w.d.Close("link")
	w.meet(wire.Hello{}, "link")
	w.x.Round(0, anyNumber)
	return w
}

// A round looks at the origins that there is something to do about, however many are known.
func TestRoundLooksAtFew(t *testing.T) {
	w := many(10_000)
	awake := func(now time.Duration) (n int) {
		for _, until := range w.x.rests {
			if now >= until {
				n++
			}
		}
		return n
	}
	if n := awake(0); n > 0 {
		t.Fatalf("%d origins are awake that nobody offers", n)
	}
	w.x.wake(&w.x.origins[500])
	w.x.wake(&w.x.origins[9000])
	if n := awake(0); n != 2 {
		t.Errorf("%d origins are awake, want those two", n)
	}
	w.x.Round(0, anyNumber)
	if n := awake(0); n > 0 {
		t.Errorf("%d origins stay awake", n)
	}
	if n := awake(agenda.Beat); n != 10_000 {
		t.Errorf("%d origins are looked at again, want all", n)
	}
	if err := w.x.Check(time.Second); err != nil {
		t.Error(err)
	}
}
