package threats

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/venn-p2p/venn/node/core"
	"github.com/venn-p2p/venn/overlay"
	"github.com/venn-p2p/venn/overlay/directory"
	"github.com/venn-p2p/venn/overlay/event"
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

// boasters returns the number of slots for overlap whose neighbours hold none of the keys that they claim.
func boasters(defended bool) (float64, error) {
	const honests, boasters = 20, 20
	configs := make([]overlay.Config, honests+boasters)
	for i := range configs {
		configs[i] = overlay.Config{Up: fast, Down: fast}
		if !defended {
			configs[i].Limits.Directory = directory.Limits{Answers: 1}
		}
	}
	net, err := overlaylab.New(configs, 1)
	if err != nil {
		return 0, err
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
	slots := 0
	for _, nb := range net.Peers[0].Overlay.Neighbours() {
		if nb.Kind == overlay.Similar && nb.Peer >= net.Peers[honests].ID {
			slots++
		}
	}
	return float64(slots), nil
}

// hostileLink returns the time to learn all that an honest link offers beside a link that lies, over the time beside
// a silent one.
func hostileLink(defended bool) (float64, error) {
	var loose core.Config
	if !defended {
		venn.Loosen(&loose)
	}
	quiet, err := timeToLearn(false, overlay.Config{})
	if err != nil {
		return 0, err
	}
	attacked, err := timeToLearn(true, loose.Overlay)
	return attacked.Seconds() / quiet.Seconds(), err
}

// timeToLearn returns the time from an honest link's offer of all origins until all their parts are held, ten
// minutes at most.
func timeToLearn(attacked bool, cfg overlay.Config) (time.Duration, error) {
	const offered, most = 20 * time.Second, 10 * time.Minute
	s, err := overlaylab.NewScene(origins, 4000, cfg)
	if err != nil {
		return 0, err
	}
	for now := tick; now < most; now += tick {
		if attacked && now%(2*time.Second) == 0 {
			lie(s, now)
		}
		if now == offered {
			s.Step(now, event.CatalogueReceived{From: honest, Items: s.Items(nil), Bytes: 2400})
		}
		s.Step(now, event.Tick{})
		if learned(s) {
			return now - offered, nil
		}
	}
	return most - offered, nil
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
