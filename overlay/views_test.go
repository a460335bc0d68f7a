package overlay

import (
	"slices"
	"testing"

	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// checkViews compares what the overlay says of its directory with a look at all that it holds.
func checkViews(t *testing.T, w *world) {
	t.Helper()
	f := summary.Fingerprint(w.rng.IntN(3000))<<20 | 7
	var want []wire.PeerID
	sum := 0.0
	for _, s := range w.origins {
		p, ok := w.o.Held(wire.PeerID(s.record))
		if ok && p.Contains(f) {
			want = append(want, wire.PeerID(s.record))
		}
	}
	for _, e := range w.o.directory.Others() {
		if e != nil && e.Refuted() {
			continue
		}
		if e != nil && e.Held() != nil {
			sum += e.Held().FalsePositiveRate()
		} else if e != nil && !w.o.directory.Invented(e) {
			sum++
		}
	}
	got := w.o.Candidates(nil, f)
	for _, c := range got {
		if !slices.Contains(want, c.Peer) {
			t.Fatalf("%s is a candidate, want %v", c.Peer, want)
		}
	}
	if len(got) != len(want) || sum-w.o.FalseMatches() > 1e-9 || w.o.FalseMatches()-sum > 1e-9 {
		t.Fatalf("candidates %v, want %v; false matches %v, want %v", got, want, w.o.FalseMatches(), sum)
	}
}

// What the overlay says of its directory is what a look at all that is held says.
func TestViewsAgainstSlowTwin(t *testing.T) {
	for seed := range uint64(25) {
		w := newWorld(t, seed)
		var effects []event.Effect
		for range 40 {
			effects = w.step(effects)
			checkViews(t, w)
		}
	}
}
