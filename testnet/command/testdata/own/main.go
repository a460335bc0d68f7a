// Command own runs a strategy of its own: a peer asks those that it is linked with, and nobody else.
package main

import (
	"time"

	"github.com/venn-p2p/venn/testnet/command"
	"github.com/venn-p2p/venn/testnet/strategy"
)

func main() { command.Main(neighbours) }

var neighbours = strategy.Strategy{
	Name: "neighbours", Source: "an example", Model: "a query goes to all links, and no further",
	Open: func(strategy.World) (strategy.Factory, error) {
		return func(h strategy.Host) strategy.Peer { return peer{h} }, nil
	},
}

type peer struct{ host strategy.Host }

// What peers say: a question for a key, and that it is held.
type (
	have struct{ key strategy.Key }
	yes  struct{}
)

func (p peer) Step(_ time.Duration, in strategy.Input) {
	switch in := in.(type) {
	case strategy.Started:
		for _, to := range p.host.Links() {
			p.host.Send(to, strategy.Message{Body: have{in.Query.Key}, Bytes: strategy.Overhead + strategy.KeyBytes, Query: in.Query.ID})
		}
	case strategy.Received:
		switch b := in.Message.Body.(type) {
		case have:
			if p.host.Look(in.Message.Query, b.key) {
				p.host.Send(in.From, strategy.Message{Body: yes{}, Bytes: strategy.Overhead + 1, Query: in.Message.Query})
			}
		case yes:
			p.host.Found(in.Message.Query, in.From, 1)
		}
	}
}
