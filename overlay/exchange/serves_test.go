package exchange

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay/admission"
	"github.com/venn-p2p/venn/overlay/bound"
	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/wire"
)

// TestAskersLeaveHalf: k strangers of k/8 address groups ask without end for the longest answers, and announcements take
// all that the line allows. Half of the answers for an honest stranger that asks every 15 s come at least, and all for a
// link that asks once a second. Strangers take half of the line at most, and announcements have half. Without the limit
// nothing is announced.
func TestAskersLeaveHalf(t *testing.T) {
	const seconds, ticks, pause, answer, message = 300, 20, 15, 20_000, 1_000 // bytes of an answer, of an announcement
	for _, k := range []int{8, 64, 512} {
		for _, limited := range []bool{true, false} {
			rng := rand.New(rand.NewPCG(1, 2))
			cfg := Config{Self: "self", Up: 10_000_000, Down: 10_000_000, Share: 1. / 3, Rand: rng}
			d := emptyDirectory(rng)
			x := New(cfg, new(event.Effects), d)
			if !limited {
				x.served = admission.New(1e6, 2*bound.Few)
			}
			x.open(0, d.Open("link", ""))
			strangers, honest, link, announced := 0, 0, 0, 0
			for tick := range seconds * ticks {
				now := time.Duration(tick) * time.Second / ticks
				x.Refill(now)
				asks := func(p wire.PeerID, group string) bool {
					return x.Serve(now, event.Asked{From: p, Group: group}, answer)
				}
				for i := range 8 {
					if i += tick * 8; asks(wire.PeerID(fmt.Sprint(i%k)), fmt.Sprint(i%max(1, k/8))) {
						strangers++
					}
				}
				if tick%(pause*ticks) == 0 && asks("honest", "own") {
					honest++
				}
				if tick%ticks == 0 && asks("link", "0") {
					link++
				}
				for x.up.allows(message) {
					x.up.take(message)
					announced += message
				}
			}
			line := seconds * x.up.rate
			t.Logf("%d identities, limited %v: %d of %d answers for an honest stranger, %d of %d for a link, %d for others; %.2f of the line for announcements",
				k, limited, honest, seconds/pause, link, seconds, strangers, float64(announced)/line)
			if !limited {
				if float64(announced) > .05*line {
					t.Error("the attack does nothing")
				}
				continue
			}
			if float64(announced) < .5*line {
				t.Error("less than half of the line for announcements")
			}
			if honest < seconds/pause/2 || link < seconds*9/10 {
				t.Error("less than half for the stranger, or nine tenths for the link")
			}
			if share := float64(strangers*answer) / line; share > .5 {
				t.Errorf("strangers take %.2f of the line", share)
			}
		}
	}
}
