// Package core joins overlay, tails and routing into one machine without I/O. A driver steps it, on libp2p or in a
// simulator.
//
// The driver calls Step from one goroutine, with a time that never goes back. It carries out the effects, in order,
// before the next Step: they are valid only until then. It steps an event.Tick at the time of the last event.Wake, at
// the latest.
package core

import (
	"fmt"
	"time"

	"github.com/venn-p2p/venn/overlay"
	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/tails"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/routing"
	"github.com/venn-p2p/venn/summary"
)

// stepped is one of the core's machines: overlay, tails or routing.
type stepped interface {
	Step(now time.Duration, in event.Input) []event.Effect
}

// Machine joins overlay, tails and routing. Routing tells the overlay which confirmations succeeded and which failed.
// To routing, the changes in tails look as if they were in the summaries.
type Machine struct {
	Overlay *overlay.Overlay
	Tails   *tails.Machine // nil: the peer neither makes nor reads tails
	Routing *routing.Router

	seed          summary.SeedTag
	previousSeed  summary.SeedTag // the seed that the network is rotating from, until previousUntil
	previousUntil time.Duration
	leastSpacing  time.Duration // configured least time between epochs
	announcer     announcer

	now      time.Duration
	machines [3]stepped // in the order of event.Machines; nil: not there
	effects  []event.Effect
	wakes    [4]wake // next wake of each machine, and of the announcer
	said     wake    // the last wake returned as an event.Wake
}

// wake is an instant, or none.
type wake struct {
	at time.Duration
	ok bool
}

// Config has the parameters of a [Machine].
type Config struct {
	Overlay overlay.Config
	Routing routing.Config // if Incomplete is nil, it is the overlay's
	Tails   tails.Config   // New sets Self, Seed, Header, Room, Rate, Pulse, and extends Hides; Verify nil: no tails

	Spacing time.Duration // least time between epochs, up to MostSpacing; 0: LeastSpacing
}

// New returns a machine that knows nothing yet. Its errors are those of overlay.New and routing.New.
func New(c Config) (*Machine, error) {
	o, r, t := c.Overlay, c.Routing, c.Tails
	o.Tails = t.Verify != nil
	ov, err := overlay.New(o)
	if err != nil {
		return nil, err
	}
	if r.Incomplete == nil {
		r.Incomplete = ov.Incomplete
	}
	m := &Machine{
		Overlay: ov, seed: o.Seed, previousSeed: o.Previous.Tag(), previousUntil: o.PreviousUntil, leastSpacing: c.Spacing,
	}
	m.announcer.previous.spacing = MostSpacing
	if t.Verify != nil {
		t.Self, t.Seed, t.Header, t.Room, t.Rate, t.Pulse = o.Self, o.Seed, m.header, m.room, ov.Rates, m.pulse
		if hides := t.Hides; hides != nil {
			t.Hides = func(to wire.PeerID) bool { return m.announcer.untold() || hides(to) }
		}
		m.Tails = tails.New(t)
		m.machines[1] = m.Tails
	}
	if m.Routing, err = routing.New(r, view{ov, m}); err != nil {
		return nil, err
	}
	m.machines[0], m.machines[2] = ov, m.Routing
	return m, nil
}

// Step handles an input, and returns the effects to carry out: those of the machines, MakeTail, MakeEpoch and Seek. If
// the next wake-up time changed, an event.Wake comes last. Effects that are inputs of other machines do not reach the
// driver, unless they are also for it (event.Driver).
func (m *Machine) Step(now time.Duration, in event.Input) []event.Effect {
	clear(m.effects) // so that nothing keeps what the effects hold in memory
	m.effects, m.now = m.effects[:0], now
	m.happened(in)
	m.announce()
	m.wakes[3] = m.announceDue()
	m.wake()
	return m.effects
}

// happened gives an input to the machines that it is for. The hello of a peer without a link is for none of them.
func (m *Machine) happened(in event.Input) {
	if in.For() == 0 {
		panic(fmt.Sprintf("core: input of type %T", in))
	}
	if h, ok := in.(event.HelloReceived); ok && !m.Overlay.IsLinked(h.Peer) {
		return
	}
	m.noteMade(in)
	for i := range m.machines {
		if in.For()>>i&1 == 1 && m.machines[i] != nil {
			m.step(i, in)
		}
	}
	if in.For()&event.Core != 0 {
		m.take(in)
	}
}

// take handles inputs for the core itself.
func (m *Machine) take(in event.Input) {
	switch in := in.(type) {
	case LinkLost:
		m.lost(in)
	case Changed:
		m.changed(in)
	case NotPublished:
		m.notPublished(in)
	case Moved:
		m.announcer.epochs.move(m.now)
	case Slept:
		m.slept(in.Time)
	case event.Answered:
		m.answered(in)
	}
}

// step gives one machine an input. It reads all effects before it passes any of them to another machine as an input:
// that machine may answer at once, which steps this one again.
func (m *Machine) step(i int, in event.Input) {
	m.wakes[i].answered(m.now)
	var told []event.Input
	for _, e := range m.machines[i].Step(m.now, in) {
		if w, ok := e.(event.Wake); ok {
			m.wakes[i] = wake{w.At, true}
			continue
		}
		in, ok := e.(event.Input)
		if ok {
			told = append(told, in)
		}
		if !ok || in.For()&event.Driver != 0 {
			m.effects = append(m.effects, e)
		}
	}
	for _, in := range told {
		m.happened(in)
	}
}

// answered removes a wake whose time has come, because a Step at that time answers it. Every input lets time pass, not
// only a Tick.
func (w *wake) answered(now time.Duration) {
	if w.at <= now {
		*w = wake{}
	}
}

// wake adds an event.Wake for the earliest of the wakes, if it differs from the last one returned.
func (m *Machine) wake() {
	var next wake
	for _, w := range m.wakes {
		if w.ok && (!next.ok || w.at < next.at) {
			next = w
		}
	}
	if next.ok && next != m.said {
		m.effects = append(m.effects, event.Wake{At: next.at})
	}
	m.said = next
}
