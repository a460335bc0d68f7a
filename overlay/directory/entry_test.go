package directory

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay/overlaylab/plain"
)

// TestOverlapOutlivesEpochs: of origins that publish often, an overlap is estimated once a minute.
func TestOverlapOutlivesEpochs(t *testing.T) {
	var e Entry
	for _, c := range []struct {
		at    time.Duration
		again bool
	}{{0, true}, {59 * time.Second, false}, {time.Minute, true}, {61 * time.Second, false}} {
		e.judged = 3
		if e.outdateOverlap(c.at); (e.judged == 0) != c.again {
			t.Errorf("a new epoch at %v: estimated again: %v", c.at, e.judged == 0)
		}
	}
}

// TestWeight: what is learned of a peer like us is worth twice as much, of one that did not confirm less.
func TestWeight(t *testing.T) {
	var e Entry
	if w := e.Weight(); w != 1 {
		t.Errorf("a stranger weighs %v", w)
	}
	if e.overlap.value = 1; e.Weight() != 2 {
		t.Errorf("one that holds all that we hold weighs %v", e.Weight())
	}
	if e.misses = 3; e.Weight() != 0.5 {
		t.Errorf("with three misses it weighs %v", e.Weight())
	}
}

// TestOverdue: a newer epoch answers in place of a deeper one after 30 s, once it rules out every other key.
func TestOverdue(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 9))
	fps := plain.Keys(rng, 5000)
	e, p := Entry{state: Replaced, outdated: time.Minute}, plain.Of("origin", fps).Stream
	if e.overdue(90*time.Second-1, p) || !e.overdue(90*time.Second, p) {
		t.Error("not after 30 s")
	}
	for n := range p.Parts() {
		if q := p.Truncate(n); e.overdue(time.Hour, q) != (q.FalsePositiveRate() <= VagueRate) {
			t.Errorf("a rate of %.2f: %v", q.FalsePositiveRate(), e.overdue(time.Hour, q))
		}
	}
}

// TestRestore: parts that were dropped for want of memory are wanted again while a quarter of it is free.
func TestRestore(t *testing.T) {
	d := crowd(t, 20, 500)
	for _, c := range []struct {
		used float64
		want bool
	}{{0.8, false}, {0.7, true}} {
		d.trimmed, d.cfg.Memory = true, int(float64(d.Memory())/c.used)
		if d.restore(); d.trimmed == c.want {
			t.Errorf("with %.0f %% in use, restored: %v", 100*c.used, !d.trimmed)
		}
	}
}
