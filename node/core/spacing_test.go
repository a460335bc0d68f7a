package core

import (
	"fmt"
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay"
	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// TestSpacingBearsLinks: epochs to many linked peers take a quarter of the line at most, also while no other peer's
// summary is known.
func TestSpacingBearsLinks(t *testing.T) {
	const links, changes = 40, 10_000
	a := newAnnouncing(t, 1000, Config{})
	a.run(10 * time.Second)
	for i := range links {
		a.step(event.LinkOpened{Peer: wire.PeerID(fmt.Sprintf("p%02d", i))})
	}
	seconds := links * (epochBytes + changeBytes*changes) / (a.m.Overlay.LineOut() / 4)
	want := time.Duration(seconds * float64(time.Second))
	if got := a.m.spacing(changes); got != want || want <= LeastSpacing || want >= MostSpacing {
		t.Errorf("an epoch each %v with %d links, want %v", got, links, want)
	}
}

// TestPulse: links hear where the own tails are every 2 s, less often on slow lines, and every 30 s at least.
func TestPulse(t *testing.T) {
	for up, want := range map[uint64]time.Duration{100e6: 2 * time.Second, 64e3: 22500 * time.Millisecond, 8e3: 30 * time.Second} {
		a := newAnnouncing(t, 10, Config{Overlay: overlay.Config{Up: up, Down: up}})
		for i := range 20 {
			a.step(event.LinkOpened{Peer: wire.PeerID(fmt.Sprintf("p%02d", i))})
		}
		if got := a.m.pulse(); got.Round(time.Millisecond) != want {
			t.Errorf("a line of %d bit/s: every %v, want %v", up, got, want)
		}
	}
}

// TestSleptWhileRotating: while a network rotates, an epoch of either seed that grew old while the clock stood still is
// renewed.
func TestSleptWhileRotating(t *testing.T) {
	now, before := summary.Seed{Network: "net", Number: 2}, summary.Seed{Network: "net", Number: 1}
	a := newAnnouncing(t, 10, Config{Overlay: overlay.Config{Seed: now.Tag(), Previous: before, PreviousUntil: 10 * time.Hour}})
	a.run(2 * time.Minute)
	a.made = nil
	a.step(Slept{Time: Lifetime / 2})
	a.run(3 * time.Minute)
	if len(a.made) != 2 {
		t.Errorf("announced %v, want an epoch of either seed", a.made)
	}
}
