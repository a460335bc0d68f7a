package overlay

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay/defence"
	"github.com/venn-p2p/venn/overlay/group"
	"github.com/venn-p2p/venn/summary"
)

const honest, liar PeerID = "honest", "liar"

// scene is an overlay with an honest link, that brings what it is asked for, and a liar.
type scene struct {
	o       *Overlay
	origins []signed
	lied    map[group.ID]bool // asked of the liar
	faults  map[Fault]int
}

func newScene(t *testing.T, origins, keys int, cfg Config) *scene {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 1))
	cfg.Up, cfg.Down = 10_000_000, 10_000_000
	s := &scene{o: alone(t, rng, cfg), lied: map[group.ID]bool{}, faults: map[Fault]int{}}
	linked(s.o, honest)
	linked(s.o, liar)
	for i := range origins {
		fps := make([]summary.Fingerprint, keys)
		for k := range fps {
			fps[k] = summary.Fingerprint(rng.Uint64() >> (64 - summary.FingerprintBits))
		}
		s.origins = append(s.origins, sign(t, PeerID(fmt.Sprint("id", i)), fps))
	}
	return s
}

// items are the lines of a peer with all parts of all origins. It may say so of an epoch that does not exist.
func (s *scene) items(lie *summary.Epoch) (items []Item) {
	for _, o := range s.origins {
		g := group.Of(o.stream.Header())
		if lie != nil {
			g = group.New(g.OriginTag(), *lie)
		}
		items = append(items, Item{Group: g, Have: uint16(o.stream.Parts())})
	}
	return items
}

// step gives an input and answers what the honest link is asked for.
func (s *scene) step(now time.Duration, in Input) {
	var answers []PartsReceived
	for _, e := range s.o.Step(now, in) {
		switch e := e.(type) {
		case SendCatalogue:
			for _, it := range e.Items {
				s.lied[it.Group] = s.lied[it.Group] || e.To == liar && it.Want > it.Have
				if e.To == honest && it.Want > it.Have {
					answers = append(answers, s.run(honest, it))
				}
			}
		case Report:
			s.faults[e.Fault]++
		}
	}
	for _, a := range answers {
		if a.Bytes > 0 {
			s.step(now, a)
		}
	}
}

// run is what answers an ask.
func (s *scene) run(from PeerID, it Item) PartsReceived {
	for _, o := range s.origins {
		p := o.stream
		if group.Of(p.Header()) != it.Group || int(it.Have) >= p.Parts() {
			continue
		}
		run, err := p.Run(int(it.Have), min(int(it.Want), p.Parts()))
		if err != nil {
			continue
		}
		in := PartsReceived{From: from, Group: it.Group, Run: run, Bytes: RunBytes(run, nil, nil)}
		if it.Have == 0 {
			in.Envelope, in.Record = o.envelope, o.record
		}
		return in
	}
	return PartsReceived{}
}

// liedTo is how many origins are known after a minute beside a liar. The liar claims a newer epoch of each origin at
// the given interval, with sessions under a new session number each time.
func liedTo(t *testing.T, every time.Duration, sessions bool, cfg Config) int {
	s := newScene(t, 120, 20, cfg)
	seq := uint32(0)
	for now := time.Duration(0); now <= time.Minute; now += 200 * time.Millisecond {
		if now%every == 0 {
			seq++
			if sessions {
				s.step(now, HelloReceived{Peer: liar, Hello: Hello{Up: 10_000_000, Down: 10_000_000, Session: uint64(seq)}})
			}
			s.step(now, CatalogueReceived{From: liar, Items: s.items(&summary.Epoch{Generation: 9, Sequence: seq}), Bytes: 2400})
		}
		if now == time.Second {
			s.step(now, CatalogueReceived{From: honest, Items: s.items(nil), Bytes: 2400})
		}
		s.step(now, Tick{})
	}
	return s.o.Origins()
}

// Claims of newer epochs that do not exist do not keep the true ones from being learned.
func TestClaimsOfNewerEpochs(t *testing.T) {
	for _, every := range []time.Duration{time.Second, 2 * time.Second, 3 * time.Second, 4 * time.Second, 5 * time.Second, 7 * time.Second} {
		if n := liedTo(t, every, false, Config{}); n != 120 {
			t.Errorf("claims every %v: %d of 120 origins are known", every, n)
		}
		if n := liedTo(t, every, true, Config{}); n != 120 {
			t.Errorf("claims every %v, in new sessions: %d of 120 origins are known", every, n)
		}
	}
	if n := liedTo(t, 5*time.Second, false, Config{Undefended: defence.Credit}); n == 120 {
		t.Error("without credit, nothing is gained by lying")
	}
	if n := liedTo(t, 2*time.Second, true, Config{Undefended: defence.Memory}); n == 120 {
		t.Error("without memory of sessions, nothing is gained by a new one")
	}
}

