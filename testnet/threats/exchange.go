package threats

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/venn-p2p/venn/overlay"
	"github.com/venn-p2p/venn/overlay/defence"
	"github.com/venn-p2p/venn/overlay/group"
	"github.com/venn-p2p/venn/overlay/overlaytest"
	"github.com/venn-p2p/venn/summary"
)

const (
	honest, liar overlay.PeerID = "honest", "liar"

	fast    = 10_000_000 // bit/s of the lines
	origins = 120        // that the honest link offers
	tick    = 200 * time.Millisecond
)

// exchangeAttacks are those of one hostile link beside an honest one.
var exchangeAttacks = []attack{
	{
		name: "claims of newer epochs, every 5 s", where: Cores, measured: "origins of 120 learned in a minute", target: atLeast(origins),
		defence: "credit of a link: claims that are not kept put it behind others",
		run: func(_ context.Context, defended bool) (float64, error) {
			return liedTo(5*time.Second, false, unless(defended, defence.Credit))
		},
	},
	{
		name: "the same, in new sessions", where: Cores, measured: "origins of 120 learned in a minute", target: atLeast(origins),
		defence: "blame outlives sessions",
		run: func(_ context.Context, defended bool) (float64, error) {
			return liedTo(2*time.Second, true, unless(defended, defence.Memory))
		},
	},
	{
		name: "the first part again every 3 s", where: Cores, measured: "share of the parts learned in a minute", target: atLeast(1),
		defence: "an ask lives by what is new",
		run:     switched(partsBeside, defence.Growth),
	},
	{
		name: "shedding makes an honest link look guilty", where: Cores, measured: "reports of it", target: atMost(0),
		defence: "parts asked for come in peace, whatever was forgotten meanwhile",
		run:     switched(unasked, defence.Released),
	},
	{
		name: "a link that is lost and comes back looks guilty", where: Cores, measured: "reports of it", target: atMost(0),
		defence: "parts asked for come in peace after the link was lost, too",
		run:     switched(lostLink, defence.Released),
	},
	{
		name: "an asymmetric line: 256 kbit/s down, 10 Mbit/s up", where: Cores, measured: "seconds that messages to it wait at worst", target: atMost(5),
		defence: "senders keep to what a receiver declares", run: narrow(256_000),
	},
	{
		name: "a reader of 1 kB/s", where: Cores, measured: "seconds that messages to it wait at worst", target: atMost(60),
		defence: "senders keep to what a receiver declares", run: narrow(8000),
	},
}

// scene is an overlay with an honest link, which brings what it is asked for, and a liar.
type scene struct {
	o       *overlay.Overlay
	origins []overlaytest.Origin
	faults  map[overlay.Fault]int
}

// config is that of an overlay on its own.
func config(cfg overlay.Config) overlay.Config {
	cfg.Self, cfg.Seed, cfg.Rand = "self", overlaytest.Seed(0).Tag(), rand.New(rand.NewPCG(1, 1))
	cfg.Up, cfg.Down = fast, fast
	cfg.OpenHeader, cfg.OpenRecord = overlaytest.OpenHeader, overlaytest.OpenRecord
	return cfg
}

func newScene(number, keys int, cfg overlay.Config) (*scene, error) {
	o, err := overlay.New(config(cfg))
	if err != nil {
		return nil, err
	}
	s := &scene{o: o, faults: make(map[overlay.Fault]int)}
	link(o, 0, honest)
	link(o, 0, liar)
	for i := range number {
		x, err := overlaytest.NewOrigin(overlay.PeerID(fmt.Sprint("id", i)), overlaytest.Fingerprints(keys, 0, uint64(i)), summary.Header{})
		if err != nil {
			return nil, err
		}
		s.origins = append(s.origins, x)
	}
	return s, nil
}

// link makes a link with a peer, which has said hello.
func link(o *overlay.Overlay, now time.Duration, p overlay.PeerID) {
	o.Step(now, overlay.LinkOpened{Peer: p})
	o.Step(now, overlay.HelloReceived{Peer: p, Hello: overlay.Hello{Up: fast, Down: fast, Session: 1}})
	o.Step(now, overlay.Grafted{Peer: p})
}

// items are the lines of one that has all parts of all origins, or says so of an epoch that there is not.
func (s *scene) items(lie *summary.Epoch) (items []overlay.Item) {
	for i := range s.origins {
		g := s.origins[i].Group()
		if lie != nil {
			g = group.New(g.OriginTag(), *lie)
		}
		items = append(items, overlay.Item{Group: g, Have: uint16(s.origins[i].Parts())})
	}
	return items
}

// asked returns what the honest link brings for the asks among effects, and counts reports.
func (s *scene) asked(effects []overlay.Effect) (answers []overlay.PartsReceived) {
	for _, e := range effects {
		switch e := e.(type) {
		case overlay.SendCatalogue:
			for _, it := range e.Items {
				if e.To == honest && it.Want > it.Have {
					answers = append(answers, s.bring(honest, it)...)
				}
			}
		case overlay.Report:
			s.faults[e.Fault]++
		}
	}
	return answers
}

// step gives an input and brings what the honest link is asked for.
func (s *scene) step(now time.Duration, in overlay.Input) {
	for _, a := range s.asked(s.o.Step(now, in)) {
		s.step(now, a)
	}
}

