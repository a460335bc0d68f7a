package overlaylab

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/venn-p2p/venn/overlay"
	"github.com/venn-p2p/venn/overlay/agenda"
	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/exchange"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// Honest and Liar are the peers linked in a Scene.
const Honest, Liar wire.PeerID = "honest", "liar"

const (
	Fast = exchange.UndeclaredRate // bit/s of the lines of a Scene
	Tick = agenda.Tick
)

// Scene is an overlay with two links: an honest peer, which sends the parts that it is asked for, and a liar.
type Scene struct {
	Overlay *overlay.Overlay
	Origins []Origin // summaries that the honest peer holds
	Faults  map[event.Fault]int
}

// Alone fills in the fields that an overlay needs outside of a Network, and returns cfg.
func Alone(cfg overlay.Config) overlay.Config {
	cfg.Self, cfg.Seed, cfg.Rand = "self", Seed(0).Tag(), rand.New(rand.NewPCG(1, 1))
	cfg.Up, cfg.Down = Fast, Fast
	cfg.OpenHeader, cfg.OpenRecord = OpenHeader, OpenRecord
	return cfg
}

// NewScene makes a scene with a number of origins, each with the given number of keys.
func NewScene(origins, keys int, cfg overlay.Config) (*Scene, error) {
	o, err := overlay.New(Alone(cfg))
	if err != nil {
		return nil, err
	}
	s := &Scene{Overlay: o, Faults: make(map[event.Fault]int)}
	s.Link(0, Honest)
	s.Link(0, Liar)
	for i := range origins {
		s.Origins = append(s.Origins, NewOrigin(wire.PeerID(fmt.Sprint("id", i)), Fingerprints(keys, 0, uint64(i)), summary.Header{}))
	}
	return s, nil
}

// Link makes a link with a peer, in the mesh, that has said hello.
func (s *Scene) Link(now time.Duration, p wire.PeerID) {
	s.Overlay.Step(now, event.LinkOpened{Peer: p})
	s.Overlay.Step(now, event.HelloReceived{Peer: p, Hello: wire.Hello{Up: Fast, Down: Fast, Session: 1}})
	s.Overlay.Step(now, event.Meshed{Peer: p, In: true})
}

// Items returns the catalogue of a peer that has all parts of all origins. If lie is not nil, the peer claims the parts
// of the epoch *lie instead.
func (s *Scene) Items(lie *summary.Epoch) (items []wire.Item) {
	for i := range s.Origins {
		g := s.Origins[i].Group()
		if lie != nil {
			g = wire.NewGroup(g.OriginTag(), *lie)
		}
		items = append(items, wire.Item{Group: g, Have: uint16(s.Origins[i].Parts())})
	}
	return items
}

// Asked returns the parts that the honest peer sends for the asks among effects. It counts the reported faults.
func (s *Scene) Asked(effects []event.Effect) (answers []event.PartsReceived) {
	for _, e := range effects {
		switch e := e.(type) {
		case event.SendCatalogue:
			for _, it := range e.Items {
				if e.To == Honest && it.Want > it.Have {
					answers = append(answers, s.Bring(Honest, it)...)
				}
			}
		case event.Report:
			s.Faults[e.Fault]++
		}
	}
	return answers
}

// Step gives the overlay an input, and then the parts for which it asks the honest peer.
func (s *Scene) Step(now time.Duration, in event.Input) {
	for _, a := range s.Asked(s.Overlay.Step(now, in)) {
		s.Step(now, a)
	}
}

// Bring returns the parts that a peer with all parts sends for an ask. For an unknown group it returns none.
func (s *Scene) Bring(from wire.PeerID, it wire.Item) []event.PartsReceived {
	for i := range s.Origins {
		if o := &s.Origins[i]; o.Group() == it.Group && int(it.Have) < o.Parts() {
			return []event.PartsReceived{o.Sent(from, int(it.Have), min(int(it.Want), o.Parts()))}
		}
	}
	return nil
}
