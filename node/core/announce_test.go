package core

import (
	"fmt"
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay"
	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/tails"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// announcing drives a machine by its Wakes, and answers MakeEpoch and MakeTail as a driver does.
type announcing struct {
	t        *testing.T
	m        *Machine
	now      time.Duration
	wake     time.Duration
	building time.Duration // how long an epoch takes
	fails    bool          // no epoch can be made
	pending  map[time.Duration]event.Input
	keys     int
	changed  int
	sequence uint32
	made     []string // what was announced, and when
	watch    func(event.Effect)
}

func newAnnouncing(t *testing.T, keys int, c Config) *announcing {
	t.Helper()
	c.Tails.Sign = func([]byte) ([]byte, error) { return make([]byte, 64), nil }
	c.Tails.Verify = func(string, []byte, []byte) error { return nil }
	a := &announcing{t: t, m: machine(t, c), wake: never, keys: keys, building: time.Second, pending: map[time.Duration]event.Input{}}
	a.change(keys)
	return a
}

// change changes so many keys.
func (a *announcing) change(keys int) {
	a.changed += keys
	a.step(Changed{Waiting: a.changed, Many: a.changed > tails.MaxStep})
}

func (a *announcing) step(in event.Input) {
	var next []event.Input
	for _, e := range a.m.Step(a.now, in) {
		if a.watch != nil {
			a.watch(e)
		}
		switch e := e.(type) {
		case event.Wake:
			a.wake = e.At
		case MakeTail:
			var c tails.Changed
			for i := range a.changed {
				c.Added = append(c.Added, summary.Fingerprint(a.now)<<8+summary.Fingerprint(i))
			}
			a.made = append(a.made, fmt.Sprintf("%v tail %d", a.now, a.changed))
			a.changed = 0
			next = append(next, c)
		case MakeEpoch:
			a.made = append(a.made, fmt.Sprintf("%v epoch", a.now))
			if e.Seed == a.m.seed {
				a.changed = 0
			}
			at := a.now + a.building
			for a.pending[at] != nil {
				at++
			}
			a.pending[at] = a.epoch(e.Seed)
		}
	}
	for _, in := range next {
		a.step(in)
	}
}

func (a *announcing) epoch(seed summary.SeedTag) event.Input {
	if a.fails {
		return NotPublished{seed}
	}
	fps := make([]summary.Fingerprint, a.keys)
	for i := range fps {
		fps[i] = summary.Fingerprint(i) << 20
	}
	a.sequence++
	p, err := summary.Build(fps, summary.Header{
		Seed: seed, Origin: "self", Lifetime: Lifetime, Shape: summary.DefaultShape(a.keys), Epoch: summary.Epoch{Sequence: a.sequence},
	})
	if err != nil {
		a.t.Fatal(err)
	}
	return event.Published{Stream: p, Envelope: []byte{1}}
}

// run lets time pass until an instant.
func (a *announcing) run(until time.Duration) {
	for {
		next, in := max(a.wake, a.now), event.Input(event.Tick{})
		for at, p := range a.pending {
			if at <= next {
				next, in = at, p
			}
		}
		if next > until {
			a.now = until
			return
		}
		a.now = next
		delete(a.pending, next)
		if (in == event.Tick{}) {
			a.wake = never
		}
		a.step(in)
	}
}

func (a *announcing) want(made ...string) {
	a.t.Helper()
	if fmt.Sprint(a.made) != fmt.Sprint(made) {
		a.t.Fatalf("announced %v, want %v", a.made, made)
	}
	a.made = nil
}

// TestAnnounce: the first epoch comes half a second after the start, a few changes go in a tail at once, many in an
// epoch, and what came while an epoch was made waits for it.
func TestAnnounce(t *testing.T) {
	a := newAnnouncing(t, 1000, Config{})
	a.run(10 * time.Second)
	a.want("500ms epoch")
	a.change(3)
	a.want("10s tail 3")
	a.change(2)
	a.run(20 * time.Second)
	a.want("10.1s tail 2")
	a.change(tails.MaxStep + 1)
	a.run(20*time.Second + 800*time.Millisecond)
	a.want("20.5s epoch")
	a.change(4)
	a.run(30 * time.Second)
	a.want("21.5s tail 4")
}

// TestAnnounceCarried: what tails have carried, an epoch takes in two minutes later at most, and none is made before.
func TestAnnounceCarried(t *testing.T) {
	a := newAnnouncing(t, 1000, Config{})
	a.run(10 * time.Second)
	a.change(1)
	a.run(3 * time.Minute)
	a.want("500ms epoch", "10s tail 1", "2m10s epoch")
}

// TestAnnounceMoved: changed addresses have an epoch of their own.
func TestAnnounceMoved(t *testing.T) {
	a := newAnnouncing(t, 1000, Config{})
	a.run(10 * time.Second)
	a.step(Moved{})
	a.run(time.Minute)
	a.want("500ms epoch", "10.5s epoch")
}

// TestAnnounceFails: an epoch that could not be made is tried again.
func TestAnnounceFails(t *testing.T) {
	a := newAnnouncing(t, 1000, Config{Spacing: MostSpacing})
	a.fails = true
	a.run(30 * time.Second)
	a.fails = false
	a.run(2 * time.Minute)
	a.want("500ms epoch", "20.5s epoch", "40.5s epoch")
}

// TestAnnounceHides: while changes wait for an epoch, links hear that the summary does not show all. The tail or the epoch
// that shows the rest says no such thing.
func TestAnnounceHides(t *testing.T) {
	heard := map[bool]int{}
	a := newAnnouncing(t, 1000, Config{Tails: tails.Config{Hides: func(wire.PeerID) bool { return false }}})
	a.watch = func(e event.Effect) {
		if s, ok := e.(tails.Send); ok {
			for _, it := range s.Items {
				heard[it.Hides]++
			}
		}
	}
	link := func(p wire.PeerID) {
		a.step(event.LinkOpened{Peer: p})
		a.step(event.HelloReceived{Peer: p, Hello: wire.Hello{Tails: true}})
	}
	a.run(10 * time.Second)
	link("p")
	a.change(3)
	a.run(11 * time.Second)
	if heard[true] > 0 || heard[false] < 2 {
		t.Errorf("with a tail, links hear %v", heard)
	}
	a.change(tails.MaxStep + 1)
	clear(heard)
	link("q")
	a.run(12 * time.Second)
	if heard[true] == 0 || heard[false] > 0 {
		t.Errorf("until the epoch, links hear %v", heard)
	}
	clear(heard)
	a.run(13 * time.Second)
	if heard[true] > 0 || heard[false] == 0 {
		t.Errorf("with the epoch, links hear %v", heard)
	}
}

// TestAnnounceRotation: while a network rotates, there are epochs under both seeds. Those under the previous one cost
// a fiftieth of the time at most, and end with the rotation.
func TestAnnounceRotation(t *testing.T) {
	now, before := summary.Seed{Network: "net", Number: 2}, summary.Seed{Network: "net", Number: 1}
	a := newAnnouncing(t, 1000, Config{Overlay: overlay.Config{Seed: now.Tag(), Previous: before, PreviousUntil: 10 * time.Minute}})
	a.run(10 * time.Second)
	a.want("500ms epoch", "500ms epoch")
	a.change(500)
	a.run(3 * time.Minute)
	a.want("10.5s epoch", "50.50000005s epoch")
	a.run(10 * time.Minute)
	a.made = nil
	a.change(500)
	a.run(11 * time.Minute)
	a.want("10m0.5s epoch")
}

// TestSlept: an epoch is renewed when it is old, whatever part of that time the clock stood still.
func TestSlept(t *testing.T) {
	for _, slept := range []time.Duration{0, Lifetime / 6, Lifetime / 2, 100 * 365 * 24 * time.Hour} {
		a := newAnnouncing(t, 10, Config{})
		a.run(10 * time.Second)
		a.made = nil
		a.step(Slept{Time: slept})
		awake := max(10*time.Second, settle+Lifetime/2-slept)
		if a.run(awake - 1); awake > 10*time.Second && len(a.made) > 0 {
			t.Errorf("slept %v: %v before %v", slept, a.made, awake)
		}
		if a.run(awake); len(a.made) != 1 {
			t.Errorf("slept %v: %v at %v", slept, a.made, awake)
		}
	}
}
