package threats

import (
	"context"
	"math"
	"time"

	"github.com/venn-p2p/venn/overlay"
	"github.com/venn-p2p/venn/overlay/exchange"
	"github.com/venn-p2p/venn/overlay/overlaylab"
)

const (
	honest, liar = overlaylab.Honest, overlaylab.Liar

	fast    = overlaylab.Fast
	tick    = overlaylab.Tick
	origins = 120 // that the honest link offers
)

// exchangeAttacks are attacks by one hostile link beside an honest one.
var exchangeAttacks = []attack{
	{
		name: "claims of newer epochs, every 5 s", where: Cores, measured: "origins of 120 learned in a minute", target: atLeast(origins),
		defence: "credit of a link: claims that are not kept put it behind others",
		run:     limited(liedTo(5*time.Second, false), exchange.Limits{Credit: math.Inf(1)}),
	},
	{
		name: "the same, in new sessions", where: Cores, measured: "origins of 120 learned in a minute", target: atLeast(origins),
		defence: "blame outlives sessions",
		run:     limited(liedTo(2*time.Second, true), exchange.Limits{Remember: -1}),
	},
	{
		name: "an asymmetric line: 256 kbit/s down, 10 Mbit/s up", where: Cores, measured: "seconds that messages to it wait at worst", target: atMost(5),
		defence: "senders keep to what a receiver declares", run: narrow(256_000),
	},
	{
		name: "a reader of 1 kB/s", where: Cores, measured: "seconds that messages to it wait at worst", target: atMost(60),
		defence: "senders keep to what a receiver declares", run: narrow(8000),
	},
}

// liedTo returns the number of origins known after a minute beside a liar.
func liedTo(every time.Duration, sessions bool) func(exchange.Limits) (float64, error) {
	return func(l exchange.Limits) (float64, error) {
		n, err := overlaylab.LiedTo(overlay.Config{Limits: overlay.Limits{Exchange: l}}, every, sessions)
		return float64(n), err
	}
}

// narrow measures how long messages wait for the line of one peer, of a rate in bit/s, in a network of fast ones.
// Undefended, the peer does not declare its rate.
func narrow(rate uint64) func(context.Context, bool) (float64, error) {
	return either(func(declared uint64) (float64, error) {
		configs := make([]overlay.Config, 20)
		for i := range configs {
			configs[i] = overlay.Config{Up: fast, Down: fast}
		}
		configs[0].Down = declared
		net, err := overlaylab.New(configs, 1)
		if err != nil {
			return 0, err
		}
		net.Unchecked = true
		var free, worst time.Duration // when the line is free, and the longest wait for that
		net.Sent = func(now time.Duration, _, to, bytes int) {
			if to == 0 {
				free = max(free, now) + time.Duration(8*bytes)*time.Second/time.Duration(rate)
				worst = max(worst, free-now)
			}
		}
		for i := range configs {
			if err := net.Publish(i, overlaylab.Fingerprints(20_000, 10_000, uint64(i))); err != nil {
				return 0, err
			}
			for j := range min(i, 2) {
				net.Connect(i, j)
			}
		}
		net.Run(3 * time.Minute)
		return worst.Seconds(), nil
	}, rate, fast)
}
