package threats

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/venn-p2p/venn/overlay"
	"github.com/venn-p2p/venn/overlay/directory"
	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/overlaytest"
	"github.com/venn-p2p/venn/overlay/space"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// directoryAttacks fill what a peer remembers of others. What they measure is whether an honest origin still finds room
// there.
var directoryAttacks = []attack{
	{
		name: "records of ghosts in hellos", where: Cores, measured: "honest origins of 20 learned a minute later", target: atLeast(20),
		defence: "peers known by a record alone are few for each link, and are forgotten",
		run: func(_ context.Context, defended bool) (float64, error) {
			loose := directory.Limits{Named: unbounded, NamedLink: unbounded, NamedFor: forever}
			return roomBeside(overlay.Config{MaxOrigins: 1000, Limits: overlay.Limits{Directory: unless(defended, loose)}}, ghosts)
		},
	},
	{
		name: "two summaries under one number, of 2,000 identities", where: Cores, measured: "1 if an honest origin is learned a day later", target: atLeast(1),
		defence: "bans are small, bounded and forgotten",
		run:     limited(twins, directory.Limits{Bans: unbounded, BanFor: forever}),
	},
	{
		name: "500 identities with true summaries", where: Cores, measured: "bytes of memory, of a limit of 50,000", target: atMost(50_000),
		defence: "the limit on memory: what is of least worth goes first",
		run: func(_ context.Context, defended bool) (float64, error) {
			if defended {
				return memoryOf(50_000)
			}
			return memoryOf(1 << 30)
		},
	},
	{
		name: "a crowd of 1,000 visitors at a meeting place", where: Cores, measured: "bytes of memory that they take", target: atMost(150_000),
		defence: "the latest 64 are remembered, and counted as memory",
		run:     limited(visitors, overlay.Limits{Visitors: unbounded}),
	},
}

// roomBeside is how many of 20 honest origins are learned after an attack by a link that has gone since.
func roomBeside(cfg overlay.Config, attack func(*overlaytest.Scene) error) (float64, error) {
	s, err := overlaytest.NewScene(20, 20, cfg)
	if err != nil {
		return 0, err
	}
	if err := attack(s); err != nil {
		return 0, err
	}
	s.Step(time.Second, event.LinkClosed{Peer: liar})
	for now := time.Second; now <= 2*time.Minute; now += tick {
		if now == time.Minute {
			s.Step(now, event.CatalogueReceived{From: honest, Items: s.Items(nil), Bytes: 400})
		}
		s.Step(now, event.Tick{})
	}
	learned := 0
	for _, o := range s.Origins {
		if _, ok := s.Overlay.Held(o.ID); ok {
			learned++
		}
	}
	return float64(learned), nil
}

// ghosts names made-up peers, in sessions without end.
func ghosts(s *overlaytest.Scene) error {
	for session := range uint64(200) {
		h := wire.Hello{Up: fast, Down: fast, Session: session + 2}
		for i := range 16 {
			p := wire.PeerID(fmt.Sprint("ghost", session, ".", i))
			h.Records = append(h.Records, wire.Record{Peer: p, Envelope: overlaytest.Record(p)})
		}
		s.Step(0, event.LinkClosed{Peer: liar})
		s.Step(0, event.LinkOpened{Peer: liar})
		s.Step(0, event.HelloReceived{Peer: liar, Hello: h})
	}
	return nil
}

// twins says whether an honest origin is taken in a day after 2,000 identities signed two summaries each under one
// number: 1 or 0.
func twins(l directory.Limits) (float64, error) {
	d := directory.New(directory.Config{
		Self: "self", Seed: overlaytest.Seed(0).Tag(), Rand: rand.New(rand.NewPCG(1, 2)), Memory: 100_000, MaxOrigins: 1000, Limits: l,
		OpenHeader: overlaytest.OpenHeader, OpenRecord: overlaytest.OpenRecord,
		NewPrefix: summary.NewPrefix, Extend: (*summary.Prefix).Extend,
	})
	nobody := func(wire.PeerID) bool { return false }
	d.Open(liar)
	for i := range uint64(2000) {
		for k := range uint64(2) {
			if _, err := hear(d, 0, liar, fmt.Sprint("twin", i), overlaytest.Fingerprints(4+int(k), 0, 1000+i+1_000_000*k)); err != nil {
				return 0, err
			}
		}
		d.Shed(0, nobody)
	}
	d.Close(liar)
	const later = 24 * time.Hour
	d.Shed(later, nobody)
	for _, s := range d.Step(later) {
		d.Remove(s.Index)
	}
	d.Tidy(later)
	d.Changes()
	d.Open(honest)
	took, err := hear(d, later, honest, "good", overlaytest.Fingerprints(4, 0, 1))
	return truth(took), err
}

// hear brings all of a summary, and says whether something of it was taken in.
func hear(d *directory.Directory, now time.Duration, from wire.PeerID, name string, fps []summary.Fingerprint) (bool, error) {
	x, err := overlaytest.NewOrigin(wire.PeerID(name), fps, summary.Header{})
	if err != nil {
		return false, err
	}
	e := d.Add(now, from, x.Group().OriginTag())
	if e == nil || e.Unwanted(now) {
		return false, nil
	}
	return d.Take(now, e, x.Sent(from, 0, x.Parts())).Learned != nil, nil
}

// memoryOf is the most memory that 500 identities bring a directory to take, under a limit.
func memoryOf(limit int) (float64, error) {
	s, err := overlaytest.NewScene(500, 20, overlay.Config{Memory: limit})
	if err != nil {
		return 0, err
	}
	most := 0
	for now := time.Duration(0); now < time.Minute; now += tick {
		if now == 0 {
			s.Step(now, event.CatalogueReceived{From: honest, Items: s.Items(nil), Bytes: 10_000})
		}
		s.Step(now, event.Tick{})
		most = max(most, s.Overlay.Memory())
	}
	return float64(most), nil
}

// visitors is what memory 1,000 visitors of a meeting place take that each show a summary.
func visitors(l overlay.Limits) (float64, error) {
	taken := [2]int{}
	for visits := range uint64(2) {
		o, err := overlay.New(overlaytest.Alone(overlay.Config{MaxOrigins: 100, Limits: l}))
		if err != nil {
			return 0, err
		}
		for i := range uint64(1000) {
			x, err := overlaytest.NewOrigin(wire.PeerID(fmt.Sprint("visitor", i)), overlaytest.Fingerprints(100, 0, i), summary.Header{})
			if err != nil {
				return 0, err
			}
			in := x.Sent(x.ID, 0, 1)
			own := wire.Parts{Envelope: in.Envelope, Record: in.Record, Run: in.Run}
			now := time.Duration(i) * time.Second
			o.Step(now, event.PeersAsked{From: x.ID, Inquiry: wire.Inquiry{Meet: space.Place(visits << 60), Own: []wire.Parts{own}}})
			o.Step(now, event.Tick{})
		}
		taken[visits] = o.Memory()
	}
	return float64(taken[1] - taken[0]), nil
}
