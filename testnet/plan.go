package testnet

import (
	"cmp"
	"fmt"
	"time"

	"github.com/venn-p2p/venn/testnet/holdings"
	"github.com/venn-p2p/venn/testnet/scenario"
	"github.com/venn-p2p/venn/testnet/sim"
	"github.com/venn-p2p/venn/testnet/strategy"
	"github.com/venn-p2p/venn/testnet/workload"
)

// plan loads the data and draws all else from the seed, as the plan of a scenario with these settings. Queries for one
// holder and for all take turns. Each query of a log is asked both ways.
func (c *Config) plan() (*scenario.Plan, error) {
	data, err := workload.Load(workload.Config{Path: c.Data, Chunk: c.Chunk, Peers: c.Peers, Rand: c.random(dealing)})
	if err != nil {
		return nil, err
	}
	if len(data.Peers()) < 2 {
		return nil, fmt.Errorf("%w: %s has one peer, a network needs 2", ErrConfig, c.Data)
	}
	s := &scenario.Scenario{
		Name: Network, Seed: c.Seed, Peers: len(data.Peers()), Asking: scenario.Duration(c.length()), Patience: scenario.Duration(c.FindTimeout),
		Links: scenario.Links{Topology: sim.Topology{Kind: sim.Random, Degree: linksEach}}, Changes: scenario.Changes{Share: c.Churn},
		Queries: scenario.Queries{Rule: c.queriesLike(), Number: 2 * c.Queries, Zipf: holdings.ZipfExponent, Untimed: true},
	}
	if holdings.CheckRule(c.queriesLike()) != nil {
		s.Queries.Log = c.QueriesLike
	}
	for _, l := range c.Links {
		s.Lines = append(s.Lines, scenario.Line{Name: l.Name, Share: float64(l.Weight), Up: scenario.Rate(l.Rate), Down: scenario.Rate(l.Rate)})
	}
	p, err := s.PlanOf(data, len(data.Peers())*c.addsEach())
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	if s.Queries.Log != "" {
		var both []sim.Ask
		for _, a := range p.Script.Asks[:min(c.Queries, len(p.Script.Asks))] {
			both = append(both, a, a)
		}
		p.Script.Asks = both
	}
	latency := c.latency()
	p.Latency = func(_, _ strategy.ID) time.Duration { return latency }
	return p, nil
}

// length returns the time over which queries are spread while collections change; 0: they stay as they are.
func (c *Config) length() time.Duration {
	if c.Churn == 0 && c.Adds == 0 {
		return 0
	}
	return time.Duration(c.Minutes * float64(time.Minute))
}

// queriesLike returns the rule by which queries are drawn, or the path of their log.
func (c *Config) queriesLike() string { return cmp.Or(c.QueriesLike, holdings.Uniform) }

// latency returns the latency of shaped or simulated lines; 0 for the machine's own.
func (c *Config) latency() time.Duration {
	if c.Shape || c.Transport == Sim {
		return lineLatency
	}
	return 0
}

// query is a query of a run. Its time At is ignored.
type query struct {
	sim.Ask
	all bool // all holders are wanted; else one
}

// queries returns the queries of a plan, of both kinds in turn.
func queries(p *scenario.Plan) (out []query) {
	for i, a := range p.Script.Asks {
		out = append(out, query{a, i%2 == 1})
	}
	return out
}
