package threats

import (
	"context"
	"time"

	"github.com/venn-p2p/venn/overlay"
	"github.com/venn-p2p/venn/overlay/overlaylab"
)

const (
	honest, liar = overlaylab.Honest, overlaylab.Liar

	fast    = overlaylab.Fast
	tick    = overlaylab.Tick
	origins = 120 // origins that the honest link offers
)

// exchangeAttacks are attacks on the lines of peers. Tests of overlay have a link that makes false claims.
var exchangeAttacks = []attack{
	{
		name: "an asymmetric line: 256 kbit/s down, 10 Mbit/s up", where: Cores, measured: "seconds that messages to it wait at worst", target: atMost(5),
		defence: "senders keep to what a receiver declares", run: narrow(256_000),
	},
	{
		name: "a reader of 1 kB/s", where: Cores, measured: "seconds that messages to it wait at worst", target: atMost(60),
		defence: "senders keep to what a receiver declares", run: narrow(8000),
	},
}

// narrow returns the longest time, in seconds, that a message waits for the line of one peer, of a rate in bit/s, in
// a network of fast peers. Undefended, the peer does not declare that rate.
func narrow(rate uint64) func(context.Context, bool) float64 {
	return either(func(declared uint64) float64 {
		configs := make([]overlay.Config, 20)
		for i := range configs {
			configs[i] = overlay.Config{Up: fast, Down: fast}
		}
		configs[0].Down = declared
		net := must(overlaylab.New(configs, 1))
		net.Unchecked = true
		var free, worst time.Duration // free: when the line is free; worst: the longest wait for it
		net.Sent = func(now time.Duration, _, to, bytes int) {
			if to == 0 {
				free = max(free, now) + time.Duration(8*bytes)*time.Second/time.Duration(rate)
				worst = max(worst, free-now)
			}
		}
		for i := range configs {
			net.Publish(i, overlaylab.Fingerprints(20_000, 10_000, uint64(i)))
			for j := range min(i, 2) {
				net.Connect(i, j)
			}
		}
		net.Run(3 * time.Minute)
		return worst.Seconds()
	}, rate, fast)
}
