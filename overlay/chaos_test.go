package overlay_test

import (
	"flag"
	"fmt"
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay"
	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/overlaylab"
)

// chaos gives an overlay what the bytes decide, and holds it to its invariants after every step.
func chaos(t *testing.T, data []byte) {
	c, cfg := overlaylab.NewChaos(data)
	o, err := overlay.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	now, last := time.Duration(0), event.Input(event.Tick{})
	defer func() {
		if r := recover(); r != nil {
			panic(fmt.Sprintf("at %v, %T %+v: %v", now, last, last, r))
		}
	}()
	for {
		passes, in, ok := c.Next()
		if !ok {
			return
		}
		now, last = now+passes, in
		c.Saw(o.Step(now, in))
		o.Contacts() // as searches do, which remembers some
		if err := o.Check(); err != nil {
			t.Fatalf("at %v, after %T %+v: %v", now, in, in, err)
		}
	}
}

var goOn = flag.Duration("chaos", 0, "how long TestChaos goes on with further seeds")

// An overlay keeps its invariants whatever its links say, in whatever order, for hours.
func TestChaos(t *testing.T) {
	runs := uint64(200)
	if testing.Short() {
		runs = 20
	}
	for seed, begun := uint64(0), time.Now(); seed < runs || time.Since(begun) < *goOn; seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { chaos(t, overlaylab.ChaosBytes(seed, 5000)) })
	}
}

func FuzzChaos(f *testing.F) {
	for seed := range uint64(8) {
		f.Add(overlaylab.ChaosBytes(seed, 1000))
	}
	f.Fuzz(func(t *testing.T, data []byte) { chaos(t, data[:min(len(data), 10_000)]) })
}
