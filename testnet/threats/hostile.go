package threats

import (
	"fmt"
	"time"

	"github.com/venn-p2p/venn/node/core"
	"github.com/venn-p2p/venn/overlay"
	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/exchange"
	"github.com/venn-p2p/venn/overlay/overlaylab"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
	"github.com/venn-p2p/venn/testnet/strategy/venn"
)

const (
	honest, liar = overlaylab.Honest, overlaylab.Liar

	fast    = overlaylab.Fast
	tick    = overlaylab.Tick
	origins = 120 // origins that the honest link offers
)

// hostileAttacks are attacks by one linked peer. The first of them combines many misdeeds.
var hostileAttacks = []attack{
	{
		name: "one hostile link does all of this beside an honest one", measured: "time until 120 origins are learned whole, in that without it", target: atMost(2),
		defence: "all those of a link", run: hostileLink,
	},
	{
		name: "one link boasts of a million peers", measured: "1 if all searches for all holders are handed on", target: atMost(0),
		defence: "the third of the links that says most is not heard",
		run:     limited(boasts, overlay.Config{Limits: overlay.Limits{Exchange: exchange.Limits{Boasters: unbounded}}}),
	},
}

// hostileLink returns the time to learn all that an honest link offers beside a link that lies, over the time beside
// a silent one.
func hostileLink(defended bool) float64 {
	quiet := timeToLearn(false, overlay.Config{})
	var loose core.Config
	venn.Loosen(&loose)
	attacked := timeToLearn(true, unless(defended, loose.Overlay))
	return attacked.Seconds() / quiet.Seconds()
}

// timeToLearn returns the time from an honest link's offer of all origins until all their parts are held, ten
// minutes at most.
func timeToLearn(attacked bool, cfg overlay.Config) time.Duration {
	const offered, most = 20 * time.Second, 10 * time.Minute
	s := must(overlaylab.NewScene(origins, 4000, cfg))
	for now := tick; now < most; now += tick {
		if attacked && now%(2*time.Second) == 0 {
			lie(s, now)
		}
		if now == offered {
			s.Step(now, event.CatalogueReceived{From: honest, Items: s.Items(nil), Bytes: 2400})
		}
		s.Step(now, event.Tick{})
		if learned(s) {
			return now - offered
		}
	}
	return most - offered
}

// learned reports whether all parts of all origins are held.
func learned(s *overlaylab.Scene) bool {
	for i := range s.Origins {
		if p, ok := s.Overlay.Held(s.Origins[i].ID); !ok || p.Parts() < s.Origins[i].Parts() {
			return false
		}
	}
	return true
}

// lie makes the liar do all that it can. It opens a new session with records of ghosts, and claims all origins and
// newer epochs. It sends parts that were not asked for, junk in place of parts, and a first part twice.
func lie(s *overlaylab.Scene, now time.Duration) {
	n := uint32(now / time.Second)
	h := wire.Hello{Up: fast, Down: fast, Origins: 1 << 30, Neighbour: true, Session: uint64(n)}
	for i := range 16 {
		p := wire.PeerID(fmt.Sprint("ghost", n, ".", i))
		h.Records = append(h.Records, wire.Record{Peer: p, Envelope: overlaylab.Record(p)})
	}
	s.Step(now, event.HelloReceived{Peer: liar, Hello: h})
	s.Step(now, event.CatalogueReceived{From: liar, Items: s.Items(nil), Bytes: 2400})
	s.Step(now, event.CatalogueReceived{From: liar, Items: s.Items(&summary.Epoch{Generation: 9, Sequence: n}), Bytes: 2400})
	for i := range 10 {
		x := &s.Origins[(10*int(n)+i)%len(s.Origins)]
		first := x.Sent(liar, 0, 1)
		s.Step(now, first)
		s.Step(now, first)
		junk := x.Sent(liar, 0, 1)
		junk.Run.Parts = [][]byte{{1, 2, 3}}
		s.Step(now, junk)
	}
}

// boasts measures whether a complete directory, of 20 origins, counts as incomplete beside a liar's link among four: 1
// or 0.
func boasts(cfg overlay.Config) float64 {
	const known = 20
	s := must(overlaylab.NewScene(known, 1000, cfg))
	for _, p := range []wire.PeerID{"honest 2", "honest 3", honest} {
		if p != honest {
			s.Link(0, p)
		}
		s.Step(0, event.CatalogueReceived{From: p, Items: s.Items(nil), Bytes: 20 * known})
	}
	for now := tick; now < time.Minute; now += tick {
		s.Step(now, event.Tick{})
	}
	s.Step(time.Minute, event.HelloReceived{Peer: liar, Hello: wire.Hello{Up: fast, Down: fast, Session: 1, Origins: 1 << 20}})
	if s.Overlay.Incomplete() {
		return 1
	}
	return 0
}
