// Package oracle has a strategy that looks up the truth: it asks only peers that hold the key.
package oracle

import (
	"time"

	"github.com/venn-p2p/venn/testnet/strategy"
)

// Strategy asks a peer that is known to hold the key. No strategy finds a holder with fewer messages than this
// question and its answer. Some are faster: they have a connection where the oracle needs a new one, or they ask
// several holders and take the quickest answer.
var Strategy = strategy.Strategy{
	Name:   "oracle",
	Source: "none: the truth, looked up",
	Model:  "the nearest holder that is online is asked; for find-all, every holder. No upkeep.",
	Open: func(w strategy.World) (strategy.Factory, error) {
		return func(h strategy.Host) strategy.Peer {
			return &peer{host: h, world: &w, prober: strategy.NewProber(h)}
		}, nil
	},
}

type peer struct {
	host   strategy.Host
	world  *strategy.World
	prober strategy.Prober
}

func (o *peer) Step(_ time.Duration, in strategy.Input) {
	if q, is := in.(strategy.Started); is {
		o.prober.Start(q.Query, o.holders(q.Query), 1)
		return
	}
	o.prober.Step(in)
}

// holders returns the peers to ask: all online holders, or the nearest one.
func (o *peer) holders(q strategy.Query) []strategy.ID {
	var out []strategy.ID
	self := o.host.Self()
	for _, p := range o.world.Holders(q.Key) {
		switch {
		case p == self || !o.world.Online(p):
		case q.All || len(out) == 0:
			out = append(out, p)
		case o.world.Latency(self, p) < o.world.Latency(self, out[0]):
			out[0] = p
		}
	}
	return out
}
