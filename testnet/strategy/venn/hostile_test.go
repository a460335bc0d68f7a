package venn

import (
	"fmt"
	"testing"
	"time"

	"github.com/venn-p2p/venn/node/core"
	"github.com/venn-p2p/venn/overlay"
	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/overlaylab"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// TestHostileLink: one link does all that it can beside an honest one. What that offers is learned within twice the time
// that it takes beside a silent link. Without the limits it takes many times as long.
func TestHostileLink(t *testing.T) {
	var loose core.Config
	Loosen(&loose)
	quiet, attacked, undefended := timeToLearn(t, false, overlay.Config{}), timeToLearn(t, true, overlay.Config{}), timeToLearn(t, true, loose.Overlay)
	if attacked > 2*quiet || undefended <= 2*quiet {
		t.Errorf("%v beside a silent link, %v beside a hostile one, %v without limits", quiet, attacked, undefended)
	}
}

// timeToLearn returns the time from an honest link's offer of all origins until all their parts are held, ten
// minutes at most.
func timeToLearn(t *testing.T, attacked bool, cfg overlay.Config) time.Duration {
	t.Helper()
	const origins, offered, most = 120, 20 * time.Second, 10 * time.Minute
	s, err := overlaylab.NewScene(origins, 4000, cfg)
	if err != nil {
		t.Fatal(err)
	}
	for now := overlaylab.Tick; now < most; now += overlaylab.Tick {
		if attacked && now%(2*time.Second) == 0 {
			lie(s, now)
		}
		if now == offered {
			s.Step(now, event.CatalogueReceived{From: overlaylab.Honest, Items: s.Items(nil), Bytes: 2400})
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
	h := wire.Hello{Up: overlaylab.Fast, Down: overlaylab.Fast, Origins: 1 << 30, Neighbour: true, Session: uint64(n)}
	for i := range 16 {
		p := wire.PeerID(fmt.Sprint("ghost", n, ".", i))
		h.Records = append(h.Records, wire.Record{Peer: p, Envelope: overlaylab.Record(p)})
	}
	s.Step(now, event.HelloReceived{Peer: overlaylab.Liar, Hello: h})
	s.Step(now, event.CatalogueReceived{From: overlaylab.Liar, Items: s.Items(nil), Bytes: 2400})
	s.Step(now, event.CatalogueReceived{From: overlaylab.Liar, Items: s.Items(&summary.Epoch{Generation: 9, Sequence: n}), Bytes: 2400})
	for i := range 10 {
		x := &s.Origins[(10*int(n)+i)%len(s.Origins)]
		first := x.Sent(overlaylab.Liar, 0, 1)
		s.Step(now, first)
		s.Step(now, first)
		junk := x.Sent(overlaylab.Liar, 0, 1)
		junk.Run.Parts = [][]byte{{1, 2, 3}}
		s.Step(now, junk)
	}
}
