package topology

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay/agenda"
	"github.com/venn-p2p/venn/overlay/wire"
)

// slotAfter says whether the only peer known, linked, keeps its slot for a time, if it accepts or does not.
func slotAfter(t *testing.T, within time.Duration, accepts bool, after time.Duration) bool {
	t.Helper()
	d := known()
	publish(t, d, 0, 1)
	top := New(Config{Random: 1, MaxLinks: 2, Rand: rand.New(rand.NewPCG(1, 1)), Accept: within}, d)
	idle := func(wire.PeerID) bool { return true }
	for now := time.Duration(0); now <= after; now += time.Second {
		top.Choose(now, Known{Idle: idle})
		if accepts {
			top.Hear(now, peer, wire.Hello{Neighbour: true}, false)
		}
		top.Acts()
		if err := top.Check(); err != nil {
			t.Fatal(err)
		}
	}
	return top.IsNeighbour(peer)
}

// A neighbour that never says that it accepts loses its slot, for a while.
func TestSlotOfWhoNeverAccepts(t *testing.T) {
	if !slotAfter(t, 0, true, 5*time.Minute) {
		t.Error("one that accepted lost its slot")
	}
	if slotAfter(t, 0, false, agenda.Lately) {
		t.Error("one that did not accept keeps its slot")
	}
	if !slotAfter(t, 0, false, agenda.Lately+agenda.Seldom) {
		t.Error("it is not tried again")
	}
	if !slotAfter(t, time.Hour, false, agenda.Lately+agenda.Seldom/2) {
		t.Error("it loses its slot with an hour to accept, too")
	}
}

// TestRandomSlotsFavourNobody: ids that sort first or last are no likelier than others to stay in a random slot when those
// that stood in go.
func TestRandomSlotsFavourNobody(t *testing.T) {
	const runs, stoodIn, stay = 1000, 8, 3
	rng := rand.New(rand.NewPCG(1, 1))
	kept := map[wire.PeerID]int{}
	for range runs {
		top := New(Config{Overlap: stoodIn - stay, Random: stay, MaxLinks: 2 * stoodIn, Rand: rng}, known())
		for i := range stoodIn {
			p := wire.PeerID(rune('a' + i))
			top.directory.Open(p, "")
			top.add(0, p, neighbour{kind: Random, accepted: true})
		}
		for i := range stoodIn - stay {
			top.add(0, wire.PeerID(rune('z'-i)), neighbour{kind: Similar, accepted: true})
			top.dropExtra(func(wire.PeerID) bool { return true })
		}
		for p, nb := range top.neighbours {
			if nb.kind == Random {
				kept[p]++
			}
		}
	}
	for i := range stoodIn {
		p := wire.PeerID(rune('a' + i))
		if n := kept[p]; n < runs*stay/stoodIn*4/5 || n > runs*stay/stoodIn*6/5 { // five standard deviations
			t.Errorf("%q stays in %d of %d runs, want about %d", p, n, runs, runs*stay/stoodIn)
		}
	}
}

// TestSlotsOfGroups: those who chose us share the places by their groups of addresses. Twelve peers of one party do not
// keep everybody else out.
func TestSlotsOfGroups(t *testing.T) {
	top := New(Config{Random: 1, MaxLinks: 13, Rand: rand.New(rand.NewPCG(1, 1))}, known())
	ask := func(p, of wire.PeerID) bool {
		top.directory.Open(p, string(of))
		top.Hear(0, p, wire.Hello{Neighbour: true}, false)
		if top.Acts(); top.count(Inbound) > 12 {
			t.Fatalf("%d chose us, of at most 12", top.count(Inbound))
		}
		if err := top.Check(); err != nil {
			t.Fatal(err)
		}
		return top.IsNeighbour(p)
	}
	for p := wire.PeerID("a"); p < "m"; p = wire.PeerID([]byte{p[0] + 1}) {
		if !ask(p, "party") {
			t.Fatalf("%q is refused, though there is room", p)
		}
	}
	if ask("m", "party") {
		t.Error("one more of the same party is taken")
	}
	taken := 0
	for p := wire.PeerID("A"); p < "Z"; p = wire.PeerID([]byte{p[0] + 1}) {
		if ask(p, "") {
			taken++
		}
	}
	if taken != 11 {
		t.Errorf("%d peers of no known group have places beside the party, want all but one", taken)
	}
}
