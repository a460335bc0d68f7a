package testnet

import (
	"context"
	"fmt"
	"time"

	"github.com/venn-p2p/venn/testnet/strategy"
	"github.com/venn-p2p/venn/testnet/strategy/oracle"
)

// askAll is a strategy of one's own, all of it: a peer asks its neighbours, who ask nobody else.
var askAll = strategy.Strategy{
	Name:   "ask-all",
	Source: "this example",
	Open: func(strategy.World) (strategy.Factory, error) {
		return func(h strategy.Host) strategy.Peer { return asker{h} }, nil
	},
}

type asker struct{ host strategy.Host }

func (a asker) Step(_ time.Duration, in strategy.Input) {
	switch in := in.(type) {
	case strategy.Started:
		for _, p := range a.host.Links() {
			a.host.Send(p, strategy.Message{Body: in.Query.Key, Bytes: strategy.Overhead + strategy.KeyBytes, Query: in.Query.ID})
		}
	case strategy.Received:
		q := in.Message.Query
		switch b := in.Message.Body.(type) {
		case strategy.Key: // a question
			a.host.Send(in.From, strategy.Message{Body: a.host.Look(q, b), Bytes: strategy.Overhead + 4, Query: q})
		case bool: // its answer
			if b {
				a.host.Found(q, in.From, 1)
			}
		}
	}
}

// A strategy of one's own, on real hosts, beside one that cannot be beaten.
func ExampleStrategySystem() {
	c, err := Compare(context.Background(), Config{Peers: 8, Chunk: 1 << 20, Queries: 10, Seed: 1},
		StrategySystem(askAll), StrategySystem(oracle.Strategy))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, row := range c.Rows {
		fmt.Printf("%s: recall %.1f, %.1f messages a query\n", row.System, row.FindOne.Recall, row.FindOne.Messages)
	}
	// Output:
	// ask-all: recall 0.7, 9.2 messages a query
	// oracle: recall 1.0, 2.0 messages a query
}
