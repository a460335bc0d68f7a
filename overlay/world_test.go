package overlay

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/overlaylab/plain"
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
