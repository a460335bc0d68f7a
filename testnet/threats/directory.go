package threats

import (
	"fmt"
	"time"

	"github.com/venn-p2p/venn/overlay"
	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/overlaylab"
	"github.com/venn-p2p/venn/overlay/space"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// directoryAttacks are attacks that fill a peer's memory of others. Tests of overlay and overlay/directory show more.
var directoryAttacks = []attack{
	{
		name: "a crowd of 1,000 visitors at a meeting place", where: Cores, measured: "bytes of memory that they take", target: atMost(150_000),
		defence: "the latest 64 are remembered, and counted as memory",
		run:     limited(visitors, overlay.Limits{Visitors: unbounded}),
	},
}

// visitors returns the bytes of memory taken by 1,000 visitors of a meeting place, each of which shows a summary.
func visitors(l overlay.Limits) float64 {
	taken := [2]int{}
	for visits := range uint64(2) {
		o := must(overlay.New(overlaylab.Alone(overlay.Config{MaxOrigins: 100, Limits: l})))
		for i := range uint64(1000) {
			x := overlaylab.NewOrigin(wire.PeerID(fmt.Sprint("visitor", i)), overlaylab.Fingerprints(100, 0, i), summary.Header{})
			in := x.Sent(x.ID, 0, 1)
			own := wire.Parts{Envelope: in.Envelope, Record: in.Record, Run: in.Run}
			now := time.Duration(i) * time.Second
			o.Step(now, event.Asked{From: x.ID, Question: wire.Inquiry{Meet: space.Place(visits << 60), Own: []wire.Parts{own}}})
			o.Step(now, event.Tick{})
		}
		taken[visits] = o.Memory()
	}
	return float64(taken[1] - taken[0])
}
