package experiment_test

import (
	"context"
	"fmt"
	"time"

	"github.com/venn-p2p/venn/testnet/experiment"
	"github.com/venn-p2p/venn/testnet/strategies"
	"github.com/venn-p2p/venn/testnet/strategy"
)

// askAround is a strategy of one's own, all of it: a peer asks its neighbours whether they hold the key, and nobody
// else.
var askAround = strategy.Strategy{
	Name:   "ask-around",
	Source: "this example",
	Model:  "one question to each neighbour, and their answers",
	Open: func(strategy.World) (strategy.Factory, error) {
		return func(h strategy.Host) strategy.Peer { return &asker{h} }, nil
	},
}

type asker struct{ host strategy.Host }

type question struct{ key strategy.Key }

type answer struct{ holds bool }

func (a *asker) Step(_ time.Duration, in strategy.Input) {
	switch in := in.(type) {
	case strategy.Started:
		for _, p := range a.host.Links() {
			a.host.Send(p, strategy.Message{
				Body: question{in.Query.Key}, Bytes: strategy.Overhead + strategy.KeyBytes, Query: in.Query.ID,
			})
		}
	case strategy.Received:
		q := in.Message.Query
		switch b := in.Message.Body.(type) {
		case question:
			holds := a.host.Look(q, b.key)
			a.host.Send(in.From, strategy.Message{Body: answer{holds}, Bytes: strategy.Overhead + 1, Query: q})
		case answer:
			if b.holds {
				a.host.Found(q, in.From, 1)
			}
		}
	}
}

// A strategy of one's own, in one file, beside others.
func ExampleRunNetwork() {
	others, err := strategy.Find(strategies.All(), "flooding", "oracle")
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := experiment.RunNetwork(context.Background(), experiment.Routing, experiment.NetworkOptions{
		Strategies: append(others, askAround), Peers: 100, Keys: 50, Queries: 500, Trials: 1, Seed: 1,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, row := range r.Rows {
		fmt.Printf("%-10s recall %.2f, messages per query %.0f, hops %.1f\n", row.Strategy, row.Recall, row.MessagesPerQuery, row.Hops)
	}
	// Output:
	// flooding   recall 1.00, messages per query 626, hops 1.8
	// oracle     recall 1.00, messages per query 2, hops 1.0
	// ask-around recall 0.44, messages per query 15, hops 1.0
}
