package topology

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay/agenda"
	"github.com/venn-p2p/venn/overlay/directory"
	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/overlaylab/plain"
	"github.com/venn-p2p/venn/overlay/region"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// street is a topology among peers of which a test says what they hold. Whoever is dialled accepts.
type street struct {
	t     *testing.T
	d     *directory.Directory
	top   *Topology
	known Known
	own   []summary.Fingerprint
	in    map[wire.PeerID]bool // the peers of our range
}

func newStreet(t *testing.T, cfg Config) *street {
	t.Helper()
	cfg.Rand = rand.New(rand.NewPCG(1, 1))
	s := &street{t: t, d: known(), in: map[wire.PeerID]bool{}}
	s.top = New(cfg, s.d)
	s.own = plain.Keys(cfg.Rand, 200)
	o := summaryOf("self", 1, s.own)
	s.d.Publish(0, event.Published{Stream: o.Stream, Envelope: o.Envelope, Record: o.Record})
	s.known.Idle = func(wire.PeerID) bool { return true }
	return s
}

// ranged narrows our range to the peers given.
func (s *street) ranged(in ...wire.PeerID) {
	clear(s.in)
	for _, p := range in {
		s.in[p] = true
	}
	s.known.Within = func(e *directory.Entry) bool { return s.in[e.Peer()] }
}

// meet brings peers that hold a share of our keys in percent; -1: their record alone.
func (s *street) meet(now time.Duration, share int, all ...wire.PeerID) {
	s.t.Helper()
	for _, p := range all {
		if share < 0 {
			s.d.LearnRecord(now, peer, wire.Record{Peer: p, Envelope: []byte(p)})
			continue
		}
		o := summaryOf(p, 1, append(plain.Keys(s.top.cfg.Rand, 100), s.own[:2*share]...))
		in := o.Sent(peer, 0, o.Parts())
		if r := s.d.Take(now, s.d.Add(now, peer, in.Group.OriginTag()), in); r.Learned == nil {
			s.t.Fatalf("%q: %+v", p, r)
		}
	}
	for s.d.Estimate() {
		s.top.Estimated(now)
	}
}

// choose lets the topology choose, carries out what it wants, and returns that in words.
func (s *street) choose(now time.Duration) string {
	s.t.Helper()
	s.top.Choose(now, s.known)
	var did []string
	for _, a := range slices.Clone(s.top.Acts()) {
		switch e := a.Effect.(type) {
		case nil:
			did = append(did, "greets "+string(a.To))
		case event.Connect:
			did = append(did, "dials "+string(e.To.Peer))
			s.d.Open(e.To.Peer, "")
			s.top.Hear(now, e.To.Peer, wire.Hello{Neighbour: true}, false)
		case event.Disconnect:
			did = append(did, "drops "+string(e.Peer))
			if !s.top.IsNeighbour(e.Peer) {
				s.d.Close(e.Peer)
			}
		case event.Audit:
			did = append(did, "audits "+string(e.Of.Peer))
		}
	}
	s.top.Acts()
	if err := s.top.Check(); err != nil {
		s.t.Fatal(err)
	}
	return strings.Join(did, ", ")
}

// String names the neighbours of each kind.
func (s *street) String() string {
	var out []string
	for _, p := range slices.Sorted(maps.Keys(s.top.neighbours)) {
		out = append(out, fmt.Sprintf("%s %s", p, s.top.neighbours[p].kind))
	}
	return strings.Join(out, ", ")
}

// want holds a choice to what it does, and to the neighbours after it. "?" stands for whatever chance decides.
func (s *street) want(now time.Duration, did, neighbours string) {
	s.t.Helper()
	if got := s.choose(now); got != did && did != "?" {
		s.t.Errorf("%v: %q, want %q", now, got, did)
	}
	if got := s.String(); got != neighbours && neighbours != "?" {
		s.t.Errorf("%v: neighbours are %q, want %q", now, got, neighbours)
	}
}

// TestSlots: random neighbours, two a second, fill all slots until the samples are in. Then the slots by overlap and
// for a short round trip go to the best, by taking over those that stood in. Who is like us is audited ever more
// rarely.
func TestSlots(t *testing.T) {
	s := newStreet(t, Config{Overlap: 1, Near: 1, Random: 1, MaxLinks: 4})
	s.meet(0, 90, "alike")
	s.meet(0, 10, "close", "other")
	for p, rtt := range map[wire.PeerID]time.Duration{"alike": 30, "close": 1, "other": 20} {
		s.d.RoundTrip(p, rtt*time.Millisecond)
	}
	if s.choose(0); s.top.count(Random) != connectsATime {
		t.Errorf("%v in the first second, want %d random", s, connectsATime)
	}
	s.want(agenda.Beat, "?", "alike random, close random, other random")
	const chosen = "alike overlap, close near, other random"
	s.want(region.Settled, "audits alike", chosen)
	audit := region.Settled
	for _, next := range []time.Duration{agenda.Faded, 2 * agenda.Faded} {
		s.want(audit+next-1, "", chosen)
		s.want(audit+next, "audits alike", chosen)
		audit += next
	}
}

