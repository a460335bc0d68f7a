package testnet

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/venn-p2p/venn/testnet/holdings"
	"github.com/venn-p2p/venn/testnet/workload"
)

// queriesLike is the rule by which queries are drawn, or the log that they come from.
func (c *Config) queriesLike() string { return cmp.Or(c.QueriesLike, holdings.Uniform) }

// drawn are the queries of a kind.
func (r *run) drawn(kind workload.Kind, rng *rand.Rand) (out []workload.Query) {
	if r.logged != nil {
		for _, q := range r.logged {
			out = append(out, workload.Query{Kind: kind, Asker: int(q.Asker), Key: q.Key})
		}
		return out[:min(len(out), r.cfg.Queries)]
	}
	if r.cfg.queriesLike() == holdings.Uniform {
		return r.data.Queries(kind, r.cfg.Queries, rng)
	}
	drawer := holdings.Drawer[int32]{Rule: r.cfg.QueriesLike, Exponent: 0.8, Held: holdings.NewNow(r.start.Table)}
	anybody := func(int32) bool { return true }
	for range r.cfg.Queries {
		if p, key, found := drawer.Query(r.data.Keys(), rng, anybody, anybody); found {
			out = append(out, workload.Query{Kind: kind, Asker: int(p), Key: key})
		}
	}
	return out
}

// readLog reads the log that Config.QueriesLike names, if it names one: peers by name or number, keys as they are. What
// a peer holds itself it does not ask for.
func (r *run) readLog() error {
	if holdings.CheckRule(r.cfg.queriesLike()) == nil {
		return nil
	}
	f, err := os.Open(r.cfg.QueriesLike)
	if err != nil {
		return fmt.Errorf("testnet: %w", err)
	}
	defer f.Close()
	names := r.data.Peers()
	peer := func(name string) (int32, bool) {
		p := slices.Index(names, name)
		if i, err := strconv.Atoi(name); p < 0 && err == nil && i >= 0 && i < len(names) {
			p = i
		}
		return int32(p), p >= 0
	}
	if r.logged, err = holdings.ReadLog(f, time.Duration(math.MaxInt64), peer, holdings.KeyNames(r.data.Keys(), r.data.Lookup)); err != nil {
		return fmt.Errorf("%w: %s: %w", ErrConfig, r.cfg.QueriesLike, err)
	}
	r.logged = slices.DeleteFunc(r.logged, func(q holdings.Logged[int32]) bool { return r.start.Holds(q.Asker, q.Key) })
	return nil
}
