package core

import (
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/routing"
	"github.com/venn-p2p/venn/summary"
)

// fingerprint is one for all keys.
func fingerprint([]byte) summary.Fingerprint { return 1 }

// machine returns a machine of a peer without keys. It opens no header, and no record unless c says how.
func machine(t *testing.T, c Config) *Machine {
	t.Helper()
	refuse := errors.New("refused")
	c.Overlay.Self, c.Overlay.Rand = "self", rand.New(rand.NewPCG(1, 1))
	c.Overlay.OpenHeader = func([]byte) (summary.Header, error) { return summary.Header{}, refuse }
	if c.Overlay.OpenRecord == nil {
		c.Overlay.OpenRecord = func([]byte) (wire.PeerID, error) { return "", refuse }
	}
	c.Routing = routing.Config{Self: "self", Has: func([]byte) bool { return false }, Fingerprint: fingerprint, Rand: rand.New(rand.NewPCG(1, 2))}
	m, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func last[T any](t *testing.T, effects []event.Effect) (out T) {
	t.Helper()
	found := false
	for _, e := range effects {
		if e, ok := e.(T); ok {
			out, found = e, true
		}
	}
	if !found {
		t.Fatalf("no %T in %v", out, effects)
	}
	return out
}

// TestWake drives a machine by its Wakes alone: it ticks as often as overlay wants, and a query ends at its deadline.
func TestWake(t *testing.T) {
	m := machine(t, Config{})
	next := last[event.Wake](t, m.Step(0, event.LinkOpened{Peer: "p"})).At
	effects := m.Step(0, routing.Start{Query: routing.Query{ID: 1, Key: []byte("k"), Deadline: 3 * time.Second}})
	now, ended := time.Duration(0), time.Duration(-1)
	for steps := 0; now < 5*time.Second; steps++ {
		if steps > 200 {
			t.Fatalf("200 ticks until %v", now)
		}
		for _, e := range effects {
			switch e := e.(type) {
			case routing.Done:
				ended = now
			case event.Wake:
				next = e.At
			}
		}
		if next < now {
			t.Fatalf("at %v: wake at %v", now, next)
		}
		now = max(next, now+time.Millisecond)
		effects = m.Step(now, event.Tick{})
	}
	if ended < 0 || ended > 3*time.Second+time.Millisecond {
		t.Errorf("the query ended at %v", ended)
	}
}

func TestConfigErrors(t *testing.T) {
	if _, err := New(Config{}); err == nil {
		t.Error("an empty overlay configuration is accepted")
	}
}

func TestUnknownInput(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	machine(t, Config{}).Step(0, unknown{})
}

// unknown is an input that concerns no machine.
type unknown struct{}

func (unknown) For() event.Machines { return 0 }
