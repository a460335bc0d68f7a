package exchange

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay/agenda"
	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/overlaylab/plain"
	"github.com/venn-p2p/venn/overlay/space"
	"github.com/venn-p2p/venn/overlay/wire"
)

// toldOfOwn is how many of ten links an origin on a slow line tells of its large summary in ten seconds, while the first
// one told takes a part every other second.
func toldOfOwn(t *testing.T, focused bool) int {
	rng := rand.New(rand.NewPCG(1, 1))
	const rate = 256_000
	w := lone(rng, rate)
	own := plain.Of("self", plain.Keys(rng, 60_000))
	w.publish(own)
	for i := range 10 {
		w.meet(wire.Hello{Up: rate, Down: rate, Session: 1}, wire.PeerID(fmt.Sprint("link", i)))
	}
	if focused {
		w.x.SetFocus(space.Around(wire.PeerID("self").Place(), 2), false)
	}
	its, taken := wire.GroupOf(own.Stream.Header()), uint16(0)
	var told []wire.PeerID
	for now := time.Duration(0); now < 10*time.Second; now += 250 * time.Millisecond {
		for _, e := range w.give(now, event.Tick{}) {
			if c, ok := e.(event.SendCatalogue); ok && c.Items[0].Group == its {
				told = append(told, c.To)
			}
		}
		if len(told) > 0 && now%(2*time.Second) == 0 {
			items := []wire.Item{{Group: its, Have: taken, Want: taken + 1}}
			w.give(now, event.CatalogueReceived{From: told[0], Items: items, Bytes: Cost(make(wire.Catalogue, 1))})
			taken++
		}
	}
	return len(told)
}

// TestIdleLineTellsAnother: an origin on a slow line tells few links of its summary until the first copy is out. Where
// lines have a focus, it tells others while its line has bytes to spare.
func TestIdleLineTellsAnother(t *testing.T) {
	if n := toldOfOwn(t, false); n > 2 {
		t.Errorf("without a focus %d links are told, want at most 2", n)
	}
	if n := toldOfOwn(t, true); n < 5 {
		t.Errorf("in a focus %d links are told, want at least 5", n)
	}
}

// TestSlowLineRests: once the first copy of our own summary is out, or its time is over, a link that has heard of it
// from elsewhere keeps nobody awake.
func TestSlowLineRests(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	const rate = 256_000
	w := lone(rng, rate)
	own := plain.Of("self", plain.Keys(rng, 60_000))
	w.publish(own)
	w.meet(wire.Hello{Up: rate, Down: rate, Session: 1}, "link")
	items := []wire.Item{{Group: wire.GroupOf(own.Stream.Header()), Have: 1}}
	w.give(0, event.CatalogueReceived{From: "link", Items: items, Bytes: Cost(make(wire.Catalogue, 1))})
	w.x.Refill(2 * agenda.Seldom)
	if w.x.copying() || w.x.link("link").trade(0).toldHave > 0 {
		t.Fatal("the first copy should be over, and the link untold")
	}
	if to, _ := w.x.announceOwn(2 * agenda.Seldom); to != nil {
		t.Fatal("the link should not be told any more")
	}
	if !w.x.ownTold() {
		t.Errorf("after %v something waits to be told that never is", 2*agenda.Seldom)
	}
}
