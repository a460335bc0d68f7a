package exchange

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay/overlaylab/plain"
	"github.com/venn-p2p/venn/overlay/space"
	"github.com/venn-p2p/venn/overlay/wire"
)

// fewLinks returns an exchange in a half of all places with links that have said their depth, and a directory that
// holds some parts of an origin of 5,000 keys.
func fewLinks(t *testing.T, links, parts int) (*world, *origin) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 9))
	const rate = 10_000_000
	w := lone(rng, rate)
	w.d.SetRange(space.Around(1<<63, 1))
	for i := range links {
		w.meet(wire.Hello{Up: rate, Down: rate, Session: 1, Depth: 2}, wire.PeerID(fmt.Sprint("link", i)))
	}
	return w, w.learn(t, w.x.links[0].peer, plain.Of("origin", plain.Keys(rng, 5000)), parts)
}

// TestCredit: eight asks that bring nothing use a link's credit up, one a minute comes back, and each that brings what
// was claimed gives one back.
func TestCredit(t *testing.T) {
	w, e := fewLinks(t, 1, 2)
	l := w.x.links[0]
	for range 20 {
		w.x.failed(0, l, e)
	}
	if l.spent != 8 {
		t.Errorf("twenty asks in vain cost %v, want all credit, 8", l.spent)
	}
	if l.age(3 * time.Minute); l.spent != 5 {
		t.Errorf("%v are spent three minutes later, want 5", l.spent)
	}
	if l.keeps(e.Tag()); l.spent != 4 {
		t.Errorf("%v are spent after a claim that was kept, want 4", l.spent)
	}
}

// TestShunned: a link is left alone about an origin for a time after an ask in vain, from the third in a row on for
// twice as long each time, up to 30 s.
func TestShunned(t *testing.T) {
	w, e := fewLinks(t, 1, 2)
	l := w.x.links[0]
	now := time.Duration(0)
	for i, want := range []time.Duration{4, 4, 8, 16, 30, 30} {
		w.x.failed(now, l, e)
		now += want * time.Second
		if !l.shuns(now-1, e.Tag()) || l.shuns(now, e.Tag()) {
			t.Errorf("after ask %d in vain it is not left alone for %d s", i+1, int(want))
		}
	}
}

// TestDistrusted: a link that has brought nothing in eight asks is asked for one thing at a time.
func TestDistrusted(t *testing.T) {
	w, _ := fewLinks(t, 1, 2)
	l := w.x.links[0]
	l.inFlight = 1
	for _, c := range []struct {
		unkept int
		useful bool
		asked  bool
	}{{7, false, true}, {8, false, false}, {8, true, true}} {
		if l.unkept, l.useful = c.unkept, c.useful; l.busy() == c.asked {
			t.Errorf("%+v: it is not so", c)
		}
	}
}

// TestRipe: what has grown by less than half is announced once it has not grown for 4 s. More is announced again after a
// second.
func TestRipe(t *testing.T) {
	w, e := fewLinks(t, 1, 6)
	l, p := w.x.links[0], e.Held()
	told := uint16(p.Parts() - 1)
	if p.EncodedBytes() >= 2*p.Plan().EncodedBytes(int(told)) || p.Parts() == p.Plan().Parts() {
		t.Fatalf("%d of %d parts", p.Parts(), p.Plan().Parts())
	}
	for _, c := range []struct {
		told, have uint16
		toldAt, at time.Duration
	}{{told, told, 0, 4 * time.Second}, {1, 1, 10 * time.Second, 11 * time.Second}} {
		tr := l.traded(e.Index())
		tr.toldHave, tr.have, tr.toldAt = c.told, c.have, c.toldAt
		if w.x.ripe(c.at-time.Millisecond, l, e, p) || !w.x.ripe(c.at, l, e, p) {
			t.Errorf("%+v: not ripe then, or before", c)
		}
	}
}

// TestWellKnown: where those known are few of many, no connection is made to know an origin better of which one in fifty
// keys that it lacks seems held. It is made for one known worse.
func TestWellKnown(t *testing.T) {
	for _, parts := range []int{2, 12} {
		w, e := fewLinks(t, 1, parts)
		rate := e.Held().FalsePositiveRate()
		if (rate > 0.02) != (parts == 2) || e.Held().Parts() == e.Held().Plan().Parts() {
			t.Fatalf("%d of %d parts have rate %v", parts, e.Held().Plan().Parts(), rate)
		}
		if got := w.x.mayFetch(time.Minute, e); got != (parts == 2) {
			t.Errorf("rate %.3f: may fetch is %v", rate, got)
		}
	}
}