// TestBestFirst: of many who are like us the best come first, two a second.
func TestBestFirst(t *testing.T) {
	s := newStreet(t, Config{Overlap: 4, Random: 1, MaxLinks: 8})
	for i, p := range []wire.PeerID{"90", "70", "50", "30", "10"} {
		s.meet(0, 90-20*i, p)
	}
	s.want(region.Settled, "dials 90, dials 70", "70 overlap, 90 overlap")
	s.want(region.Settled+agenda.Beat, "dials 50, dials 30, audits 70, audits 90", "30 overlap, 50 overlap, 70 overlap, 90 overlap")
}

// TestChoiceWaits: neighbours by overlap wait until samples are in: 4 s after the start and the last news, or 20 s
// after the start. While the range may change there are none.
func TestChoiceWaits(t *testing.T) {
	const news = 3 * time.Second
	for name, c := range map[string]struct {
		begin, news, at time.Duration
		starting        bool
		want            Kind
	}{
		"too soon":     {agenda.Seldom, 0, agenda.Seldom + region.Settled - 1, false, Random},
		"begun late":   {agenda.Seldom, 0, agenda.Seldom + region.Settled, false, Similar},
		"after news":   {0, news, news + region.Settled - 1, false, Random},
		"news are old": {0, news, news + region.Settled, false, Similar},
		"always news":  {0, latestChoice, latestChoice, false, Similar},
		"starting":     {0, 0, latestChoice, true, Random},
	} {
		s := newStreet(t, Config{Overlap: 1, Random: 5, MaxLinks: 7})
		s.top.Begin(c.begin)
		s.meet(0, 90, "alike")
		s.known.Starting = c.starting
		s.choose(0)
		s.meet(c.news, 10, "news")
		s.choose(c.at)
		if got, _ := s.top.KindOf("alike"); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// TestSwap: a neighbour by overlap that has been one for 10 s gives way to a peer that clearly holds more. In a range
// it stays for ten minutes. A swap that came too soon is looked for a minute later.
func TestSwap(t *testing.T) {
	for name, c := range map[string]struct {
		cfg      Config
		ranged   bool
		news, at time.Duration
	}{
		"soon":    {Config{Overlap: 1, Random: 1, MaxLinks: 2}, false, 5 * time.Second, 5*time.Second + region.Settled + agenda.Seldom},
		"later":   {Config{Overlap: 1, Random: 1, MaxLinks: 2}, false, agenda.Lately, agenda.Lately + region.Settled},
		"a range": {Config{Overlap: 2, Random: 4, MaxLinks: 6}, true, agenda.Lately, agenda.Lately + region.Settled + 10*agenda.Seldom},
	} {
		s := newStreet(t, c.cfg)
		if c.ranged {
			s.ranged()
		}
		s.meet(0, 10, "few")
		for now := time.Duration(0); now < c.at; now += agenda.Beat {
			if now == c.news {
				s.meet(now, 90, "many")
			}
			if s.choose(now); now >= region.Settled && s.top.neighbours["few"].kind != Similar {
				t.Fatalf("%s: %v at %v, want a swap at %v", name, s, now, c.at)
			}
		}
		s.choose(c.at)
		if k, _ := s.top.KindOf("many"); k != Similar {
			t.Errorf("%s: %v at %v, want a swap", name, s, c.at)
		}
	}
}

// TestRefutedGoes: a neighbour by overlap whose claims are refuted goes at once, and may have a random slot a minute
// later.
func TestRefutedGoes(t *testing.T) {
	s := newStreet(t, Config{Overlap: 1, Random: 1, MaxLinks: 3})
	s.meet(0, 90, "liar")
	s.choose(region.Settled)
	s.want(region.Settled+agenda.Beat, "audits liar", "liar overlap")
	if !s.d.Outcome(agenda.Lately, "liar", 0, 20) {
		t.Fatal("20 misses refute nobody")
	}
	s.top.Refuted(agenda.Lately)
	s.want(agenda.Lately, "greets liar, drops liar", "")
	if len(s.top.audits) != 0 {
		t.Errorf("audited before: %v", s.top.audits)
	}
	s.want(agenda.Lately+agenda.Seldom-1, "", "")
	s.want(agenda.Lately+agenda.Seldom, "dials liar", "liar random")
}

// TestStandInsGo: random neighbours that stood in for others go once these have accepted, one a second. Who is about to
// send something stays.
func TestStandInsGo(t *testing.T) {
	s := newStreet(t, Config{Overlap: 1, Random: 1, MaxLinks: 3})
	s.meet(0, -1, "a", "b")
	s.choose(0)
	s.meet(agenda.Beat, 90, "alike")
	s.known.Idle = func(p wire.PeerID) bool { return p == "b" }
	s.want(agenda.Beat+region.Settled, "dials alike", "a random, alike overlap, b random")
	s.want(2*agenda.Beat+region.Settled, "greets b, drops b, audits alike", "a random, alike overlap")
	s.want(3*agenda.Beat+region.Settled, "", "a random, alike overlap")
}

// TestRange: in a range, four links lead into it, by linked peers first. Half of the slots by overlap and some random
// ones are filled beside them, and none for a short round trip.
func TestRange(t *testing.T) {
	s := newStreet(t, Config{Overlap: 2, Near: 1, Random: 5, MaxLinks: 12})
	in := []wire.PeerID{"in1", "in2", "in3", "in4", "in5", "in6"}
	s.meet(0, -1, in...)
	s.meet(0, -1, "out1", "out2", "out3")
	s.d.RoundTrip("out1", time.Millisecond)
	s.ranged(in...)
	s.d.Open("in3", "")
	s.d.Open("out2", "")
	counts := func(now time.Duration, ranged, random, similar int) {
		t.Helper()
		s.choose(now)
		if a, b, c := s.top.count(Ranged), s.top.count(Random), s.top.count(Similar); a != ranged || b != random || c != similar {
			t.Errorf("%v: %v, want %d in the range, %d random, %d by overlap", now, s, ranged, random, similar)
		}
		if s.top.count(Near) > 0 {
			t.Errorf("%v: %v", now, s)
		}
	}
	counts(0, 2, 1, 0)
	for p, k := range map[wire.PeerID]Kind{"in3": Ranged, "out2": Random} {
		if got, _ := s.top.KindOf(p); got != k {
			t.Errorf("%v: %s is linked, and no %s neighbour", s, p, k)
		}
	}
	counts(agenda.Beat, 4, 1, 0)
	counts(2*agenda.Beat, 4, 3, 0)
	counts(3*agenda.Beat, 4, 3, 0)
	s.meet(3*agenda.Beat, 90, "alike", "like")
	counts(3*agenda.Beat+region.Settled, 4, 3, 1)
}

// TestRangesComeAndGo: a neighbour drawn from a range that is another now stays as a random one, until these fill all
// slots. Nobody is drawn from a range that may soon be another.
func TestRangesComeAndGo(t *testing.T) {
	s := newStreet(t, Config{Random: 5, MaxLinks: 8})
	s.meet(0, -1, "a1", "a2", "a3", "a4", "b1", "b2", "b3", "b4", "c1", "c2", "c3", "c4", "x")
	s.ranged("a1", "a2", "a3", "a4")
	s.known.Starting = true
	s.want(0, "?", "?")
	if n := s.top.count(Ranged); n != 0 {
		t.Errorf("%d are drawn before the range stands still", n)
	}
	s.known.Starting = false
	now := time.Duration(0)
	for range 4 {
		now += agenda.Beat
		s.choose(now)
	}
	s.ranged("b1", "b2", "b3", "b4")
	for range 4 {
		now += agenda.Beat
		s.choose(now)
	}
	if a, b := s.top.count(Ranged), s.top.count(Random); a != 4 || b != 5 {
		t.Errorf("%v, want four in the new range, and five random", s)
	}
	s.ranged("c1", "c2", "c3", "c4")
	if did := s.choose(now + agenda.Beat); strings.Count(did, "drops") != 4 {
		t.Errorf("%q, want four dropped: there is no room for more random ones", did)
	}
}

// TestLosses: a neighbour that refuses, or gives us up, is no neighbour for a minute, each time for the same if it has
// accepted between. Whoever cannot be dialled is tried again after 10 s, and who only closes, at once.
func TestLosses(t *testing.T) {
	hello := func(h wire.Hello) func(*street, time.Duration) {
		return func(s *street, now time.Duration) { s.top.Hear(now, "p", h, false) }
	}
	for name, c := range map[string]struct {
		do       func(*street, time.Duration)
		accepted bool
		drops    bool
		pause    time.Duration
	}{
		"full":            {hello(wire.Hello{Full: true}), false, true, agenda.Seldom},
		"gives us up":     {hello(wire.Hello{}), true, true, agenda.Seldom},
		"has not decided": {hello(wire.Hello{}), false, false, 0},
		"closes":          {func(s *street, _ time.Duration) { s.d.Close("p"); s.top.Close("p") }, true, true, 0},
		"not dialled":     {func(s *street, now time.Duration) { s.d.Close("p"); s.top.DialFailed(now, "p") }, false, true, agenda.Attempt},
		"a second dial":   {func(s *street, now time.Duration) { s.top.DialFailed(now, "p") }, true, false, 0},
	} {
		s := newStreet(t, Config{Random: 1, MaxLinks: 2})
		s.meet(0, -1, "p")
		now := time.Duration(0)
		for range 3 {
			s.want(now, "?", "p random")
			s.top.neighbours["p"].accepted = c.accepted
			c.do(s, now)
			acts := s.top.Acts()
			if _, is := s.top.KindOf("p"); is == c.drops || slices.Contains(acts, Act{Effect: event.Disconnect{Peer: "p"}}) != (c.pause == agenda.Seldom) {
				t.Errorf("%s: neighbours %v, after %v", name, s, acts)
			}
			if now += c.pause; c.pause > 0 {
				s.want(now-1, "", "")
			}
		}
	}
}
