package exchange

import (
	"math/rand/v2"
	"testing"

	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/group"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// TestSlowLineRests: once the first copy of our own summary is out, or its time is over, a link that has heard of it
// from elsewhere keeps nobody awake.
func TestSlowLineRests(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	w := &world{d: emptyDirectory(rng), rng: rng}
	const rate = 256_000
	w.x = New(Config{Self: "self", Up: rate, Down: rate, DeclaredUp: rate, DeclaredDown: rate, Share: 1.0 / 3, Summary: w.d.Summary, Rand: rng}, &w.out, w.d.Owned()...)
	fps := make([]summary.Fingerprint, 60_000)
	for i := range fps {
		fps[i] = summary.Fingerprint(rng.Uint64() >> 16)
	}
	own := sign(t, "self", fps)
	w.give(0, event.Published{Envelope: own.envelope, Record: own.record, Stream: own.stream})
	w.give(0, event.LinkOpened{Peer: "link"})
	w.give(0, event.HelloReceived{Peer: "link", Hello: wire.Hello{Up: rate, Down: rate, Session: 1}})
	items := []wire.Item{{Group: group.Of(own.stream.Header()), Have: 1}}
	w.give(0, event.CatalogueReceived{From: "link", Items: items, Bytes: Cost(make(wire.Catalogue, 1))})
	w.x.Refill(2 * copyingMost)
	if w.x.copying() || w.x.links["link"].known(0).toldHave > 0 {
		t.Fatal("the first copy should be over, and the link untold")
	}
	if to, _ := w.x.announceOwn(2 * copyingMost); to != nil {
		t.Fatal("the link should not be told any more")
	}
	if !w.x.ownTold() {
		t.Errorf("after %v something waits to be told that never is", 2*copyingMost)
	}
}
