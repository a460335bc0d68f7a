package experiment

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/venn-p2p/venn/summary"
	"github.com/venn-p2p/venn/testnet/holdings"
	"github.com/venn-p2p/venn/testnet/runs"
	"github.com/venn-p2p/venn/testnet/workload"
)

// debian names the data that the program holds.
const debian = "debian"

// loadData reads data that a testnet can have too: "debian", a table, or a folder of keys. More peers than it has are
// dealt its files again. The fingerprints are of its keys, by their numbers, in a network of the given name.
func loadData(c workload.Config, network string) (*workload.Data, []summary.Fingerprint, error) {
	if c.Path == debian {
		c.Path = ""
	}
	d, err := workload.Load(c)
	if err != nil {
		return nil, nil, err
	}
	h := summary.Seed{Network: network}.Hasher()
	fps := make([]summary.Fingerprint, d.Keys())
	for i := range fps {
		fps[i] = h.Fingerprint(d.Key(uint32(i)))
	}
	return d, fps, nil
}

// peer is the number of one.
type peer int32

// collections are the data that experiments on collections share.
type collections struct {
	data     *workload.Data
	held     *holdings.Table[peer]
	fps      [][]summary.Fingerprint // of every peer
	prefixes func() []*summary.Prefix
}

// loadCollections reads the data and hashes its keys.
func loadCollections(path string, peers int, seed uint64) (*collections, error) {
	data, all, err := loadData(workload.Config{Path: path, Peers: peers, Rand: rand.New(rand.NewPCG(seed, 0))}, "experiment")
	if err != nil {
		return nil, err
	}
	if n := len(data.Peers()); n < 3 {
		return nil, fmt.Errorf("%w: %d peers, want 3 or more", runs.ErrOptions, n)
	}
	held, err := holdings.New[peer](data.Keys(), data.Collections())
	if err != nil {
		return nil, err
	}
	c := &collections{data: data, held: held}
	for _, keys := range data.Collections() {
		fps := make([]summary.Fingerprint, len(keys))
		for i, k := range keys {
			fps[i] = all[k]
		}
		c.fps = append(c.fps, fps)
	}
	c.prefixes = sync.OnceValue(c.summarise)
	return c, nil
}

// prefix is the whole summary of a collection.
func prefix(fps []summary.Fingerprint) *summary.Prefix {
	s, err := summary.Build(fps, summary.Header{Origin: "peer", Epoch: summary.Epoch{Generation: 1}, Lifetime: time.Hour})
	return must(s, err)
}

// summarise makes the whole summaries of all peers.
func (c *collections) summarise() []*summary.Prefix {
	out := make([]*summary.Prefix, len(c.fps))
	parallel(len(out), func(i int) { out[i] = prefix(c.fps[i]) })
	return out
}

// parallel calls do(0) to do(n-1) on all processors, and returns when all are done.
func parallel(n int, do func(i int)) {
	var next atomic.Int64
	work := func() {
		for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
			do(i)
		}
	}
	var others sync.WaitGroup
	for range min(n, runtime.GOMAXPROCS(0)) - 1 {
		others.Go(work)
	}
	work()
	others.Wait()
}
