package threats

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/venn-p2p/venn/overlay"
	"github.com/venn-p2p/venn/overlay/directory"
	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/overlaylab"
	"github.com/venn-p2p/venn/routing/match"
	"github.com/venn-p2p/venn/summary"
)

// claimAttacks are lies in signed summaries: keys that the origin does not hold.
var claimAttacks = []attack{
	{
		name: "half of the network boasts with its victim's own keys", measured: "slots that boasters have after five minutes, of the four for overlap",
		target: atMost(0), defence: "neighbours by overlap are audited", slow: true,
		run: limited(pretended, directory.Limits{Answers: 1}),
	},
	{
		name: "a summary of keys that its origin does not hold", measured: "queries that ask it in vain before it is passed over", target: atMost(2),
		defence: "who lacks what it was sure to hold is audited at once",
		run:     limited(pretender, directory.Limits{Answers: 1}),
	},
}

// pretender returns the number of queries that ask a peer in vain before it is no longer trusted. Its summary has
// all keys of the searcher, but it holds none of those that an audit asks for.
func pretender(l directory.Limits) float64 {
	s := must(overlaylab.NewScene(1, 1000, overlay.Config{Limits: overlay.Limits{Directory: l}}))
	own := overlaylab.NewOrigin("self", overlaylab.Fingerprints(1000, 0, 0), summary.Header{})
	s.Step(0, event.Published{Envelope: own.Envelope, Record: own.Record, Stream: own.Stream})
	s.Step(0, event.CatalogueReceived{From: honest, Items: s.Items(nil), Bytes: 20})
	now := time.Duration(0)
	for ; now < time.Minute; now += tick {
		s.Step(now, event.Tick{})
	}
	claimant := s.Origins[0].ID
	for asked := 1; asked <= 100; asked++ {
		for _, e := range s.Overlay.Step(now, event.Outcome{Peer: claimant, Misses: 1}) {
			if a, ok := e.(event.Audit); ok && a.Of.Peer == claimant {
				s.Step(now, event.Outcome{Peer: claimant, Misses: 20})
			}
		}
		c := s.Overlay.Candidates(nil, overlaylab.Fingerprints(1000, 0, 0)[0])
		if len(c) != 1 {
			check(fmt.Errorf("%d peers match", len(c)))
		}
		if match.Trust(c[0].Hits, c[0].Misses) < match.MinTrust {
			return float64(asked)
		}
	}
	return 100
}

// pretended returns the number of slots for overlap whose neighbours hold none of the keys that they claim.
func pretended(l directory.Limits) float64 {
	const honests, boasters = 20, 20
	configs := make([]overlay.Config, honests+boasters)
	for i := range configs {
		configs[i] = overlay.Config{Up: fast, Down: fast, Limits: overlay.Limits{Directory: l}}
	}
	net := must(overlaylab.New(configs, 1))
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
	return float64(slots)
}
