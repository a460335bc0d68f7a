package sim

import (
	"cmp"
	"errors"
	"io"
	"math/rand/v2"
	"time"

	"github.com/venn-p2p/venn/testnet/strategy"
)

// Config describes a run. Zero values mean the stated defaults. New does not check the other values: package
// scenario, which makes runs, refuses invalid ones.
type Config struct {
	Strategy strategy.Strategy
	Params   strategy.Params
	Data     *Data // the collections; required
	Topology Topology
	Edges    [][2]strategy.ID // links open at the start, opener first, each pair once; nil: as Topology draws them
	Script   Script           // planned events; zero: none

	// Rates returns the rates of a peer's line, bit/s, each at least 1; nil: 10 Mbit/s each way for all.
	Rates func(strategy.ID) (up, down uint64)
	// Latency returns the one-way latency between two peers, in whole microseconds. A value below Least counts as
	// Least. nil: Least for all pairs.
	Latency func(a, b strategy.ID) time.Duration

	Least      time.Duration // least one-way latency, and length of a window; 0: 10 ms
	Loss       float64       // probability that a packet is lost, each time that it is sent, in [0, 0.5]
	Reordered  float64       // share of messages that later ones overtake, in [0, 0.5]; the delay is up to a second
	Duplicated float64       // share of messages that arrive twice, in [0, 0.5]; the copy up to a second later

	Warmup   time.Duration // time before the first query
	Asking   time.Duration // time from the first query to the last; 0: 60 s
	Patience time.Duration // longest time of a query; 0: 30 s
	All      bool          // queries want every holder; else one

	Seed uint64

	// Each calls do(0) to do(n-1), in any order and on any number of processors, and returns when all calls have
	// returned. nil: the calls are made one after the other.
	Each func(n int, do func(i int))
	// Notes makes peers keep notes for viewers that watch the run: see Watched in package strategy/venn. Notes do
	// not change what peers do.
	Notes bool
	// Trace receives the run's trace, see [Record]; nil: only its hash is computed.
	Trace io.Writer
	// Progress is called about once per virtual second; it stops the run by returning false. nil: not called.
	Progress func(now, end time.Duration) bool
}

// ErrConfig is matched when a strategy refuses its parameters.
var ErrConfig = errors.New("sim: bad configuration")

func (c *Config) defaults() {
	c.Least = cmp.Or(c.Least, 10*time.Millisecond)
	c.Asking = cmp.Or(c.Asking, time.Minute)
	c.Patience = cmp.Or(c.Patience, 30*time.Second)
	if c.Rates == nil {
		c.Rates = func(strategy.ID) (up, down uint64) { return 10_000_000, 10_000_000 }
	}
}

// MaxPeers is the largest number of peers of a run.
const MaxPeers = 1 << 20

// random returns a source of randomness for one purpose.
func (c *Config) random(p purpose) *rand.Rand { return strategy.Random(c.Seed, string(p), 0) }

// generator is a source of randomness that is part of its owner's struct. It must not be copied after begin,
// because Rand points to source.
type generator struct {
	rand.Rand
	source rand.PCG
}

func (g *generator) begin(c *Config, p purpose, of strategy.ID) {
	g.source = strategy.Stream(c.Seed, string(p), uint64(of))
	g.Rand = *rand.New(&g.source)
}

// purpose names the use of a source of randomness. These purposes are the simulator's; strategies have others.
type purpose string

const (
	linking  purpose = "sim: topology"
	rewiring purpose = "sim: links in place of those to peers that are away at the start"
	stepping purpose = "sim: a peer's machine"
	carrying purpose = "sim: a peer's network"
)
