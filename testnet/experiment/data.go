package experiment

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"time"

	"github.com/venn-p2p/venn/summary"
	"github.com/venn-p2p/venn/testnet/runs"
	"github.com/venn-p2p/venn/testnet/sim"
	"github.com/venn-p2p/venn/testnet/strategy"
	"github.com/venn-p2p/venn/testnet/workload"
)

// debian names the data that the program holds.
const debian = "debian"

// peer is the number of a peer.
type peer = strategy.ID

// collections are the data that experiments on collections share.
type collections struct {
	held     *sim.Data
	fps      [][]summary.Fingerprint // fingerprints of every peer's keys
	prefixes func() []*summary.Prefix
}

// loadCollections reads the data, "debian", a table or a folder, and hashes its keys. If more peers are wanted than it
// has, its files are dealt to them again.
func loadCollections(path string, peers int, seed uint64) (*collections, error) {
	if path == debian {
		path = ""
	}
	data, err := workload.Load(workload.Config{Path: path, Peers: peers, Rand: rand.New(rand.NewPCG(seed, 0))})
	if err != nil {
		return nil, err
	}
	if n := len(data.Peers()); n < 3 {
		return nil, fmt.Errorf("%w: %d peers, want 3 or more", runs.ErrOptions, n)
	}
	held, err := sim.Load(data, summary.Seed{Network: "experiment"}.Hasher())
	if err != nil {
		return nil, err
	}
	c := &collections{held: held}
	for p := range peer(held.Peers()) {
		c.fps = append(c.fps, held.Fingerprints(held.Collection(p)))
	}
	c.prefixes = sync.OnceValue(c.summarise)
	return c, nil
}

// prefix returns the whole summary of a collection.
func prefix(fps []summary.Fingerprint) *summary.Prefix {
	s, err := summary.Build(fps, summary.Header{Origin: "peer", Epoch: summary.Epoch{Generation: 1}, Lifetime: time.Hour})
	return must(s, err)
}

// summarise makes the whole summaries of all peers.
func (c *collections) summarise() []*summary.Prefix {
	out := make([]*summary.Prefix, len(c.fps))
	runs.Parallel(len(out), runtime.GOMAXPROCS(0), func(i int) { out[i] = prefix(c.fps[i]) })
	return out
}
