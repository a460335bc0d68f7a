package tails

import (
	"fmt"
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay/agenda"
	"github.com/venn-p2p/venn/overlay/bound"
	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// TestEarlyIsCheap: it makes nothing to keep an early item while there is room, from whichever links, nor to refuse one
// while there is none.
func TestEarlyIsCheap(t *testing.T) {
	m, flood := flooded(20)
	m.early = make([]early, 0, maxTold)
	for range 2 {
		if made := testing.AllocsPerRun(maxTold-1, flood); made > 0 || len(m.early) != maxTold { // and once before
			t.Errorf("%d items kept, with %v allocations each", len(m.early), made)
		}
	}
	if err := m.Check(); err != nil {
		t.Error(err)
	}
}

// flooded returns a machine with links, and a function that has each in turn send an item of an epoch that nobody knows.
func flooded(links int, signed ...[]byte) (m *Machine, flood func()) {
	m = &Machine{now: time.Second}
	for _, p := range namesOf(links) {
		m.links = append(m.links, &link{peer: p})
	}
	n := 0
	return m, func() {
		n++
		m.keep(m.links[n%links], wire.TailItem{
			Group: wire.NewGroup(uint64(n), summary.Epoch{Sequence: 1}), Number: 1, Tails: signed,
		})
	}
}

// TestPositionsForgotten: origins that come and go, more than are noted of a link, leave room for the next.
func TestPositionsForgotten(t *testing.T) {
	known := map[wire.PeerID]summary.Header{}
	m := New(Config{
		Self: "self", Verify: func(string, []byte, []byte) error { return nil },
		Header: func(p wire.PeerID) (summary.Header, bool) { h, ok := known[p]; return h, ok },
		Room:   func(wire.PeerID) int { return 0 }, Pulse: func() time.Duration { return time.Hour },
		Rate: func(wire.PeerID) (out, in float64) { return 1 << 20, 1 << 20 },
	})
	m.Step(0, event.HelloReceived{Peer: "link", Hello: wire.Hello{Tails: true}})
	of := func(p wire.PeerID) uint64 { return wire.Tag(m.cfg.Seed, string(p)) }
	epoch := summary.Epoch{Sequence: 1}
	say := func(now time.Duration, peers ...wire.PeerID) {
		for _, p := range peers {
			m.Step(now, Received{From: "link", Items: []wire.TailItem{{Group: wire.NewGroup(of(p), epoch), Number: 7}}})
		}
	}
	const room = bound.Many + 2
	peers := namesOf(room + 1)
	stays, next := peers[0], peers[room]
	for _, p := range []wire.PeerID{stays, next} {
		known[p] = summary.Header{Origin: string(p), Epoch: epoch}
		m.Step(0, event.Learned{Origin: p})
	}
	say(time.Second, peers[:room]...)
	if say(time.Second, next); m.link("link").known[of(next)].number != 0 {
		t.Fatal("more is noted of a link than there is room for")
	}
	m.Step(2*agenda.Seldom, event.Tick{})
	say(2*agenda.Seldom, next)
	for _, p := range []wire.PeerID{stays, next} {
		if pos := m.link("link").known[of(p)]; pos.number != 7 {
			t.Errorf("%+v is noted of an origin that is known", pos)
		}
	}
	if n := len(m.link("link").known); n > 3 {
		t.Errorf("%d positions are noted, of 2 origins", n)
	}
	if err := m.Check(); err != nil {
		t.Error(err)
	}
}

// namesOf are the names of n peers, of 38 bytes as on real hosts.
func namesOf(n int) (out []wire.PeerID) {
	for i := range n {
		out = append(out, wire.PeerID(fmt.Sprintf("%038d", i)))
	}
	return out
}

// TestEarlyTailsBounded: of items with tails no more than 64 are kept, from however many links. A link that closes
// leaves its room to others.
func TestEarlyTailsBounded(t *testing.T) {
	m, flood := flooded(20, []byte{1})
	for range 1000 {
		flood()
	}
	if len(m.early) != 64 {
		t.Errorf("%d items with tails are kept, want 64", len(m.early))
	}
	m.closed(m.links[0].peer)
	if err := m.Check(); err != nil || len(m.early) >= 64 {
		t.Errorf("%d items are kept once one of the links is closed: %v", len(m.early), err)
	}
}
