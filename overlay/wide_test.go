package overlay

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay/coverage"
)

// hears opens a link to a peer and has it say hello. It returns what is said to it last.
func hears(o *Overlay, p PeerID, h Hello) (said Hello) {
	o.effects.Begin()
	o.openLink(0, LinkOpened{Peer: p})
	o.onHello(0, HelloReceived{Peer: p, Hello: h})
	for _, e := range o.effects.List() {
		if e, is := e.(SayHello); is && e.To == p {
			said = e.Hello
		}
	}
	return said
}

// TestFewWideNeighbours: of peers that cover far more, few may have this one for their neighbour. Others still may, and
// so may newcomers, that do not know their range yet.
func TestFewWideNeighbours(t *testing.T) {
	o := deep(t, coverage.FarWider)
	wide := Hello{Origins: 100, Neighbour: true}
	for i := range mostWide + 2 {
		if said := hears(o, PeerID(fmt.Sprint("wide", i)), wide); said.Neighbour != (i < mostWide) || said.Full != (i >= mostWide) {
			t.Errorf("number %d that covers far more hears %+v", i, said)
		}
	}
	o.scope.size = 100
	for _, h := range []Hello{{Depth: 1, Origins: 100, Neighbour: true}, {Origins: 25, Neighbour: true}} {
		if said := hears(o, PeerID(fmt.Sprint("other", h.Depth)), h); !said.Neighbour || said.Full {
			t.Errorf("one that says %+v hears %+v", h, said)
		}
	}
}

// TestUsualDepth: a peer knows that its range is far wider than others by what most of its links say, once a few say it.
func TestUsualDepth(t *testing.T) {
	o := deep(t, 0)
	for i, c := range []struct{ says, usual int }{{7, 0}, {7, 0}, {0, 7}, {0, 0}, {6, 6}, {32, 6}} {
		hears(o, PeerID(fmt.Sprint("link", i)), Hello{Depth: c.says})
		if got := o.exchange.UsualDepth(); got != c.usual {
			t.Errorf("after link %d: usual depth %d, want %d", i, got, c.usual)
		}
	}
}

// TestFarWiderNamesOthersAsTheyAre: a peer whose range is far wider than others names none of them as wide as itself, but
// for one that says so and knows as many origins as it should. Nor does it vouch for more than it knows, by the word of
// most links.
func TestFarWiderNamesOthersAsTheyAre(t *testing.T) {
	const usual = coverage.FarWider
	o := deep(t, 0)
	for i := range 8 {
		p := PeerID(fmt.Sprint("known", i))
		o.directory.Meet(0, "link", Record{Peer: p, Envelope: []byte(p)})
		hears(o, PeerID(fmt.Sprint("link", i)), Hello{Depth: usual, Network: 1000})
	}
	for p, origins := range map[PeerID]int{"strong": 800, "boasts": 10} {
		o.directory.Meet(0, "link", Record{Peer: p, Envelope: []byte(p)})
		hears(o, p, Hello{Depth: 0, Origins: origins})
	}
	o.scope.size = 1000
	named := func() (depths map[PeerID]int) {
		depths = map[PeerID]int{}
		for range 64 {
			for _, n := range o.scope.namesOf(Inquiry{Depth: usual, Lacks: []byte{0xff}}, "asker", 16) {
				depths[n.Record.Peer] = n.Depth
			}
		}
		return depths
	}
	o.scope.usual = 0
	if d, all := named(), o.scope.vouch(); d["known0"] != 0 || all == 0 && len(d) == 0 {
		t.Errorf("among equals: names %v", d)
	}
	o.scope.usual = usual
	all := named()
	for p, d := range all {
		if want := usual; p == "strong" && d != 0 || p != "strong" && d != want {
			t.Errorf("names %q with depth %d", p, d)
		}
	}
	if _, is := all["strong"]; !is {
		t.Errorf("names %v, and not the one that covers all", all)
	}
	for _, e := range o.directory.Others() {
		if e != nil {
			o.directory.Remove(e.Index())
		}
	}
	o.pass()
	if d := o.scope.vouch(); d == 0 {
		t.Error("vouches for everybody, and knows nobody")
	}
	if o.scope.usual = 0; o.scope.vouch() != 0 {
		t.Error("among equals it does not vouch for all that it has heard of")
	}
}

// TestFarWiderSaysWhatItKnows: a peer that others ask about far more than their ranges repeats its hello when it knows a
// third more.
func TestFarWiderSaysWhatItKnows(t *testing.T) {
	o := deep(t, 0)
	hears(o, "link", Hello{Depth: coverage.FarWider})
	o.exchange.Greet(0, "link", Hello{Origins: 75})
	for _, c := range []struct {
		origins   int
		wide, due bool
	}{{100, true, false}, {101, true, true}, {101, false, false}, {151, false, true}} {
		if _, due := o.exchange.HelloDue(time.Minute, "link", 0, c.origins, 0, c.wide); due != c.due {
			t.Errorf("%+v: due %v", c, due)
		}
	}
}

// TestWindow: a window has as many as it should, each once, wherever it begins.
func TestWindow(t *testing.T) {
	for _, c := range []struct {
		n, from int
		want    []int
	}{{2, 0, []int{0, 1}}, {2, 2, []int{2, 3}}, {2, 4, []int{4, 0}}, {3, 4, []int{4, 0, 1}}, {4, 1, []int{1, 2, 3, 4}}} {
		if got := window([]int{0, 1, 2, 3, 4}, c.n, c.from); !slices.Equal(got, c.want) {
			t.Errorf("%d from %d: %v, want %v", c.n, c.from, got, c.want)
		}
	}
}
