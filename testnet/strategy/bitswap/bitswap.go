// Package bitswap asks all connected peers at once, as Bitswap does before it asks a DHT.
package bitswap

import (
	"time"

	"github.com/venn-p2p/venn/testnet/strategy"
)

// Strategy asks all linked peers for the key. It finds only keys that these hold, and has no upkeep but the links
// themselves.
var Strategy = strategy.Strategy{
	Name:   "bitswap",
	Source: "IPFS, Bitswap 1.2.0 (2020): the broadcast at the beginning of a session",
	Model: "want-have goes to all linked peers at once, each answers have or don't-have. Links are those of the topology: the sweep " +
		"over degree has more of them. Left out: what follows, a DHT, blocks, sessions that remember who answered.",
	Open: func(strategy.World) (strategy.Factory, error) {
		return func(h strategy.Host) strategy.Peer { return &peer{h, strategy.NewProber(h)} }, nil
	},
}

type peer struct {
	host   strategy.Host
	prober strategy.Prober
}

// Step implements [strategy.Peer].
func (p *peer) Step(_ time.Duration, in strategy.Input) {
	if p.prober.Step(in) {
		return
	}
	if s, is := in.(strategy.Started); is {
		q := s.Query
		q.All = true // all peers are asked at once, even if one holder is wanted
		p.prober.Start(q, append([]strategy.ID(nil), p.host.Links()...), 1)
	}
}