// bring is what a peer that has all sends to one that asks: nothing for what there is not.
func (s *scene) bring(from overlay.PeerID, it overlay.Item) []overlay.PartsReceived {
	for i := range s.origins {
		if o := &s.origins[i]; o.Group() == it.Group && int(it.Have) < o.Parts() {
			return []overlay.PartsReceived{o.Sent(from, int(it.Have), min(int(it.Want), o.Parts()))}
		}
	}
	return nil
}

// liedTo is how many origins are known after a minute beside a liar. The liar claims a newer epoch of each origin at
// the given interval, with sessions in a new session each time.
func liedTo(every time.Duration, sessions bool, off defence.Off) (float64, error) {
	s, err := newScene(origins, 20, overlay.Config{Undefended: off})
	if err != nil {
		return 0, err
	}
	seq := uint32(0)
	for now := time.Duration(0); now <= time.Minute; now += tick {
		if now%every == 0 {
			seq++
			if sessions {
				s.step(now, overlay.HelloReceived{Peer: liar, Hello: overlay.Hello{Up: fast, Down: fast, Session: uint64(seq)}})
			}
			s.step(now, overlay.CatalogueReceived{From: liar, Items: s.items(&summary.Epoch{Generation: 9, Sequence: seq}), Bytes: 2400})
		}
		if now == time.Second {
			s.step(now, overlay.CatalogueReceived{From: honest, Items: s.items(nil), Bytes: 2400})
		}
		s.step(now, overlay.Tick{})
	}
	return float64(s.o.Origins()), nil
}

// partsBeside is the share of one origin's parts held after a minute beside a hostile link. That link was asked first,
// and sends the first part again and again.
func partsBeside(off defence.Off) (float64, error) {
	s, err := newScene(1, 5000, overlay.Config{Undefended: off})
	if err != nil {
		return 0, err
	}
	s.step(0, overlay.CatalogueReceived{From: liar, Items: s.items(nil), Bytes: 20})
	sample := s.origins[0].Sent(liar, 0, 1)
	for now := tick; now <= time.Minute; now += tick {
		if now == time.Second {
			s.step(now, overlay.CatalogueReceived{From: honest, Items: s.items(nil), Bytes: 20})
		}
		if now%(3*time.Second) == 0 || now == 2*tick {
			s.step(now, sample)
		}
		s.step(now, overlay.Tick{})
	}
	held, ok := s.o.Held(s.origins[0].ID)
	if !ok {
		return 0, nil
	}
	return float64(held.Parts()) / float64(s.origins[0].Parts()), nil
}

// unasked is how many faults are reported of a link that brings what it is asked, late, while memory runs short.
func unasked(off defence.Off) (float64, error) {
	s, err := newScene(1200, 50, overlay.Config{Undefended: off, Memory: 300_000})
	if err != nil {
		return 0, err
	}
	var late []overlay.PartsReceived
	step := func(now time.Duration, in overlay.Input) { late = append(late, s.asked(s.o.Step(now, in))...) }
	items := s.items(nil)
	for now := time.Second; now < 30*time.Second; now += tick {
		due := late
		late = nil
		n := min(8, len(items))
		step(now, overlay.CatalogueReceived{From: honest, Items: items[:n], Bytes: 20 * n})
		items = items[n:]
		for _, in := range due {
			step(now, in)
		}
		step(now, overlay.Tick{})
	}
	return float64(s.faults[overlay.FaultUnasked]), nil
}

// lostLink is how many faults are reported of a link that is lost, comes back at once, and brings what it was asked for
// before.
func lostLink(off defence.Off) (float64, error) {
	s, err := newScene(20, 50, overlay.Config{Undefended: off})
	if err != nil {
		return 0, err
	}
	late := s.asked(s.o.Step(0, overlay.CatalogueReceived{From: honest, Items: s.items(nil), Bytes: 400}))
	late = append(late, s.asked(s.o.Step(tick, overlay.Tick{}))...)
	s.o.Step(tick, overlay.LinkClosed{Peer: honest})
	link(s.o, tick, honest)
	for _, in := range late {
		s.step(2*tick, in)
	}
	return float64(s.faults[overlay.FaultUnasked]), nil
}

// narrow is how long messages wait for the line of one peer, of a rate in bit/s, in a network of fast ones. Undefended,
// it does not say how slow it is.
func narrow(rate uint64) func(context.Context, bool) (float64, error) {
	return func(_ context.Context, defended bool) (float64, error) {
		configs := make([]overlay.Config, 20)
		for i := range configs {
			configs[i] = overlay.Config{Up: fast, Down: fast}
		}
		if defended {
			configs[0].Down = rate
		}
		net, err := overlaytest.New(configs, 1)
		if err != nil {
			return 0, err
		}
		net.Unchecked = true
		var free, worst time.Duration // when the line is, and how long one waited for that
		net.Sent = func(now time.Duration, _, to, bytes int) {
			if to == 0 {
				free = max(free, now) + time.Duration(8*bytes)*time.Second/time.Duration(rate)
				worst = max(worst, free-now)
			}
		}
		for i := range configs {
			if err := net.Publish(i, overlaytest.Fingerprints(20_000, 10_000, uint64(i))); err != nil {
				return 0, err
			}
			for j := range min(i, 2) {
				net.Connect(i, j)
			}
		}
		net.Run(3 * time.Minute)
		return worst.Seconds(), nil
	}
}
