package directory

import (
	"math/rand/v2"
	"testing"

	"github.com/venn-p2p/venn/overlay/cache"
	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/overlaylab/plain"
	"github.com/venn-p2p/venn/overlay/space"
	"github.com/venn-p2p/venn/overlay/wire"
)

// TestVague: an origin outside of the own range is a candidate once enough of its summary is held; one of the range is
// at once.
func TestVague(t *testing.T) {
	for _, shared := range []*cache.Cache{nil, cache.New(1 << 20)} {
		rng := rand.New(rand.NewPCG(1, 11))
		d := alone(rng, Config{Memory: 64 << 20, MaxOrigins: 1 << 10, Compared: 12, Cache: shared})
		fps := plain.Keys(rng, 5000)
		s := plain.Of("origin", fps)
		g := wire.GroupOf(s.Stream.Header())
		e := d.Invite(0, "link", g.OriginTag())
		give := func(first, end int) {
			run, err := s.Stream.Run(first, end)
			if err != nil {
				t.Fatal(err)
			}
			if r := d.Take(0, e, event.PartsReceived{
				From: "link", Group: g, Parts: wire.Parts{Envelope: s.Envelope, Record: s.Record, Run: run},
			}); r.Learned == nil {
				t.Fatalf("parts %d to %d: %+v", first, end, r)
			}
		}
		give(0, 1)
		if e.Rate() <= VagueRate {
			t.Fatalf("the sample alone has a false-positive rate of %v", e.Rate())
		}
		inside := space.Around(d.Place(e), 1)
		outside := space.Around(d.Place(e)^1<<63, 1)
		look := func(within space.Range, wanted bool) {
			t.Helper()
			d.SetRange(within)
			found := 0
			for _, f := range fps {
				found += len(d.Candidates(nil, f))
			}
			if want := map[bool]int{true: len(fps)}[wanted]; found != want || d.FalseMatches() > 0 != wanted {
				t.Errorf("shared %v: a candidate for %d of its keys, want %d; %v false matches are expected", shared != nil, found, want, d.FalseMatches())
			}
		}
		look(space.Range{}, true)
		look(inside, true)
		look(outside, false)
		give(1, s.Stream.Parts())
		look(outside, true)
	}
}
