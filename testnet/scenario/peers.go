package scenario

import (
	"fmt"
	"slices"
	"time"

	"github.com/venn-p2p/venn/summary"
	"github.com/venn-p2p/venn/testnet/strategy"
)

// Strategy returns s with the plan's peers that misbehave, have clocks that jump, or are of the version before. Both
// engines run the result in place of s. Errors match ErrScenario.
func (p *Plan) Strategy(s strategy.Strategy) (strategy.Strategy, error) {
	if slices.Contains(p.Older, true) && s.Older == nil {
		return s, p.source.fault("events", "%s has no version before this one", s.Name)
	}
	if len(p.Script.Changes) > 0 && s.Static {
		return s, p.source.fault("changes", "%s takes no notice of changes of collections", s.Name)
	}
	for i, a := range p.Scenario.Adversaries {
		if _, known := s.Adversaries[a.Kind]; !known && !OfAny(a.Kind) {
			return s, p.source.fault(fmt.Sprintf("adversaries.%d.kind", i), "%s has no adversaries of kind %s here", s.Name, a.Kind)
		}
	}
	out := s
	out.Open = func(w strategy.World) (strategy.Factory, error) {
		w.Collection = p.Claimed(w.Collection)
		factory, err := s.Open(w)
		if err != nil {
			return nil, err
		}
		return func(h strategy.Host) strategy.Peer { return p.peer(s, factory, h) }, nil
	}
	return out, nil
}

// peer makes a peer as the plan wants it.
func (p *Plan) peer(s strategy.Strategy, factory strategy.Factory, h strategy.Host) strategy.Peer {
	self := h.Self()
	kind := p.Adversaries[self]
	if kind == Silent {
		return silent{}
	}
	var own *clock
	if jumps := p.Jumps[self]; len(jumps) > 0 {
		own = &clock{Host: h, jumps: jumps}
		h = own
	}
	if kind == Censor || kind == Liar {
		h = dishonest{h, kind}
	}
	peer := factory(h)
	if p.Older[self] {
		peer = s.Older(peer)
	}
	if kind == FreeRider {
		peer = &freeRider{peer: peer, own: map[strategy.QueryID]bool{}}
	}
	if misbehaving := s.Adversaries[kind]; misbehaving != nil {
		peer = misbehaving(peer, p.Invented[self])
	}
	if own != nil {
		own.peer = peer
		peer = own
	}
	return peer
}

// Claimed returns a function for the keys that a peer claims: those of the function of. A liar adds as many random
// keys.
func (p *Plan) Claimed(of func(strategy.ID) []summary.Fingerprint) func(strategy.ID) []summary.Fingerprint {
	if !slices.Contains(p.Adversaries, Liar) {
		return of
	}
	return func(id strategy.ID) []summary.Fingerprint {
		fps := of(id)
		if p.Adversaries[id] != Liar {
			return fps
		}
		rng := p.random(acting, int(id))
		for range fps {
			fps = append(fps, p.Data.Key(uint32(rng.IntN(p.Data.Keys()))).Fingerprint)
		}
		slices.Sort(fps)
		return slices.Compact(fps)
	}
}

// silent is a peer that ignores everything it receives.
type silent struct{}

func (silent) Step(time.Duration, strategy.Input) {}

// dishonest is a host that gives its peer wrong answers about its collection, which the peer passes on.
type dishonest struct {
	strategy.Host
	kind string
}

// Holds denies a tenth of the keys at a censor. A liar's answers are right here: only its Look lies.
func (d dishonest) Holds(k strategy.Key) bool {
	if d.kind == Censor {
		return k.Fingerprint%10 != 0 && d.Host.Holds(k)
	}
	return d.Host.Holds(k)
}

// Look denies as Holds does at a censor, and answers yes to everything at a liar.
func (d dishonest) Look(q strategy.QueryID, k strategy.Key) bool {
	held := d.Host.Look(q, k)
	if d.kind == Censor {
		return held && k.Fingerprint%10 != 0
	}
	return true
}

// freeRider is a peer that does nothing for the queries of others.
type freeRider struct {
	peer strategy.Peer
	own  map[strategy.QueryID]bool
}

func (f *freeRider) Step(now time.Duration, in strategy.Input) {
	switch in := in.(type) {
	case strategy.Started:
		f.own[in.Query.ID] = true
	case strategy.Received:
		if q := in.Message.Query; q != 0 && !f.own[q] {
			return
		}
	}
	f.peer.Step(now, in)
}

// clock is a peer and its host with a clock that jumps ahead.
type clock struct {
	strategy.Host
	peer  strategy.Peer
	jumps []Jump
	now   time.Duration // time of the run
}

// ahead returns the time by which the clock is ahead at an instant of the run.
func (c *clock) ahead(now time.Duration) time.Duration {
	sum := time.Duration(0)
	for _, j := range c.jumps {
		if now >= j.At {
			sum += j.By
		}
	}
	return sum
}

// Step steps the peer at the time of its own clock.
func (c *clock) Step(now time.Duration, in strategy.Input) {
	c.now = now
	if s, ok := in.(strategy.Started); ok {
		s.Query.Deadline += c.ahead(now)
		in = s
	}
	c.peer.Step(now+c.ahead(now), in)
}

// Wake asks for a wake-up at a time of the peer's own clock.
func (c *clock) Wake(at time.Duration) { c.Host.Wake(at - c.ahead(c.now)) }
