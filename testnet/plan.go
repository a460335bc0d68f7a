package testnet

import (
	"fmt"
	"time"

	"github.com/venn-p2p/venn/testnet/scenario"
	"github.com/venn-p2p/venn/testnet/sim"
	"github.com/venn-p2p/venn/testnet/strategy"
	"github.com/venn-p2p/venn/testnet/workload"
)

// plan loads the data and draws from the seed: a plan without events, besides those that a run adds.
func (c *Config) plan() (*scenario.Plan, *workload.Data, *truth, error) {
	data, err := workload.Load(workload.Config{Path: c.Data, Chunk: c.Chunk, Peers: c.Peers, Rand: c.random(dealing)})
	if err != nil {
		return nil, nil, nil, err
	}
	n := len(data.Peers())
	if n < 2 {
		return nil, nil, nil, fmt.Errorf("%w: %s has one peer, a network needs 2", ErrConfig, c.Data)
	}
	now, err := truthOf(data)
	if err != nil {
		return nil, nil, nil, err
	}
	p := &scenario.Plan{
		Scenario: &scenario.Scenario{
			Name: Network, Peers: n, Seed: c.Seed, Patience: scenario.Duration(c.FindTimeout),
			Links: scenario.Links{Kind: string(sim.Random), Degree: linksEach},
		},
		Seed: c.Seed, Data: now.data, Names: data.Peers(), Class: c.Links.Assign(n, c.random(linking)),
		Adversaries: make([]string, n), Invented: make([]strategy.Invented, n), Jumps: make([][]scenario.Jump, n), Older: make([]bool, n),
		Latency: func(_, _ strategy.ID) time.Duration { return c.latency() },
	}
	for _, l := range c.Links {
		p.Lines = append(p.Lines, scenario.Line{Name: l.Name, Up: scenario.Rate(l.Rate), Down: scenario.Rate(l.Rate)})
	}
	return p, data, now, c.draw(p, data)
}

// latency returns the latency of lines that are not the machine's own.
func (c *Config) latency() time.Duration {
	if c.Shape || c.Transport == Sim {
		return lineLatency
	}
	return 0
}
