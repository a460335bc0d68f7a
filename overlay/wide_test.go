package overlay

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/region"
	"github.com/venn-p2p/venn/overlay/wire"
)

// hears opens a link to a peer and has it say hello. It returns what is said to it last.
func hears(o *Overlay, p wire.PeerID, h wire.Hello) (said wire.Hello) {
	o.effects.Begin()
	o.openLink(0, event.LinkOpened{Peer: p})
	o.onHello(0, event.HelloReceived{Peer: p, Hello: h})
	for _, e := range o.effects.List() {
		if e, is := e.(event.SayHello); is && e.To == p {
			said = e.Hello
		}
	}
	return said
}

// TestFewWideNeighbours: of peers that cover far more, few may have this one for their neighbour. Others still may, and
// so may newcomers, that do not know their range yet.
func TestFewWideNeighbours(t *testing.T) {
	o := cornered(t, "a", "b", "c")
	depth := o.region.Depth()
	if depth < region.FarWider {
		t.Fatalf("covers a range of depth %d", depth)
	}
	wide := wire.Hello{Origins: 100, Neighbour: true}
	for i := range mostWide + 2 {
		if said := hears(o, wire.PeerID(fmt.Sprint("wide", i)), wide); said.Neighbour != (i < mostWide) || said.Full != (i >= mostWide) {
			t.Errorf("number %d that covers far more hears %+v", i, said)
		}
	}
	for _, h := range []wire.Hello{{Depth: depth - region.FarWider + 1, Origins: 100, Neighbour: true}, {Origins: 2, Neighbour: true}} {
		if said := hears(o, wire.PeerID(fmt.Sprint("other", h.Depth)), h); !said.Neighbour || said.Full {
			t.Errorf("one that says %+v hears %+v", h, said)
		}
	}
}

// TestFarWiderSaysWhatItKnows: a peer that others ask about far more than their ranges repeats its hello when it knows a
// third more, and any peer within a minute when it knows more or fewer at all.
func TestFarWiderSaysWhatItKnows(t *testing.T) {
	o := alone(t, rand.New(rand.NewPCG(2, 3)), Config{})
	hears(o, "link", wire.Hello{Depth: region.FarWider})
	o.exchange.Greet(0, "link", wire.Hello{Origins: 75})
	for _, c := range []struct {
		origins   int
		wide, due bool
		after     time.Duration
	}{
		{100, true, false, 30 * time.Second},
		{101, true, true, 30 * time.Second},
		{101, false, false, 30 * time.Second},
		{151, false, true, 30 * time.Second},
		{75, false, false, time.Hour},
		{74, false, false, 30 * time.Second},
		{74, false, true, time.Minute},
		{76, false, true, time.Minute},
	} {
		if _, due := o.exchange.HelloDue(c.after, "link", 0, c.origins, 0, c.wide); due != c.due {
			t.Errorf("%+v: due %v", c, due)
		}
	}
}
