package directory

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/overlaylab/plain"
	"github.com/venn-p2p/venn/overlay/wire"
)

// related is what a link sends: parts first to end-1 of an origin, coded given the first parts of another.
func related(t *testing.T, of plain.Origin, first, end int, base plain.Origin, parts int) event.PartsReceived {
	t.Helper()
	r, err := of.Stream.RunRelative(first, end, base.Stream, parts)
	if err != nil {
		t.Fatal(err)
	}
	in := event.PartsReceived{From: "link", Group: wire.GroupOf(of.Stream.Header()), Parts: wire.Parts{Delta: r.Bytes}, Bytes: 100}
	if first == 0 {
		in.Envelope, in.Record = of.Envelope, of.Record
	}
	return in
}

// TestRelative takes in parts given the summary of another origin, from the first and from a later part on. Without the
// base nobody is at fault, and nothing changes.
func TestRelative(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	keys := plain.Keys(rng, 3000)
	like, of := plain.Of("like", keys[:2500]), plain.Of("of", keys[500:])
	all := of.Stream.Parts()
	d := alone(rng, Config{Memory: 1 << 20, MaxOrigins: 10})
	d.Open("link", "")
	e := d.Add(0, "link", wire.Tag(plain.Tag, "of"))
	take := func(in event.PartsReceived) Result { return d.Take(time.Second, e, in) }
	held := func() int {
		if e.Newest() == nil {
			return 0
		}
		return e.Newest().Parts()
	}

	whole := related(t, of, 0, all, like, like.Stream.Parts())
	if r := take(whole); !r.Unapplied || r.Fault != "" || held() != 0 {
		t.Errorf("without the base: %+v, %d parts", r, held())
	}
	if _, ok := hear(d, 0, "link", like); !ok {
		t.Fatal("the base is not taken in")
	}
	bare := related(t, of, 0, 1, like, 1)
	bare.Record = nil
	if r := take(bare); !r.Unapplied || r.Fault != "" || held() != 0 {
		t.Errorf("without a record, which is not held either: %+v, %d parts", r, held())
	}
	if r := take(related(t, of, 1, all, like, 1)); r.Fault != "" || r.Unapplied || held() != 0 {
		t.Errorf("later parts first: %+v, %d parts", r, held())
	}
	if r := take(related(t, of, 0, 1, like, 1)); r.Learned == nil || r.Learned.Delta != 0 || held() != 1 {
		t.Errorf("the first part: %+v, %d parts", r, held())
	}
	spoiled := related(t, of, 1, all, like, like.Stream.Parts())
	spoiled.Delta[len(spoiled.Delta)-1] ^= 1
	if r := take(spoiled); !r.Unapplied || !r.Unfit || r.Fault != "" || held() != 1 {
		t.Errorf("spoiled: %+v, %d parts", r, held())
	}
	spoiled.From = e.Peer()
	if r := take(spoiled); !r.Unapplied || r.Unfit || r.Fault != event.FaultDelta || held() != 1 {
		t.Errorf("spoiled by the origin: %+v, %d parts", r, held())
	}
	rest := related(t, of, 1, all, like, like.Stream.Parts())
	if r := take(rest); r.Learned == nil || r.End != all || held() != all || r.Learned.Bytes != len(rest.Delta) {
		t.Errorf("the other parts: %+v, %d parts", r, held())
	}
	if r := take(whole); r.Learned != nil || r.Fault != "" || held() != all {
		t.Errorf("again: %+v, %d parts", r, held())
	}
	if err := d.Check(time.Second); err != nil {
		t.Error(err)
	}
}
