package overlay

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/overlaylab/plain"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// names returns the peers that an overlay names to one that it refuses a link, whose hello brings its record.
func names(t *testing.T, o *Overlay, now time.Duration, p wire.PeerID) (named []wire.PeerID) {
	t.Helper()
	hello := wire.Hello{Records: []wire.Record{{Peer: p, Envelope: []byte(p)}, {Peer: "other", Envelope: []byte("other")}}}
	for _, n := range refusal(t, o, now, p, hello).Peers {
		named = append(named, n.Record.Peer)
	}
	return named
}

// refusal returns an overlay's answer to a hello for which it has no room.
func refusal(t *testing.T, o *Overlay, now time.Duration, p wire.PeerID, hello wire.Hello) wire.Names {
	t.Helper()
	for _, e := range step(t, o, now, event.Asked{From: p, Request: 7, Question: hello}) {
		if a, ok := e.(event.Answer); ok && a.Request == 7 {
			return a.Answer.(wire.Names)
		}
	}
	t.Fatal("no answer")
	return wire.Names{}
}

// TestRefusedHello: a peer that finds no room hears of linked ones that are not full, and of those refused before it.
// Its own record is learned, and no other that it brings. So it is on a line that summaries have used up, too.
func TestRefusedHello(t *testing.T) {
	for _, used := range []int{0, 1 << 30} {
		t.Run(fmt.Sprint(used, " bytes used"), func(t *testing.T) { refusedHello(t, used) })
	}
}

func refusedHello(t *testing.T, used int) {
	o := alone(t, rand.New(rand.NewPCG(1, 9)), Config{Up: 100_000_000, Down: 100_000_000})
	o.exchange.Spend("linked", used)
	for _, p := range []wire.PeerID{"free", "full", "open"} {
		hears(o, p, wire.Hello{Full: p == "full", Records: []wire.Record{{Peer: p, Envelope: []byte(p)}}})
	}
	for i, c := range []struct {
		newcomer wire.PeerID
		want     []wire.PeerID // sorted
	}{
		{"first", []wire.PeerID{"free", "open"}},
		{"second", []wire.PeerID{"first", "free", "open"}},
		{"first", []wire.PeerID{"free", "open", "second"}},
	} {
		named := names(t, o, time.Duration(i)*time.Second, c.newcomer)
		slices.Sort(named)
		if !slices.Equal(named, c.want) {
			t.Errorf("%s hears of %q, want %q", c.newcomer, named, c.want)
		}
	}
	if o.directory.IsLinked("first") {
		t.Error("the refused peer is linked")
	}
}

// TestRefusedLink: a peer that is refused a link chooses those whom it hears of, and not the one that refused.
func TestRefusedLink(t *testing.T) {
	o := alone(t, rand.New(rand.NewPCG(1, 10)), Config{})
	hears(o, "full", wire.Hello{Records: []wire.Record{{Peer: "full", Envelope: []byte("full")}}})
	var named []wire.Named
	for i := range 3 {
		p := wire.PeerID(fmt.Sprint("named ", i))
		named = append(named, wire.Named{Record: wire.Record{Peer: p, Envelope: []byte(p)}})
	}
	inputs := append([]event.Input{event.LinkRefused{Peer: "full", Names: wire.Names{Peers: named}}, event.LinkClosed{Peer: "full"}}, slices.Repeat([]event.Input{event.Tick{}}, 8)...)
	var chosen []wire.PeerID
	for i, in := range inputs {
		for _, e := range step(t, o, time.Duration(i)*time.Second, in) {
			if c, ok := e.(event.Connect); ok {
				chosen = append(chosen, c.To.Peer)
			}
		}
	}
	slices.Sort(chosen)
	if want := []wire.PeerID{"named 0", "named 1", "named 2"}; !slices.Equal(chosen, want) {
		t.Errorf("chosen are %q, want %q", chosen, want)
	}
}

// TestRefusalIntroduces: a refusal that names nobody brings the summary of who refuses, once for each epoch. So a peer
// that finds no room anywhere knows whom to ask.
func TestRefusalIntroduces(t *testing.T) {
	full, newcomer := alone(t, rand.New(rand.NewPCG(1, 11)), Config{Self: "full"}), alone(t, rand.New(rand.NewPCG(1, 12)), Config{})
	hears(newcomer, "full", wire.Hello{})
	for i, brings := range []bool{true, false, true, false} {
		now := time.Duration(i) * time.Second
		if brings {
			own := plain.New("full", []summary.Fingerprint{1, 2, 3}, summary.Header{Epoch: summary.Epoch{Generation: 1, Sequence: uint32(1 + i)}})
			step(t, full, now, event.Published{Stream: own.Stream, Envelope: own.Envelope, Record: own.Record})
		}
		names := refusal(t, full, now, "self", wire.Hello{})
		if got := len(names.Introductions) == 1; got != brings {
			t.Fatalf("refusal %d brings %d summaries, want one: %v", i, len(names.Introductions), brings)
		}
		step(t, newcomer, now, event.LinkRefused{Peer: "full", Names: names})
		if e := newcomer.directory.Lookup("full"); e.Held() == nil || !e.Held().Contains(2) || e.Record().Envelope == nil {
			t.Errorf("after refusal %d, the newcomer does not know what the other holds, or where it is", i)
		}
	}
}
