package exchange

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay/agenda"
)

// TestTrain measures a line from the messages that follow each other at once, whatever pauses lie between trains.
func TestTrain(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, rate := range []float64{100_000, 1_000_000, 80_000_000} { // bit/s
		var tr train
		now := time.Duration(0)
		for range 40 {
			now += time.Duration(rng.IntN(int(time.Second))) // a pause
			messages := 1 + rng.IntN(4)
			for i := range messages {
				size := 200 + rng.IntN(8000)
				now += time.Duration(float64(8*size) / rate * float64(time.Second))
				tr.came(now, size, i < messages-1)
			}
		}
		if got := float64(tr.measured()); math.Abs(got/rate-1) > 0.01 {
			t.Errorf("measured %.0f bit/s of a line of %.0f", got, rate)
		}
	}
	var lone train
	for i := range 100 {
		lone.came(time.Duration(i)*time.Millisecond, 8000, false)
	}
	if lone.measured() != 0 {
		t.Error("messages that are no train were measured")
	}
}

func TestPace(t *testing.T) {
	p := newPace()
	for _, c := range []struct {
		measured uint64
		want     float64
	}{{0, FirstRate}, {50_000_000, 2e6}, {50_000_000, 4e6}, {5_000_000, 5e6}, {300_000, 300_000}, {1, leastRate}, {1e18, 2 * leastRate}} {
		if p.report(c.measured); p.rate != c.want {
			t.Errorf("%v bit/s measured: %v, want %v", c.measured, p.rate, c.want)
		}
	}
	const full = 1.0 / 3 * 8e6 / 8 // of a declared line
	rate := func() float64 { return p.of(100_000_000, 8_000_000, 1.0/3) }
	if rate() != full {
		t.Errorf("a declared line counts as %v", rate())
	}
	now := time.Minute
	for range 10 { // ten in one second count once
		p.lose(now)
	}
	if rate() != full/2 {
		t.Errorf("after a loss %v, want half of %v", rate(), full)
	}
	for range 20 {
		now += time.Second
		p.lose(now)
	}
	if rate() != full/16 {
		t.Errorf("after many %v, want a sixteenth of %v", rate(), full)
	}
	for i := range 10 {
		now += agenda.Lately
		p.regain(now)
		if want := full / max(1, math.Exp2(float64(3-i))); rate() != want {
			t.Errorf("%d times without losses: %v, want %v", i+1, rate(), want)
		}
	}
}
