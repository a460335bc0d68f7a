package topology

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay/agenda"
	"github.com/venn-p2p/venn/overlay/directory"
	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/space"
	"github.com/venn-p2p/venn/overlay/wire"
)

// strewn is a topology that may have some spread neighbours, and what it knows of many peers: their records.
func strewn(t *testing.T, most int) (*Topology, Known) {
	t.Helper()
	d := known()
	for i := range 200 {
		p, from := wire.PeerID(fmt.Sprint("peer", i)), wire.PeerID(fmt.Sprint("link", i%4))
		if fault := d.LearnRecord(0, from, wire.Record{Peer: p, Envelope: []byte(p)}); fault != "" {
			t.Fatalf("%q: %v", p, fault)
		}
	}
	top := New(Config{MaxLinks: 8, Spread: most, Rand: rand.New(rand.NewPCG(1, 1))}, d)
	return top, Known{Idle: func(wire.PeerID) bool { return true }, Parts: 3}
}

// chosen is how many spread neighbours there are, and how many neighbours of any kind in each part, after a round.
func chosen(t *testing.T, top *Topology, known Known, now time.Duration) (all int, in map[space.Range]int) {
	t.Helper()
	top.Choose(now, known)
	top.Acts()
	if err := top.Check(); err != nil {
		t.Fatal(err)
	}
	in = map[space.Range]int{}
	for p, nb := range top.neighbours {
		in[known.part(top.directory.Place(top.directory.Lookup(p)))]++
		if nb.kind == Spread {
			all++
		}
	}
	return all, in
}

// TestSpread: each part of the own range has one neighbour, as far as there may be so many, and one that goes is replaced.
// There are none where the own range is not far wider than others, and none outside of it.
func TestSpread(t *testing.T) {
	top, known := strewn(t, 100)
	none := known
	none.Parts = 0
	if n, _ := chosen(t, top, none, 0); n != 0 {
		t.Errorf("%d without parts", n)
	}
	chosen(t, top, known, time.Second) // half of them
	n, in := chosen(t, top, known, time.Second)
	if n != 8 || len(in) != 8 {
		t.Errorf("%d in %d parts, want one in each of 8", n, len(in))
	}
	if again, _ := chosen(t, top, known, time.Minute); again != n {
		t.Errorf("%d later, want %d", again, n)
	}
	for p := range top.neighbours {
		top.lose(p)
		break
	}
	if n, in = chosen(t, top, known, 2*time.Minute); n != 8 || len(in) != 8 {
		t.Errorf("%d in %d parts after one has gone, want one in each of 8", n, len(in))
	}

	few, known := strewn(t, 3)
	if n, in := chosen(t, few, known, 0); n != 3 || len(in) != 3 {
		t.Errorf("%d in %d parts, want 3 at most", n, len(in))
	}

	part, known := strewn(t, 100)
	half := space.Around(0, 1)
	known.Depth, known.Within = 1, func(e *directory.Entry) bool { return half.Contains(part.directory.Place(e)) }
	_, in = chosen(t, part, known, 0)
	for r := range in {
		if !half.Covers(r) {
			t.Errorf("one in %v, outside of the own range", r)
		}
	}
	if len(in) != 4 {
		t.Errorf("in %d parts of the own range, want 4", len(in))
	}
}

// TestSpreadTakesTime: where there are many parts, a few are filled in a round. Links that others have made count, and
// linked peers come first.
func TestSpreadTakesTime(t *testing.T) {
	top, known := strewn(t, 100)
	known.Parts = 5
	have := wire.PeerID("peer0")
	linked := wire.PeerID("peer1")
	for _, p := range []wire.PeerID{have, linked} {
		top.directory.Open(p, "")
	}
	top.add(0, have, neighbour{kind: Inbound, accepted: true})
	for round := range 6 {
		all, in := chosen(t, top, known, time.Duration(round)*time.Second)
		if want := min((round+1)*spreadAtOnce, 31); round < 3 && all != want || all > 31 {
			t.Errorf("round %d: %d, want %d", round, all, want)
		}
		if in[known.part(top.directory.Place(top.directory.Lookup(have)))] > 1 {
			t.Error("one is chosen where there is a link")
		}
		if kind, is := top.KindOf(linked); !is || kind != Spread {
			t.Errorf("round %d: the linked peer is a neighbour: %v, of kind %v", round, is, kind)
		}
	}
}