// partsBeside is how many parts of one origin are held after a minute beside a hostile link. That link was asked first,
// and sends the first part again and again.
func partsBeside(t *testing.T, cfg Config) (held, all int) {
	s := newScene(t, 1, 5000, cfg)
	s.step(0, CatalogueReceived{From: liar, Items: s.items(nil), Bytes: 20})
	sample := s.run(liar, Item{Group: group.Of(s.origins[0].stream.Header()), Want: 1})
	for now := 200 * time.Millisecond; now <= time.Minute; now += 200 * time.Millisecond {
		if now == time.Second {
			s.step(now, CatalogueReceived{From: honest, Items: s.items(nil), Bytes: 20})
		}
		if now%(3*time.Second) == 0 || now == 400*time.Millisecond {
			s.step(now, sample)
		}
		s.step(now, Tick{})
	}
	d := s.o.Directory()
	if len(d) == 0 {
		return 0, s.origins[0].stream.Parts()
	}
	return d[0].Parts, s.origins[0].stream.Parts()
}

// What is held already, sent again, does not keep an ask alive.
func TestAskLivesByGrowth(t *testing.T) {
	if held, all := partsBeside(t, Config{}); held != all {
		t.Errorf("%d parts of %d are held", held, all)
	}
	if held, all := partsBeside(t, Config{Undefended: defence.Growth}); held == all {
		t.Error("with asks that live by what is sent again, nothing is lost")
	}
}

// unasked is how many faults are reported of a link that brings what it is asked, late. It may close and open again
// meanwhile.
func unasked(t *testing.T, cfg Config, closes bool) int {
	s := newScene(t, 1200, 50, cfg)
	var late []PartsReceived
	step := func(now time.Duration, in Input) {
		for _, e := range s.o.Step(now, in) {
			switch e := e.(type) {
			case SendCatalogue:
				for _, it := range e.Items {
					if in := s.run(honest, it); it.Want > it.Have && in.Bytes > 0 {
						late = append(late, in)
					}
				}
			case Report:
				s.faults[e.Fault]++
			}
		}
	}
	items := s.items(nil)
	for now := time.Second; now < 30*time.Second; now += 200 * time.Millisecond {
		due := late
		late = nil
		if closes && len(due) > 0 {
			step(now, LinkClosed{Peer: honest})
			step(now, LinkOpened{Peer: honest})
			step(now, Grafted{Peer: honest})
			step(now, HelloReceived{Peer: honest, Hello: Hello{Up: 10_000_000, Down: 10_000_000, Session: 1}})
		}
		n := min(8, len(items))
		step(now, CatalogueReceived{From: honest, Items: items[:n], Bytes: 20 * n})
		items = items[n:]
		for _, in := range due {
			step(now, in)
		}
		step(now, Tick{})
	}
	return s.faults[FaultUnasked]
}

// Nobody is blamed for bringing what was asked for before its origin was forgotten or the link closed.
func TestPartsThatComeLate(t *testing.T) {
	for name, c := range map[string]struct {
		memory int
		closes bool
	}{"forgotten": {300_000, false}, "closed": {0, true}, "both": {300_000, true}} {
		t.Run(name, func(t *testing.T) {
			if n := unasked(t, Config{Memory: c.memory}, c.closes); n > 0 {
				t.Errorf("%d reports of a link that brought what it was asked", n)
			}
			if n := unasked(t, Config{Memory: c.memory, Undefended: defence.Released}, c.closes); n == 0 {
				t.Error("without the defence none is reported either")
			}
		})
	}
}

// TestFetchedOfForgottenOrigin: nobody is blamed for what comes on a stream that this node has opened, of an origin
// that it has forgotten meanwhile.
func TestFetchedOfForgottenOrigin(t *testing.T) {
	for off, want := range map[defence.Off]int{0: 0, defence.Released: 1} {
		s := newScene(t, 1, 50, Config{Undefended: off})
		in := s.run(honest, Item{Group: group.Of(s.origins[0].stream.Header()), Want: 1})
		in.Way = Direct
		s.step(time.Second, in)
		if n := s.faults[FaultUnasked]; n != want {
			t.Errorf("without defence %v: %d reports, want %d", off, n, want)
		}
	}
}
