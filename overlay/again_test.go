package overlay

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/overlaylab/plain"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// TestRefusedLinesComeBack: a peer that refused lines because it was full asks for them when there is room. The peers
// asked announce all again.
func TestRefusedLinesComeBack(t *testing.T) {
	o := alone(t, rand.New(rand.NewPCG(1, 6)), Config{MaxOrigins: 8})
	linked(t, o, "liar")
	linked(t, o, "honest")
	x := plain.Of("x", []summary.Fingerprint{1, 2, 3})
	line := event.CatalogueReceived{From: "honest", Items: []wire.Item{{Group: wire.GroupOf(x.Stream.Header()), Have: 1}}, Bytes: 20}
	for i := range uint64(64) {
		step(t, o, 0, event.CatalogueReceived{From: "liar", Items: []wire.Item{{Group: wire.NewGroup(i+1, summary.Epoch{Generation: 1}), Have: 9}}, Bytes: 20})
	}
	step(t, o, 0, line)
	if o.directory.Tagged(wire.OriginTag("x")) != nil {
		t.Fatal("there is room for one more")
	}
	again := false
	in := event.Input(event.LinkClosed{Peer: "liar"})
	for now := time.Second; now < 2*time.Minute && !again; now += time.Second {
		again = slices.ContainsFunc(step(t, o, now, in), func(e event.Effect) bool {
			h, ok := e.(event.SayHello)
			return ok && h.To == "honest" && h.Hello.Again
		})
		in = event.Tick{}
	}
	if !again {
		t.Fatal("nobody is asked for what was refused")
	}
	step(t, o, 2*time.Minute, line)
	if o.directory.Tagged(wire.OriginTag("x")) == nil {
		t.Error("there is no room for it yet")
	}

	told := alone(t, rand.New(rand.NewPCG(1, 7)), Config{})
	linked(t, told, "asker")
	linked(t, told, "source")
	run, err := x.Stream.Run(0, 1)
	if err != nil {
		t.Fatal(err)
	}
	lines := func(until time.Duration, in event.Input) (n int) {
		for now := until - 10*time.Second; now <= until; now += time.Second {
			for _, e := range step(t, told, now, in) {
				if c, ok := e.(event.SendCatalogue); ok && c.To == "asker" {
					n += len(c.Items)
				}
			}
			in = event.Tick{}
		}
		return n
	}
	line.From = "source"
	step(t, told, 0, line)
	step(t, told, time.Second/2, event.Tick{})
	parts := event.PartsReceived{
		From: "source", Transport: event.Pubsub, Group: line.Items[0].Group, Bytes: 500, Parts: wire.Parts{Envelope: x.Envelope, Record: x.Record, Run: run},
	}
	if n := lines(11*time.Second, parts); n != 1 {
		t.Fatalf("told %d lines", n)
	}
	hello := event.HelloReceived{Peer: "asker", Hello: wire.Hello{Up: 10_000_000, Down: 10_000_000, Session: 1}}
	if n := lines(30*time.Second, hello); n != 0 {
		t.Errorf("told %d lines again, unasked", n)
	}
	hello.Hello.Again = true
	if n := lines(50*time.Second, hello); n != 1 {
		t.Errorf("told %d lines when asked to", n)
	}
}
