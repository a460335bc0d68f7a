package exchange

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/group"
	"github.com/venn-p2p/venn/overlay/space"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// toldOfOwn is how many of ten links an origin on a slow line tells of its large summary in ten seconds, while the first
// one told takes a part every other second.
func toldOfOwn(t *testing.T, focused bool) int {
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
	for i := range 10 {
		p := wire.PeerID(fmt.Sprint("link", i))
		w.give(0, event.LinkOpened{Peer: p})
		w.give(0, event.HelloReceived{Peer: p, Hello: wire.Hello{Up: rate, Down: rate, Session: 1}})
		w.give(0, event.Grafted{Peer: p})
	}
	if focused {
		w.x.SetFocus(space.Around(PlaceOf("self"), 2), false)
	}
	its, taken := group.Of(own.stream.Header()), uint16(0)
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
