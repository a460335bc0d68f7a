package core

import (
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay"
	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// next is a format that does not exist yet.
const next = wire.NewestFormat + 1

// nextVersion is the configuration of the next version.
var nextVersion = Config{Overlay: overlay.Config{Format: next}}

// TestFormats: a peer of the next version says so in its hellos. It writes the version before until all linked peers read
// the next one, and for a minute more. What it writes to one of them is in the newest format that both read.
func TestFormats(t *testing.T) {
	m := machine(t, nextVersion)
	m.Step(0, event.LinkOpened{Peer: "old"})
	if hello := last[event.SayHello](t, m.Step(0, event.LinkOpened{Peer: "new"})).Hello; hello.Reads() != next {
		t.Errorf("its hello says format %d, want %d", hello.Reads(), next)
	}
	m.Step(time.Second, event.HelloReceived{Peer: "old", Hello: wire.Hello{Session: 1}})
	m.Step(time.Second, event.HelloReceived{Peer: "new", Hello: wire.Hello{Session: 1, Format: next}})
	m.Step(time.Second, event.HelloReceived{Peer: "unlinked", Hello: wire.Hello{Session: 1}})
	for p, want := range map[wire.PeerID]wire.Format{"old": next - 1, "new": next, "unlinked": wire.FirstFormat} {
		if got := m.Overlay.Reads(p); got != want {
			t.Errorf("format %d is for %s, want %d", got, p, want)
		}
	}
	wants := func(at time.Duration, want wire.Format) {
		t.Helper()
		if m.Step(at, event.Tick{}); m.Writes() != want {
			t.Errorf("after %v it writes format %d, want %d", at, m.Writes(), want)
		}
	}
	wants(10*time.Minute, next-1)
	m.Step(10*time.Minute+time.Second, event.LinkClosed{Peer: "old"})
	wants(11*time.Minute-time.Second, next-1)
	wants(11*time.Minute, next)
	m.Step(13*time.Minute, event.HelloReceived{Peer: "unlinked", Hello: wire.Hello{Session: 1}})
	wants(13*time.Minute, next)
	m.Step(14*time.Minute, event.LinkOpened{Peer: "old"})
	wants(14*time.Minute, next)
	m.Step(14*time.Minute, event.HelloReceived{Peer: "old", Hello: wire.Hello{Session: 2}})
	wants(14*time.Minute, next-1)
}

// TestFormatsAlone: a peer without links writes what the version before reads, since it does not know who will come.
func TestFormatsAlone(t *testing.T) {
	m := machine(t, nextVersion)
	if m.Step(time.Hour, event.Tick{}); m.Writes() != next-1 {
		t.Errorf("it writes format %d", m.Writes())
	}
}

// TestFormatsRenew: a new epoch follows soon after the format of what is written for all changes.
func TestFormatsRenew(t *testing.T) {
	m := machine(t, nextVersion)
	m.Step(0, Changed{Waiting: 1})
	last[MakeEpoch](t, m.Step(time.Second, event.Tick{}))
	st, err := summary.Build([]summary.Fingerprint{1}, summary.Header{Origin: "self", Epoch: summary.Epoch{Generation: 1, Sequence: 1}, Lifetime: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	m.Step(time.Second, event.Published{Stream: st})
	m.Step(2*time.Second, event.LinkOpened{Peer: "new"})
	m.Step(2*time.Second, event.HelloReceived{Peer: "new", Hello: wire.Hello{Session: 1, Format: next}})
	for at := 3 * time.Second; at < 3*time.Minute; at += time.Second {
		for _, e := range m.Step(at, event.Tick{}) {
			if _, ok := e.(MakeEpoch); ok {
				if m.Writes() != next {
					t.Errorf("an epoch after %v, without a change", at)
				}
				return
			}
		}
	}
	t.Error("no epoch in the next format")
}
