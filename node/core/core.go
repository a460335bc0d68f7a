// Package core joins overlay and routing to one machine without I/O: what a driver, on libp2p or in a simulator, steps.
//
// The driver owes it, in this order: to call Step from one goroutine, with a time that never goes back; to carry out the
// effects, in order, before it steps again (they are valid until then); to step a Tick at the latest when the last Wake says.
package core

import (
	"fmt"
	"time"

	"github.com/venn-p2p/venn/overlay"
	"github.com/venn-p2p/venn/routing"
)

// Effect is an overlay.Effect or a routing.Effect, other than their Wakes and routing.Outcome; or a Wake.
type Effect any

// Tick says only that time has passed.
type Tick struct{}

// Wake asks for a Tick at an instant, or soon after. It replaces the one before. It is the last effect of a Step.
type Wake struct{ At time.Duration }

// Machine is overlay and routing. What routing learns of peers from confirmations goes to overlay.
type Machine struct {
	Overlay *overlay.Overlay
	Routing *routing.Router

	effects []Effect
	wakes   [2]wake // overlay's, routing's
	said    wake    // the last one returned
}

// wake is an instant, or none.
type wake struct {
	at time.Duration
	ok bool
}

// New returns a machine that knows nothing yet. It returns what overlay.New or routing.New refuse.
func New(o overlay.Config, r routing.Config) (*Machine, error) {
	ov, err := overlay.New(o)
	if err != nil {
		return nil, err
	}
	if r.Incomplete == nil {
		r.Incomplete = ov.Incomplete
	}
	rt, err := routing.New(r, ov)
	if err != nil {
		return nil, err
	}
	return &Machine{Overlay: ov, Routing: rt}, nil
}

// Step takes in an overlay.Input, a routing.Input or a Tick (for both), and returns what is to be done.
func (m *Machine) Step(now time.Duration, in any) []Effect {
	m.effects = m.effects[:0]
	switch in := in.(type) {
	case Tick:
		m.overlay(now, overlay.Tick{})
		m.routing(now, routing.Tick{})
	case overlay.Input:
		m.overlay(now, in)
		if hello, ok := in.(overlay.HelloReceived); ok {
			m.routing(now, routing.Reached{Peer: hello.Peer})
		}
	case routing.Input:
		m.routing(now, in)
	default:
		panic(fmt.Sprintf("core: input of type %T", in))
	}
	m.wake()
	return m.effects
}

func (m *Machine) overlay(now time.Duration, in overlay.Input) {
	m.wakes[0].answered(now)
	for _, e := range m.Overlay.Step(now, in) {
		if w, ok := e.(overlay.Wake); ok {
			m.wakes[0] = wake{w.At, true}
			continue
		}
		m.effects = append(m.effects, e)
	}
}

func (m *Machine) routing(now time.Duration, in routing.Input) {
	m.wakes[1].answered(now)
	for _, e := range m.Routing.Step(now, in) {
		switch e := e.(type) {
		case routing.Wake:
			m.wakes[1] = wake{e.At, true}
		case routing.Outcome:
			m.overlay(now, overlay.Outcome{Peer: e.Peer, Hits: e.Hits, Misses: e.Misses})
		default:
			m.effects = append(m.effects, e)
		}
	}
}

// answered drops a wake that a Step at this time answers: every input lets time pass, not only a Tick.
func (w *wake) answered(now time.Duration) {
	if w.at <= now {
		*w = wake{}
	}
}

// wake adds the earlier of both Wakes if it is another than last time.
func (m *Machine) wake() {
	var next wake
	for _, w := range m.wakes {
		if w.ok && (!next.ok || w.at < next.at) {
			next = w
		}
	}
	if next.ok && next != m.said {
		m.effects = append(m.effects, Wake{next.at})
	}
	m.said = next
}
