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

// TestSleptWhileRotating: while a network rotates, an epoch of either seed that grew old while the clock stood still is
// renewed.
func TestSleptWhileRotating(t *testing.T) {
	now, before := summary.Seed{Network: "net", Number: 2}, summary.Seed{Network: "net", Number: 1}
	a := newAnnouncing(t, 10, Config{Overlay: overlay.Config{Seed: now.Tag(), Previous: before, PreviousUntil: 10 * time.Hour}})
	a.run(2 * time.Minute)
	a.made = nil
	a.step(Slept{For: renewal})
	a.run(3 * time.Minute)
	if len(a.made) != 2 {
		t.Errorf("announced %v, want an epoch of either seed", a.made)
	}
}
