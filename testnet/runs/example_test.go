package runs_test

import (
	"context"
	"fmt"
	"time"

	"github.com/venn-p2p/venn/testnet/runs"
	"github.com/venn-p2p/venn/testnet/scenario"
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
func ExampleSimulate() {
	s, err := scenario.Parse("mine.toml", `
question = "How far does asking around get?"
strategies = ["flooding", "oracle", "ask-around"]
trials = 1

[collections]
keys = 50
`)
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := runs.Simulate(context.Background(), runs.Options{
		Scenarios: []*scenario.Scenario{s}, Known: append(strategies.All(), askAround),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, run := range r.Runs {
		v := s.Values(run)
		fmt.Printf("%-10s recall %.2f, messages per query %.0f, hops %.1f\n", run.Strategy, v["recall"], v["messages"], v["hops"])
	}
	// Output:
	// flooding   recall 1.00, messages per query 630, hops 1.8
	// oracle     recall 1.00, messages per query 2, hops 1.0
	// ask-around recall 0.47, messages per query 15, hops 1.0
}
