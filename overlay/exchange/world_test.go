package exchange

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay/directory"
	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/overlaylab/plain"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// world is an exchange and a directory with links and origins. A seed decides what is known and offered.
type world struct {
	d       *directory.Directory
	x       *Exchange
	out     event.Effects
	rng     *rand.Rand
	origins []plain.Origin
	links   []wire.PeerID
	now     time.Duration
	next    time.Duration // when time counts again
}

// anyNumber is the answer of a peer that may ask for any number of new origins.
func anyNumber() bool { return false }

// lone returns a world without links, on a line of the given rate.
func lone(rng *rand.Rand, rate uint64) *world {
	w := &world{d: emptyDirectory(rng), rng: rng}
	w.x = New(Config{
		Self: "self", Up: rate, Down: rate, DeclaredUp: rate, DeclaredDown: rate, Share: 1.0 / 3, Rand: rng,
	}, &w.out, w.d)
	return w
}

// meet has peers linked that say hello.
func (w *world) meet(h wire.Hello, peers ...wire.PeerID) {
	for _, p := range peers {
		w.give(0, event.LinkOpened{Peer: p})
		w.give(0, event.HelloReceived{Peer: p, Hello: h})
	}
}

// publish publishes a summary of our own.
func (w *world) publish(s plain.Origin) {
	w.give(0, event.Published{Envelope: s.Envelope, Record: s.Record, Stream: s.Stream})
}

// learn takes in the first parts of an origin from a peer.
func (w *world) learn(t *testing.T, from wire.PeerID, s plain.Origin, parts int) *origin {
	t.Helper()
	g := wire.GroupOf(s.Stream.Header())
	run, err := s.Stream.Run(0, parts)
	if err != nil {
		t.Fatal(err)
	}
	e := w.d.Invite(0, from, g.OriginTag())
	w.pass()
	r := w.d.Take(0, e, event.PartsReceived{
		From: from, Transport: event.Direct, Group: g, Parts: wire.Parts{Envelope: s.Envelope, Record: s.Record, Run: run},
	})
	if r.Learned == nil {
		t.Fatalf("%q is not taken in: %+v", s.Record, r)
	}
	w.pass()
	return w.x.originOf(e)
}

func newWorld(t testing.TB, seed uint64) *world {
	rng := rand.New(rand.NewPCG(seed, 5))
	rate := uint64(100_000 << rng.IntN(8))
	w := lone(rng, rate)
	keys := func(n int) (fps []summary.Fingerprint) {
		for i := range n {
			f := summary.Fingerprint(i)<<20 | 7 // some that all hold
			if rng.IntN(2) == 0 {
				f = summary.Fingerprint(rng.Uint64() >> 16)
			}
			fps = append(fps, f)
		}
		return fps
	}
	w.publish(plain.Of("self", keys(500)))
	for i := range 3 + rng.IntN(10) {
		w.origins = append(w.origins, plain.Of(wire.PeerID(fmt.Sprint("origin", i)), keys(1+rng.IntN(3000))))
	}
	for i := range 1 + rng.IntN(4) {
		p := wire.PeerID(fmt.Sprint("link", i))
		w.links = append(w.links, p)
		w.meet(wire.Hello{Up: uint64(100_000 << rng.IntN(8)), Down: rate, Session: 1}, p)
	}
	return w
}

// step lets time pass, and a turn happen.
func (w *world) step(last []event.Effect) (out []event.Effect) {
	w.now += time.Duration(w.rng.IntN(300)) * time.Millisecond
	for _, in := range plain.Turn(w.rng, w.origins, w.links, last, Cost) {
		out = append(out, w.give(w.now, in)...)
	}
	return out
}

func emptyDirectory(rng *rand.Rand) *directory.Directory {
	return directory.New(directory.Config{
		Self: "self", Seed: plain.Tag, Memory: 64 << 20, MaxOrigins: 1 << 17, Rand: rng, Compared: 12,
		OpenHeader: summary.ParseHeader, OpenRecord: plain.OpenRecord,
	})
}

// give passes an input on as package overlay does, as far as these tests need it.
func (w *world) give(now time.Duration, in event.Input) []event.Effect {
	w.out.Begin()
	switch in := in.(type) {
	case event.Published:
		w.x.Published(now, w.d.Publish(now, in).Index())
	case event.LinkOpened:
		w.d.Open(in.Peer, in.Group).Meshed = true
		w.pass()
	case event.HelloReceived:
		w.x.Hear(now, in.Peer, in.Hello)
	case event.CatalogueReceived:
		w.catalogue(now, in)
	case event.PartsReceived:
		w.x.Arrived(now, in, w.d.Foreign(in.Group.OriginTag()))
		if a, ok := w.x.Admit(in, w.d.Foreign(in.Group.OriginTag())); ok {
			r := w.d.Take(now, a.Entry(), in)
			w.pass()
			w.x.Took(now, a, r)
		}
	case event.Outcome:
		w.d.Outcome(now, in.Peer, in.Hits, in.Misses)
	case event.RoundTrip:
		w.d.RoundTrip(in.Peer, in.RTT)
	case event.Tick:
		if now < w.next {
			break
		}
		w.next = now + 200*time.Millisecond
		w.x.Refill(now)
		w.d.Step(now)
		w.d.Tidy(now)
		w.d.Estimate()
		w.pass()
		w.x.Round(now, anyNumber)
	}
	return append([]event.Effect(nil), w.out.List()...)
}

func (w *world) catalogue(now time.Duration, in event.CatalogueReceived) {
	w.x.Came(now, in.From, in.Bytes)
	for _, it := range in.Items {
		e := w.d.Add(now, in.From, it.Group.OriginTag())
		w.pass()
		w.x.Line(in.From, e.Index(), it)
	}
	w.x.ServeAtOnce(now, in.From)
}

func (w *world) pass() {
	for _, c := range w.d.Changes() {
		if c.Kind == directory.Added {
			w.x.Added(c.Entry, 0)
		} else {
			w.x.Changed(w.now, c)
		}
	}
}
