package region

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/wire"
)

// hears opens a link to a peer and has it say hello.
func hears(t *testing.T, o *world, p wire.PeerID, h wire.Hello) {
	t.Helper()
	step(t, o, 0, event.LinkOpened{Peer: p})
	step(t, o, 0, event.HelloReceived{Peer: p, Hello: h})
}

// TestUsualDepth: what links say of their depths counts from three of them on.
func TestUsualDepth(t *testing.T) {
	o := alone(t, rand.New(rand.NewPCG(1, 9)), Config{})
	for i, c := range []struct{ says, usual int }{{7, 0}, {7, 0}, {0, 7}, {0, 0}, {6, 6}, {32, 6}} {
		hears(t, o, wire.PeerID(fmt.Sprint("link", i)), wire.Hello{Depth: c.says})
		if o.Survey(); o.usual != c.usual {
			t.Errorf("after link %d: usual depth %d, want %d", i, o.usual, c.usual)
		}
	}
}

// TestFarWiderNamesOthersAsTheyAre: a peer whose range is far wider than others names none of them as wide as itself, but
// for one that says so and knows as many origins as it should. Nor does it vouch for more than it knows, by the word of
// most links.
func TestFarWiderNamesOthersAsTheyAre(t *testing.T) {
	const usual = FarWider
	o := deep(t, 0)
	for i := range 8 {
		p := wire.PeerID(fmt.Sprint("known", i))
		o.directory.LearnRecord(0, "link", wire.Record{Peer: p, Envelope: []byte(p)})
		hears(t, o, wire.PeerID(fmt.Sprint("link", i)), wire.Hello{Depth: usual, Network: 1000})
	}
	for p, origins := range map[wire.PeerID]int{"strong": 800, "boasts": 10} {
		o.directory.LearnRecord(0, "link", wire.Record{Peer: p, Envelope: []byte(p)})
		hears(t, o, p, wire.Hello{Depth: 0, Origins: origins})
	}
	o.size = 1000
	named := func() (depths map[wire.PeerID]int) {
		depths = map[wire.PeerID]int{}
		for range 64 {
			for _, n := range o.namesOf(wire.Inquiry{Depth: usual, Lacks: []byte{0xff}}, "asker", 16) {
				depths[n.Record.Peer] = n.Depth
			}
		}
		return depths
	}
	o.usual = 0
	if d, all := named(), o.look(o.surveyed()).vouched; d["known0"] != 0 || all == 0 && len(d) == 0 {
		t.Errorf("among equals: names %v", d)
	}
	o.usual = usual
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
	if d := o.look(o.surveyed()).vouched; d == 0 {
		t.Error("vouches for everybody, and knows nobody")
	}
	if o.usual = 0; o.look(o.surveyed()).vouched != 0 {
		t.Error("among equals it does not vouch for all that it has heard of")
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
