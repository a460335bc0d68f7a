package overlay

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/group"
	"github.com/venn-p2p/venn/overlay/overlaylab/plain"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

func alone(t testing.TB, rng *rand.Rand, cfg Config) *Overlay {
	t.Helper()
	if cfg.Self == "" {
		cfg.Self = "self"
	}
	cfg.Seed, cfg.Rand = plain.Tag, rng
	cfg.OpenHeader = summary.ParseHeader
	cfg.OpenRecord = plain.OpenRecord
	o, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := o.Check(); err != nil {
			t.Errorf("at the end: %v", err)
		}
	})
	return o
}

// fewEntries is up to how many entries of its directory an overlay is held to its invariants after every step: each
// check looks at all.
const fewEntries = 128

// step gives an overlay an input, and holds it to its invariants.
func step(t testing.TB, o *Overlay, now time.Duration, in event.Input) []event.Effect {
	t.Helper()
	effects := o.Step(now, in)
	if len(o.directory.Others()) <= fewEntries {
		if err := o.Check(); err != nil {
			t.Fatalf("at %v, after %T: %v", now, in, err)
		}
	}
	return effects
}

// world is an overlay with links and origins.
type world struct {
	t       testing.TB
	o       *Overlay
	rng     *rand.Rand
	origins []plain.Origin
	links   []wire.PeerID
	now     time.Duration
}

// step answers some of what was asked, announces something, and lets time pass.
func (w *world) step(effects []event.Effect) []event.Effect {
	rng := w.rng
	var answers []event.Input
	for _, e := range effects {
		c, ok := e.(event.SendCatalogue)
		if !ok || rng.IntN(5) == 0 {
			continue
		}
		for _, it := range c.Items {
			for _, s := range w.origins {
				p := s.Stream
				if it.Want <= it.Have || it.Group != group.Of(p.Header()) || int(it.Have) >= p.Parts() {
					continue
				}
				run, err := p.Run(int(it.Have), min(int(it.Want), p.Parts()))
				if err != nil {
					continue
				}
				in := event.PartsReceived{
					From: c.To, Group: it.Group, Bytes: Cost(wire.Parts{Run: run}), Parts: wire.Parts{Run: run},
				}
				if it.Have == 0 {
					in.Envelope, in.Record = s.Envelope, s.Record
				}
				answers = append(answers, in)
			}
		}
	}
	w.now += time.Duration(rng.IntN(300)) * time.Millisecond
	var out []event.Effect
	for _, in := range answers {
		out = append(out, step(w.t, w.o, w.now, in)...)
	}
	s := w.origins[rng.IntN(len(w.origins))]
	item := wire.Item{Group: group.Of(s.Stream.Header()), Have: uint16(1 + rng.IntN(s.Stream.Parts()))}
	out = append(out, step(w.t, w.o, w.now, event.CatalogueReceived{From: w.links[rng.IntN(len(w.links))], Items: []wire.Item{item}, Bytes: 100})...)
	if rng.IntN(10) == 0 {
		out = append(out, step(w.t, w.o, w.now, event.Outcome{Peer: wire.PeerID(s.Record), Hits: rng.IntN(3), Misses: rng.IntN(5)})...)
	}
	if rng.IntN(10) == 0 {
		out = append(out, step(w.t, w.o, w.now, event.RoundTrip{Peer: wire.PeerID(s.Record), RTT: time.Duration(rng.IntN(200)) * time.Millisecond})...)
	}
	return append(out, step(w.t, w.o, w.now, event.Tick{})...)
}
