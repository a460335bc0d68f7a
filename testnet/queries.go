package testnet

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/venn-p2p/venn/testnet/holdings"
	"github.com/venn-p2p/venn/testnet/scenario"
	"github.com/venn-p2p/venn/testnet/sim"
	"github.com/venn-p2p/venn/testnet/strategy"
	"github.com/venn-p2p/venn/testnet/workload"
)

// query is a query of a run: its time does not count.
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

// queriesLike returns the rule by which queries are drawn, or the log that they come from.
func (c *Config) queriesLike() string { return cmp.Or(c.QueriesLike, holdings.Uniform) }

// draw draws Config.Queries queries of each kind, or reads the log that Config.QueriesLike names: peers by name or
// number, keys as they are. A peer does not ask for a key that it holds.
func (c *Config) draw(p *scenario.Plan, data *workload.Data) error {
	anybody := func(strategy.ID) bool { return true }
	if holdings.CheckRule(c.queriesLike()) == nil {
		drawer := holdings.Drawer[strategy.ID]{Rule: c.queriesLike(), Exponent: holdings.ZipfExponent, Held: holdings.NewNow(p.Data.Table)}
		rng := c.random(asking)
		for range 2 * c.Queries {
			if asker, key, found := drawer.Query(data.Keys(), rng, anybody, anybody); found {
				p.Script.Asks = append(p.Script.Asks, sim.Ask{Peer: asker, Key: key})
			}
		}
		return nil
	}
	f, err := os.Open(c.QueriesLike)
	if err != nil {
		return fmt.Errorf("testnet: %w", err)
	}
	defer f.Close()
	peer := func(name string) (strategy.ID, bool) {
		at := slices.Index(p.Names, name)
		if i, err := strconv.Atoi(name); at < 0 && err == nil && i >= 0 && i < len(p.Names) {
			at = i
		}
		return strategy.ID(at), at >= 0
	}
	logged, err := holdings.ReadLog(f, time.Duration(math.MaxInt64), peer, holdings.KeyNames(data.Keys(), data.Lookup))
	if err != nil {
		return fmt.Errorf("%w: %s: %w", ErrConfig, c.QueriesLike, err)
	}
	for _, q := range logged {
		if ask := (sim.Ask{Peer: q.Asker, Key: q.Key}); !p.Data.Holds(q.Asker, q.Key) && len(p.Script.Asks) < 2*c.Queries {
			p.Script.Asks = append(p.Script.Asks, ask, ask) // of both kinds
		}
	}
	return nil
}
