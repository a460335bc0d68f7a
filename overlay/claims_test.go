package overlay_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay"
	"github.com/venn-p2p/venn/overlay/directory"
	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/exchange"
	"github.com/venn-p2p/venn/overlay/overlaylab"
	"github.com/venn-p2p/venn/overlay/topology"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/routing/match"
	"github.com/venn-p2p/venn/summary"
)

// scene is an overlay beside an honest link and a liar.
func scene(t *testing.T, origins, keys int, cfg overlay.Config) *overlaylab.Scene {
	t.Helper()
	s, err := overlaylab.NewScene(origins, keys, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// hello is what a link says.
func hello(p wire.PeerID, session uint32) event.Input {
	return event.HelloReceived{Peer: p, Hello: wire.Hello{Up: overlaylab.Fast, Down: overlaylab.Fast, Session: uint64(session)}}
}

// claim is a catalogue of a link.
func claim(p wire.PeerID, items []wire.Item) event.Input {
	return event.CatalogueReceived{From: p, Items: items, Bytes: 20 * len(items)}
}

// Claims of newer epochs that do not exist, be it in ever new sessions, do not keep the true ones from being learned.
func TestClaimsOfNewerEpochs(t *testing.T) {
	const origins = 240
	learned := func(every time.Duration, sessions bool, l exchange.Limits) int {
		s, seq := scene(t, origins, 20, overlay.Config{Limits: overlay.Limits{Exchange: l}}), uint32(0)
		for now := time.Duration(0); now <= time.Minute; now += overlaylab.Tick {
			if now%every == 0 {
				seq++
				if sessions {
					s.Step(now, hello(overlaylab.Liar, seq))
				}
				s.Step(now, claim(overlaylab.Liar, s.Items(&summary.Epoch{Generation: 9, Sequence: seq})))
			}
			if now == time.Second {
				s.Step(now, claim(overlaylab.Honest, s.Items(nil)))
			}
			s.Step(now, event.Tick{})
		}
		return s.Overlay.Origins()
	}
	for _, every := range []time.Duration{time.Second, 2 * time.Second, 3 * time.Second, 4 * time.Second, 5 * time.Second, 7 * time.Second} {
		for _, sessions := range []bool{false, true} {
			if n := learned(every, sessions, exchange.Limits{}); n != origins {
				t.Errorf("claims every %v, in new sessions %v: %d of %d origins are known", every, sessions, n, origins)
			}
		}
	}
	if n := learned(5*time.Second, false, exchange.Limits{Credit: math.Inf(1)}); n == origins {
		t.Error("without credit, nothing is gained by lying")
	}
	if n := learned(2*time.Second, true, exchange.Limits{Remember: -1}); n == origins {
		t.Error("without memory of sessions, nothing is gained by a new one")
	}
}

// A link that was asked first, and sends the first part again and again, does not keep its ask alive.
func TestAskLivesByGrowth(t *testing.T) {
	s := scene(t, 1, 5000, overlay.Config{})
	s.Step(0, claim(overlaylab.Liar, s.Items(nil)))
	for now := overlaylab.Tick; now <= time.Minute; now += overlaylab.Tick {
		if now == time.Second {
			s.Step(now, claim(overlaylab.Honest, s.Items(nil)))
		}
		if now%(3*time.Second) == 0 || now == 2*overlaylab.Tick {
			s.Step(now, s.Origins[0].Sent(overlaylab.Liar, 0, 1))
		}
		s.Step(now, event.Tick{})
	}
	all := s.Origins[0].Parts()
	if p, ok := s.Overlay.Held(s.Origins[0].ID); !ok || p.Parts() < all || all < 2 {
		t.Errorf("not all of %d parts are held", all)
	}
}

// Nobody is blamed for bringing what was asked for before its origin was forgotten or the link closed. What outlives the
// link does so by a limit.
func TestPartsThatComeLate(t *testing.T) {
	blamed := func(cfg overlay.Config, closes bool) int {
		s := scene(t, 1200, 50, cfg)
		var late []event.PartsReceived
		step := func(now time.Duration, in event.Input) { late = append(late, s.Asked(s.Overlay.Step(now, in))...) }
		items := s.Items(nil)
		for now := time.Second; now < 30*time.Second; now += overlaylab.Tick {
			due := late
			late = nil
			if closes && len(due) > 0 {
				step(now, event.LinkClosed{Peer: overlaylab.Honest})
				step(now, event.LinkOpened{Peer: overlaylab.Honest})
				step(now, event.Meshed{Peer: overlaylab.Honest, In: true})
				step(now, hello(overlaylab.Honest, 1))
			}
			n := min(8, len(items))
			step(now, claim(overlaylab.Honest, items[:n]))
			items = items[n:]
			for _, in := range due {
				step(now, in)
			}
			step(now, event.Tick{})
		}
		return s.Faults[event.FaultUnasked]
	}
	for name, c := range map[string]struct {
		memory   int
		closes   bool
		remember time.Duration
	}{"forgotten": {300_000, false, 0}, "closed": {0, true, 0}, "both": {300_000, true, 0}, "not remembered": {0, true, -1}} {
		limits := overlay.Limits{Exchange: exchange.Limits{Remember: c.remember}}
		if n := blamed(overlay.Config{Memory: c.memory, Limits: limits}, c.closes); (n == 0) != (c.remember == 0) {
			t.Errorf("%s: %d reports of a link that brought what it was asked", name, n)
		}
	}
}

// TestPartsAreOwedOnce: a link that was asked about an origin sends what it was asked, once. Known parts again, a later
// epoch and what comes an hour late are its fault, and nothing is remembered of what has come.
func TestPartsAreOwedOnce(t *testing.T) {
	s := scene(t, 1, 5000, overlay.Config{})
	step := func(now time.Duration, in event.Input) []event.PartsReceived { return s.Asked(s.Overlay.Step(now, in)) }
	faults := func() int { return s.Faults[event.FaultUnasked] }
	catalogue := claim(overlaylab.Honest, s.Items(nil))
	asked := append(step(time.Second, catalogue), step(time.Second+overlaylab.Tick, event.Tick{})...)
	if len(asked) != 1 {
		t.Fatalf("%d asks, want 1", len(asked))
	}
	var late []event.PartsReceived
	for range 100 {
		late = append(late, step(2*time.Second, asked[0])...)
	}
	n := faults()
	if n < 100-s.Origins[0].Parts() {
		t.Errorf("the answer came 100 times: %d reports, and there are %d parts", n, s.Origins[0].Parts())
	}
	later := s.Origins[0].Sent(overlaylab.Honest, 0, 1)
	later.Group = wire.NewGroup(later.Group.OriginTag(), summary.Epoch{Generation: 9})
	if step(3*time.Second, later); faults() != n+1 {
		t.Errorf("a later epoch, unasked: %d reports, want 1", faults()-n)
	}
	if late = append(late, step(4*time.Second, catalogue)...); len(late) == 0 {
		t.Fatal("nothing deeper is asked")
	}
	for now := 5 * time.Second; now < time.Hour; now += time.Second {
		step(now, event.Tick{})
	}
	if step(time.Hour, late[0]); faults() != n+2 {
		t.Errorf("an answer an hour late: %d reports, want 1", faults()-n-1)
	}
}

// TestFetchedOfForgottenOrigin: nobody is blamed for what comes on a stream that this node has opened, of an origin
// that it has forgotten meanwhile.
func TestFetchedOfForgottenOrigin(t *testing.T) {
	for way, want := range map[event.Transport]int{event.Direct: 0, event.Pubsub: 1} {
		s := scene(t, 1, 50, overlay.Config{})
		in := s.Origins[0].Sent(overlaylab.Honest, 0, 1)
		in.Transport = way
		s.Step(time.Second, in)
		if n := s.Faults[event.FaultUnasked]; n != want {
			t.Errorf("by transport %v: %d reports, want %d", way, n, want)
		}
	}
}

// TestBoastingLink: of four links one says that it knows a million peers. A directory of all 20 origins stays complete.
func TestBoastingLink(t *testing.T) {
	const known = 20
	incomplete := func(l exchange.Limits) bool {
		s := scene(t, known, 1000, overlay.Config{Limits: overlay.Limits{Exchange: l}})
		s.Link(0, "honest 2")
		s.Link(0, "honest 3")
		for _, p := range []wire.PeerID{"honest 2", "honest 3", overlaylab.Honest} {
			s.Step(0, claim(p, s.Items(nil)))
		}
		for now := overlaylab.Tick; now < time.Minute; now += overlaylab.Tick {
			s.Step(now, event.Tick{})
		}
		s.Step(time.Minute, event.HelloReceived{Peer: overlaylab.Liar, Hello: wire.Hello{Up: overlaylab.Fast, Down: overlaylab.Fast, Session: 1, Origins: 1 << 20}})
		return s.Overlay.Incomplete()
	}
	if incomplete(exchange.Limits{}) {
		t.Error("one link's boast makes the directory incomplete")
	}
	if !incomplete(exchange.Limits{Boasters: math.MaxInt}) {
		t.Error("nothing is gained by a boast that is heard")
	}
}

// TestClaimsOfKeys: a peer's summary has all keys of the searcher, and it holds none of those that an audit asks for.
// After two queries in vain it is passed over.
func TestClaimsOfKeys(t *testing.T) {
	asked := func(l directory.Limits) int {
		s := scene(t, 1, 1000, overlay.Config{Limits: overlay.Limits{Directory: l}})
		fps := overlaylab.Fingerprints(1000, 0, 0)
		own := overlaylab.NewOrigin("self", fps, summary.Header{})
		s.Step(0, event.Published{Envelope: own.Envelope, Record: own.Record, Stream: own.Stream})
		s.Step(0, claim(overlaylab.Honest, s.Items(nil)))
		now := time.Duration(0)
		for ; now < time.Minute; now += overlaylab.Tick {
			s.Step(now, event.Tick{})
		}
		claimant := s.Origins[0].ID
		for n := 1; n <= 100; n++ {
			for _, e := range s.Overlay.Step(now, event.Outcome{Peer: claimant, Misses: 1}) {
				if a, ok := e.(event.Audit); ok && a.Of.Peer == claimant {
					s.Step(now, event.Outcome{Peer: claimant, Misses: 20})
				}
			}
			c := s.Overlay.Candidates(nil, fps[0])
			if len(c) != 1 {
				t.Fatalf("%d peers match", len(c))
			}
			if match.Trust(c[0].Hits, c[0].Misses) < match.MinTrust {
				return n
			}
		}
		return 100
	}
	if n, loose := asked(directory.Limits{}), asked(directory.Limits{Answers: 1}); n > 2 || loose <= 2 {
		t.Errorf("passed over after %d queries, and after %d if one answer counts", n, loose)
	}
}

// TestHalfBoast: half of the network claims the keys of one peer, and holds none. After five minutes none of them has one
// of the peer's slots for overlap: those neighbours are audited.
func TestHalfBoast(t *testing.T) {
	if testing.Short() {
		t.Skip("takes half a minute")
	}
	const honests, boasters = 20, 20
	slots := func(l directory.Limits) (n int) {
		configs := make([]overlay.Config, honests+boasters)
		for i := range configs {
			configs[i] = overlay.Config{Up: overlaylab.Fast, Down: overlaylab.Fast, Limits: overlay.Limits{Directory: l}}
		}
		net, err := overlaylab.New(configs, 1)
		if err != nil {
			t.Fatal(err)
		}
		net.Unchecked = true
		rng := rand.New(rand.NewPCG(1, 1))
		for i, p := range net.Peers {
			fps := overlaylab.Fingerprints(1000, 300, uint64(i))
			if p.Boaster = i >= honests; p.Boaster {
				fps = overlaylab.Fingerprints(1000, 300, 0)
			}
			net.Publish(i, fps)
			for range min(i, 2) {
				net.Connect(i, rng.IntN(i))
			}
		}
		net.Run(5 * time.Minute)
		for _, nb := range net.Peers[0].Overlay.Neighbours() {
			if nb.Kind == topology.Similar && nb.Peer >= net.Peers[honests].ID {
				n++
			}
		}
		return n
	}
	if n, loose := slots(directory.Limits{}), slots(directory.Limits{Answers: 1}); n > 0 || loose == 0 {
		t.Errorf("boasters have %d slots, and %d if one answer counts", n, loose)
	}
}
