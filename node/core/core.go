// Package core joins overlay and routing to one machine without I/O: what a driver, on libp2p or in a simulator, steps.
//
// The driver calls Step from one goroutine, with a time that never goes back. It carries out the effects, in order,
// before it steps again: they are valid until then. It steps a Tick no later than the last Wake says.
package core

import (
	"fmt"
	"slices"
	"time"

	"github.com/venn-p2p/venn/overlay"
	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/tails"
	"github.com/venn-p2p/venn/routing"
	"github.com/venn-p2p/venn/summary"
)

// Effect is an event.Effect, a tails.Effect or a routing.Effect, other than their Wakes and what one machine has for
// another; or MakeTail, MakeEpoch, Seek or Wake.
type Effect any

// Tick says only that time has passed.
type Tick struct{}

// Wake asks for a Tick at an instant, or soon after. It replaces the one before. It is the last effect of a Step.
type Wake struct{ At time.Duration }

// Machine is overlay, tails and routing. What routing learns of peers from confirmations goes to overlay; what tails
// say changed since a summary, routing sees as if it were in it.
type Machine struct {
	Overlay *overlay.Overlay
	Tails   *tails.Machine // nil: tails are neither made nor understood
	Routing *routing.Router

	seed          summary.SeedTag
	previousSeed  summary.SeedTag // that the network is rotating from, until previousUntil
	previousUntil time.Duration
	leastSpacing  time.Duration // between epochs
	announcer     announcer
	formats       formats

	now     time.Duration
	effects []Effect
	wakes   [5]wake // overlay's, routing's, tails', the announcer's, the formats'
	said    wake    // the last one returned
}

// wake is an instant, or none.
type wake struct {
	at time.Duration
	ok bool
}

// Config has the parameters of a [Machine].
type Config struct {
	Overlay overlay.Config
	Routing routing.Config // without Incomplete, the overlay's counts
	Tails   tails.Config   // Sign, Verify and Hides count; without Verify there are no tails

	Spacing time.Duration // least time between epochs, up to MostSpacing; 0: LeastSpacing
}

// New returns a machine that knows nothing yet. It returns what overlay.New or routing.New refuse.
func New(c Config) (*Machine, error) {
	o, r, t := c.Overlay, c.Routing, c.Tails
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
	m.formats = newFormats(o.Format)
	if t.Verify != nil {
		t.Self, t.Seed, t.Header, t.Room, t.Rate, t.Pulse = o.Self, o.Seed, m.header, m.room, ov.Rates, m.pulse
		m.Tails = tails.New(t)
	}
	if m.Routing, err = routing.New(r, view{ov, m}); err != nil {
		return nil, err
	}
	return m, nil
}

// Step takes in an event.Input, a tails.Input, a routing.Input, Changed, Moved, Slept, NotPublished, LinkLost, or a
// Tick (for all), and returns what is to be done.
func (m *Machine) Step(now time.Duration, in any) []Effect {
	clear(m.effects) // nothing keeps what they hold
	m.effects, m.now = m.effects[:0], now
	switch in := in.(type) {
	case Tick:
		m.overlay(now, event.Tick{})
		m.tails(now, tails.Tick{})
		m.routing(now, routing.Tick{})
	case event.Input:
		m.overlayHappened(in)
	case LinkLost:
		m.lost(in)
	case tails.Input:
		m.tails(now, in)
	case routing.Input:
		m.routing(now, in)
	case Changed:
		m.changed(in)
	case NotPublished:
		m.notPublished(in)
	case Moved:
		m.announcer.epochs.move(now)
	case Slept:
		m.slept(in.For)
	default:
		panic(fmt.Sprintf("core: input of type %T", in))
	}
	m.judgeFormats()
	m.announce()
	m.wakes[4] = m.formats.due()
	m.wakes[3] = m.announceDue()
	m.wake()
	return m.effects
}

// overlayHappened gives the overlay what happened to it, and then the other machines.
func (m *Machine) overlayHappened(in event.Input) {
	m.overlay(m.now, in)
	m.happened(m.now, in)
}

func (m *Machine) overlay(now time.Duration, in event.Input) {
	m.wakes[0].answered(now)
	for _, e := range m.Overlay.Step(now, in) {
		switch e := e.(type) {
		case event.Wake:
			m.wakes[0] = wake{e.At, true}
			continue
		case event.SayHello:
			e.Hello.Tails = m.Tails != nil
			m.effects = append(m.effects, e)
			continue
		case event.Learned:
			defer m.tails(now, tails.Learned{Origin: e.Origin})
		case event.ContactsNamed:
			defer m.routing(now, routing.ContactsNamed{ID: routing.QueryID(e.Search), Asked: e.Asked, Awaited: e.Awaited})
			continue
		}
		m.effects = append(m.effects, e)
	}
}

// happened passes the overlay's inputs on to the other machines.
func (m *Machine) happened(now time.Duration, in event.Input) {
	switch in := in.(type) {
	case event.Published:
		m.published(in.Stream.Header())
		m.tails(now, tails.Published{Header: in.Stream.Header()})
	case event.HelloReceived:
		m.heardFormat(in.Peer, in.Hello.Reads())
		m.routing(now, routing.Reached{Peer: in.Peer})
		if in.Hello.Tails && slices.Contains(m.Overlay.Linked(), in.Peer) {
			m.tails(now, tails.LinkOpened{Peer: in.Peer})
		}
	case event.LinkClosed:
		m.tails(now, tails.LinkClosed{Peer: in.Peer})
	case event.Lost:
		m.tails(now, tails.Lost{Peer: in.Peer})
	}
}

// tails gives the machine of tails an input. What it sends counts against the overlay's budgets. Another machine may
// have an answer at once that steps this one again: its effects are read before others are told.
func (m *Machine) tails(now time.Duration, in tails.Input) {
	if m.Tails == nil {
		return
	}
	m.wakes[2].answered(now)
	var charged []event.Charged
	var doubted []routing.Doubted
	for _, e := range m.Tails.Step(now, in) {
		switch e := e.(type) {
		case tails.Wake:
			m.wakes[2] = wake{e.At, true}
		case tails.Doubt:
			doubted = append(doubted, routing.Doubted{Peer: e.Peer})
		case tails.Report:
			m.effects = append(m.effects, event.Report{Peer: e.Peer, Fault: e.Fault})
		case tails.Advanced:
			m.effects = append(m.effects, e)
		case tails.Send:
			m.effects = append(m.effects, e)
			charged = append(charged, event.Charged{Peer: e.To, Bytes: e.Bytes})
		}
	}
	for _, c := range charged {
		m.overlay(now, c)
	}
	for _, d := range doubted {
		m.routing(now, d)
	}
}

// routing gives the router an input. As of tails, its effects are read before the overlay is told.
func (m *Machine) routing(now time.Duration, in routing.Input) {
	m.wakes[1].answered(now)
	var told []event.Input
	for _, e := range m.Routing.Step(now, in) {
		switch e := e.(type) {
		case routing.Wake:
			m.wakes[1] = wake{e.At, true}
		case routing.Outcome:
			told = append(told, event.Outcome{Peer: e.Peer, Hits: e.Hits, Misses: e.Misses})
		case routing.ContactOutcome:
			told = append(told, event.ContactAnswered(e))
		case routing.WantContacts:
			told = append(told, event.ContactsWanted{Search: uint64(e.ID), Ask: e.Ask})
		default:
			m.effects = append(m.effects, e)
		}
	}
	for _, t := range told {
		m.overlay(now, t)
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