// TestSpreadBacksOff: where all whom a peer chooses have no room for it, it tries few. Once they have room, each part gets
// its neighbour.
func TestSpreadBacksOff(t *testing.T) {
	top, known := strewn(t, 100)
	run := func(from time.Duration, full bool) (tried int) {
		for now := from; now < from+20*time.Minute; now += time.Second {
			top.Choose(now, known)
			for _, a := range top.Acts() {
				if c, is := a.Effect.(event.Connect); is {
					tried++
					top.directory.Open(c.To.Peer, "")
					top.Hear(now, c.To.Peer, wire.Hello{Neighbour: !full, Full: full}, false)
				}
			}
			top.Acts()
			if err := top.Check(); err != nil {
				t.Fatal(err)
			}
		}
		return tried
	}
	if n := run(0, true); n < spreadAtOnce || n > 5*spreadAtOnce {
		t.Errorf("%d are tried in 20 minutes, want %d every 5 minutes", n, spreadAtOnce)
	}
	run(20*time.Minute, false)
	if n := top.count(Spread); n != known.parts() {
		t.Errorf("%d neighbours once there is room, want %d", n, known.parts())
	}
}

// TestRefused: who is refused as a neighbour hears that there is no room.
func TestRefused(t *testing.T) {
	for _, refuse := range []bool{false, true} {
		top := New(Config{MaxLinks: 8}, known())
		top.directory.Open(peer, "")
		top.Hear(0, peer, wire.Hello{Neighbour: true}, refuse)
		acts := top.Acts()
		if last := acts[len(acts)-1]; last.To != peer || last.Full != refuse || last.Neighbour == refuse || top.IsNeighbour(peer) == refuse {
			t.Errorf("refused %v: says %+v", refuse, last)
		}
	}
}

// TestSpreadPastDead: those who cannot be reached do not slow the choice down as those do who have no room.
func TestSpreadPastDead(t *testing.T) {
	top, known := strewn(t, 100)
	known.Parts = 5
	tried := 0
	for now := time.Duration(0); now < 2*time.Minute; now += time.Second {
		top.Choose(now, known)
		for _, a := range top.Acts() {
			if c, is := a.Effect.(event.Connect); is {
				if tried++; tried%4 != 0 {
					top.DialFailed(now, c.To.Peer)
					continue
				}
				top.directory.Open(c.To.Peer, "")
				top.Hear(now, c.To.Peer, wire.Hello{Neighbour: true}, false)
			}
		}
		top.Acts()
	}
	if n := top.count(Spread); n < 28 {
		t.Errorf("%d neighbours after two minutes in which three of four dials failed, want nearly %d", n, known.parts())
	}
}

// TestSpreadGoes: spread neighbours go, one a second, once they are of no use, but not those that are about to send
// something, and none soon after it was chosen.
func TestSpreadGoes(t *testing.T) {
	for name, narrow := range map[string]func(*Topology, *Known){
		"not far wider": func(_ *Topology, k *Known) { k.Parts = 0 },
		"outside": func(t *Topology, k *Known) {
			k.Depth, k.Within = 1, func(e *directory.Entry) bool { return space.Around(0, 1).Contains(t.directory.Place(e)) }
		},
	} {
		top, known := strewn(t, 100)
		chosen(t, top, known, 0) // half of them
		if n, _ := chosen(t, top, known, 0); n != 8 {
			t.Fatalf("%d spread neighbours, want 8", n)
		}
		for p := range top.neighbours {
			top.directory.Open(p, "")
			top.Hear(0, p, wire.Hello{Neighbour: true}, false)
		}
		top.Acts()
		narrow(top, &known)
		useless := func() (out []wire.PeerID) {
			for p, nb := range top.neighbours {
				if nb.kind == Spread && (known.Parts == 0 || !known.own(top.directory.Lookup(p))) {
					out = append(out, p)
				}
			}
			return out
		}
		all := useless()
		if len(all) < 4 {
			t.Fatalf("%s: %d are of no use, want 4 or more", name, len(all))
		}
		busy := all[0]
		known.Idle = func(p wire.PeerID) bool { return p != busy }
		if chosen(t, top, known, agenda.Faded-time.Second); len(useless()) != len(all) {
			t.Errorf("%s: one goes before %v", name, agenda.Faded)
		}
		for i := range all[1:] {
			if chosen(t, top, known, agenda.Faded+time.Duration(i)*time.Second); len(useless()) != len(all)-1-i {
				t.Errorf("%s: %d of %d are left after %d seconds, want one fewer each", name, len(useless()), len(all), i)
			}
		}
		chosen(t, top, known, 2*agenda.Faded)
		if left := useless(); len(left) != 1 || left[0] != busy {
			t.Errorf("%s: left are %q, want %q", name, left, busy)
		}
	}
}
