package core

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/overlaylab"
	"github.com/venn-p2p/venn/overlay/tails"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/routing"
	"github.com/venn-p2p/venn/summary"
)

func sign([]byte) ([]byte, error) { return []byte("signature"), nil }

// chaos gives a machine what the bytes decide, and holds it to its invariants after every step.
func chaos(t *testing.T, data []byte) {
	c, cfg := overlaylab.NewChaos(data)
	rng := rand.New(rand.NewPCG(uint64(len(data)), uint64(data[0])))
	m, err := New(Config{Overlay: cfg, Routing: routing.Config{
		Self: cfg.Self, Has: func(k []byte) bool { return len(k) > 1 }, Rand: rng,
		Fingerprint: fingerprint,
	}, Tails: tails.Config{
		Sign:    sign,
		Verify:  func(string, []byte, []byte) error { return nil },
		Hides:   func(wire.PeerID) bool { return false },
		Sending: func(wire.PeerID) bool { return false },
	}})
	if err != nil {
		t.Fatal(err)
	}
	now, last := time.Duration(0), event.Input(nil)
	defer func() {
		if r := recover(); r != nil {
			panic(fmt.Sprintf("at %v, %T %+v: %v", now, last, last, r))
		}
	}()
	step := func(in event.Input) {
		last = in
		c.Saw(m.Step(now, in))
		if err := m.Check(); err != nil {
			t.Fatalf("at %v, after %T %+v: %v", now, in, in, err)
		}
	}
	for {
		passes, in, ok := c.Next()
		if !ok {
			return
		}
		now += passes
		step(in)
		if rng.IntN(3) == 0 {
			step(beside(rng, m, c, now))
		}
	}
}

// beside is an input of another machine than the overlay.
func beside(rng *rand.Rand, m *Machine, c *overlaylab.Chaos, now time.Duration) event.Input {
	peer := func() wire.PeerID { return wire.PeerID(fmt.Sprint("p", rng.IntN(12))) }
	key := []byte{byte(rng.IntN(3))}
	switch rng.IntN(8) {
	case 0:
		return routing.Start{Query: routing.Query{ID: routing.QueryID(1 + rng.Uint64N(1000)), Key: key, Deadline: now + time.Second, Mode: wire.Mode(rng.IntN(2)), Want: 1, Budget: rng.IntN(20)}}
	case 1:
		return event.Asked{
			Request: rng.Uint64(), From: peer(), Question: wire.Query{Key: key, Nonce: rng.Uint64(), Origin: peer(), Budget: rng.IntN(20), Hops: rng.IntN(4), Within: time.Second},
		}
	case 2:
		return tails.Changed{Added: []summary.Fingerprint{summary.Fingerprint(rng.Uint32())}}
	case 3, 4, 5:
		in := tails.Received{From: peer(), Waited: time.Duration(rng.IntN(3)) * time.Second}
		for range 1 + rng.IntN(4) {
			from, h := uint32(rng.IntN(4)), c.Origin().Stream.Header()
			if p, ok := m.Overlay.Held(peer()); ok {
				h = p.Header()
			}
			it := wire.TailItem{
				Group: wire.GroupOf(h), Short: rng.IntN(2) > 0, Number: uint32(rng.IntN(6)), Gap: rng.IntN(4) == 0, Direct: rng.IntN(2) > 0,
				Fed: rng.IntN(2) > 0, Wants: rng.IntN(2) > 0, Left: rng.IntN(8) == 0, Hides: rng.IntN(8) == 0,
			}
			for range rng.IntN(3) {
				tail := tails.NewTail(from+1+uint32(rng.IntN(2)), from, []summary.Fingerprint{summary.Fingerprint(rng.Uint32())}, nil)
				from = tail.Number()
				signed, err := tail.Sign(h, sign)
				if err != nil {
					panic(err)
				}
				it.Tails = append(it.Tails, signed.AppendSigned(nil))
			}
			in.Items = append(in.Items, it)
		}
		return in
	case 6:
		return []event.Input{event.Lost{Peer: peer(), Tails: true}, event.Unreachable{Peer: peer()}, tails.Leaving{}}[min(rng.IntN(50), 2)%3]
	}
	return event.Tick{}
}

var goOn = flag.Duration("chaos", 0, "how long TestChaos goes on with further seeds")

// A machine keeps its invariants whatever its links say, in whatever order, for hours.
func TestChaos(t *testing.T) {
	runs := uint64(100)
	if testing.Short() {
		runs = 10
	}
	for seed, begun := uint64(0), time.Now(); seed < runs || time.Since(begun) < *goOn; seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { chaos(t, overlaylab.ChaosBytes(seed, 3000)) })
	}
}

func FuzzChaos(f *testing.F) {
	for seed := range uint64(4) {
		f.Add(overlaylab.ChaosBytes(seed, 1000))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 0 {
			chaos(t, data[:min(len(data), 10_000)])
		}
	})
}
