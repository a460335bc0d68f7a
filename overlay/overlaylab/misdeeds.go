package overlaylab

import (
	"time"

	"github.com/venn-p2p/venn/overlay"
	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// LiedTo returns the number of 120 origins that are known after a minute beside a liar. The liar claims a newer epoch
// of each origin at the given interval, each time in a new session if sessions is set.
func LiedTo(cfg overlay.Config, every time.Duration, sessions bool) (int, error) {
	const origins = 120
	s, err := NewScene(origins, 20, cfg)
	if err != nil {
		return 0, err
	}
	seq := uint32(0)
	for now := time.Duration(0); now <= time.Minute; now += Tick {
		if now%every == 0 {
			seq++
			if sessions {
				s.Step(now, event.HelloReceived{Peer: Liar, Hello: wire.Hello{Up: Fast, Down: Fast, Session: uint64(seq)}})
			}
			s.Step(now, event.CatalogueReceived{From: Liar, Items: s.Items(&summary.Epoch{Generation: 9, Sequence: seq}), Bytes: 20 * origins})
		}
		if now == time.Second {
			s.Step(now, event.CatalogueReceived{From: Honest, Items: s.Items(nil), Bytes: 20 * origins})
		}
		s.Step(now, event.Tick{})
	}
	return s.Overlay.Origins(), nil
}

// PartsBeside returns the number of parts of one origin held after a minute beside a hostile link, and the number of
// all its parts. That link was asked first, and sends the first part again and again.
func PartsBeside(cfg overlay.Config) (held, all int, err error) {
	s, err := NewScene(1, 5000, cfg)
	if err != nil {
		return 0, 0, err
	}
	s.Step(0, event.CatalogueReceived{From: Liar, Items: s.Items(nil), Bytes: 20})
	sample := s.Origins[0].Sent(Liar, 0, 1)
	for now := Tick; now <= time.Minute; now += Tick {
		if now == time.Second {
			s.Step(now, event.CatalogueReceived{From: Honest, Items: s.Items(nil), Bytes: 20})
		}
		if now%(3*time.Second) == 0 || now == 2*Tick {
			s.Step(now, sample)
		}
		s.Step(now, event.Tick{})
	}
	if p, ok := s.Overlay.Held(s.Origins[0].ID); ok {
		held = p.Parts()
	}
	return held, s.Origins[0].Parts(), nil
}

// BlamedForLate returns the number of reports of a link that brings what it is asked for late. With closes, it closes
// and opens again meanwhile.
func BlamedForLate(cfg overlay.Config, closes bool) (reports int, err error) {
	s, err := NewScene(1200, 50, cfg)
	if err != nil {
		return 0, err
	}
	var late []event.PartsReceived
	step := func(now time.Duration, in event.Input) { late = append(late, s.Asked(s.Overlay.Step(now, in))...) }
	items := s.Items(nil)
	for now := time.Second; now < 30*time.Second; now += Tick {
		due := late
		late = nil
		if closes && len(due) > 0 {
			step(now, event.LinkClosed{Peer: Honest})
			step(now, event.LinkOpened{Peer: Honest})
			step(now, event.Grafted{Peer: Honest})
			step(now, event.HelloReceived{Peer: Honest, Hello: wire.Hello{Up: Fast, Down: Fast, Session: 1}})
		}
		n := min(8, len(items))
		step(now, event.CatalogueReceived{From: Honest, Items: items[:n], Bytes: 20 * n})
		items = items[n:]
		for _, in := range due {
			step(now, in)
		}
		step(now, event.Tick{})
	}
	return s.Faults[event.FaultUnasked], nil
}
