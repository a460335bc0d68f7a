package exchange

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay/agenda"
	"github.com/venn-p2p/venn/overlay/directory"
	"github.com/venn-p2p/venn/overlay/space"
)

// TestRestsAreFew: an origin that wakes and rests again and again leaves no rests behind, though the first to end is far
// away.
func TestRestsAreFew(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	w := &world{d: emptyDirectory(rng), rng: rng}
	w.x = New(Config{Self: "self", Up: 1e6, Down: 1e6, Share: 1.0 / 3, Rand: rng}, &w.out, w.d.Owned()...)
	e := &directory.Entry{}
	w.x.Added(e, space.Place(0))
	o := &w.x.origins[e.Index()]
	for i := range 1000 {
		w.x.wake(o)
		w.x.hush(o, time.Hour+time.Duration(i))
	}
	if n := cap(w.x.lookout.quiet); n > 8 {
		t.Errorf("room for %d rests of one origin", n)
	}
	if got := w.x.nextRouse(); got > time.Hour+999 {
		t.Errorf("it is looked at again after %v", got)
	}
	w.x.rouse(time.Hour + 998)
	if w.x.lookout.awake.has(e.Index()) {
		t.Error("it is looked at before its last rest ends")
	}
	w.x.rouse(time.Hour + 999)
	if !w.x.lookout.awake.has(e.Index()) {
		t.Error("it is not looked at when its last rest ends")
	}
}

// The slow twin of the rests is a map of times.
func TestRests(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 7))
	const n = 40
	x := many(n).x
	for i := 1; i <= n; i++ {
		x.wake(x.origin(i))
	}
	plain := map[int]time.Duration{}
	for now := range time.Duration(5000) {
		i := 1 + rng.IntN(n)
		if rng.IntN(3) == 0 {
			x.wake(x.origin(i))
			delete(plain, i)
		} else {
			plain[i] = now + time.Duration(rng.IntN(100))
			x.hush(x.origin(i), plain[i])
		}
		x.rouse(now)
		next := agenda.Never
		for i, until := range plain {
			if now >= until {
				delete(plain, i)
			} else {
				next = min(next, until)
			}
		}
		if got := x.nextRouse(); got != next {
			t.Fatalf("at %d the next is looked at after %d, want %d", now, got, next)
		}
		for i := 1; i <= n; i++ {
			if _, rests := plain[i]; rests == x.lookout.awake.has(i) {
				t.Fatalf("at %d origin %d is awake: %v", now, i, !rests)
			}
		}
		if err := x.Check(now); err != nil {
			t.Fatal(err)
		}
	}
}
