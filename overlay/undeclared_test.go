package overlay_test

import (
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay"
	"github.com/venn-p2p/venn/overlay/exchange"
	"github.com/venn-p2p/venn/overlay/overlaylab"
)

// TestUndeclaredLines: where nobody declares anything, links begin at a modest rate and go on at what their lines
// carry, up or down, without filling them.
func TestUndeclaredLines(t *testing.T) {
	const share = 1.0 / 3
	for name, c := range map[string]struct{ line, least, most float64 }{ // bit/s of summaries, over the last half
		"slow":  {400_000, 0.5 * share * 400_000, 1.1 * share * 400_000},
		"quick": {4_000_000, 0.5 * share * 4_000_000, 1.1 * share * 4_000_000},
	} {
		t.Run(name, func(t *testing.T) {
			net, err := overlaylab.New([]overlay.Config{{Share: share, Up: 100_000_000}, {Share: share}}, 1)
			if err != nil {
				t.Fatal(err)
			}
			net.Line = func(_, _ int) float64 { return c.line }
			const rounds, round = 10, 4 * time.Second
			var sent [rounds]int
			net.Sent = func(now time.Duration, from, _ int, bytes int) {
				if k := int(now / round); from == 0 && k < rounds {
					sent[k] += bytes
				}
			}
			net.Connect(0, 1)
			for k := range rounds {
				net.Publish(0, overlaylab.Fingerprints(500_000, 0, uint64(k))) // more than the line carries
				net.Run(time.Duration(k+1) * round)
			}
			first, late := sent[0], 0
			for _, b := range sent[rounds/2:] {
				late += b
			}
			rate := 8 * float64(late) / (round.Seconds() * rounds / 2)
			t.Logf("%d bytes in the first round; at last %.0f bit/s on a line of %.0f", first, rate, c.line)
			modest := 2 * exchange.LinkRate(100_000_000, exchange.FirstRate, share) // raised once, perhaps
			if limit := int(exchange.Burst(modest) + round.Seconds()*modest); first > limit {
				t.Errorf("%d bytes in the first round, at most %d", first, limit)
			}
			if rate < c.least || rate > c.most {
				t.Errorf("%.0f bit/s at last, want %.0f to %.0f", rate, c.least, c.most)
			}
		})
	}
}
