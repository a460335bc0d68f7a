package experiment

import (
	"math/rand/v2"

	"github.com/venn-p2p/venn/summary"
	"github.com/venn-p2p/venn/testnet/sim"
	"github.com/venn-p2p/venn/testnet/workload"
)

// loadWorkload makes a simulated network's collections of data that a testnet can have too: "debian", a table, or a folder
// of keys. More peers than it has are dealt its files anew.
func loadWorkload(path string, peers int, rng *rand.Rand) (*sim.Data, error) {
	if path == "debian" {
		path = ""
	}
	d, err := workload.Load(workload.Config{Path: path, Peers: peers, Chunk: simulatedChunk, Rand: rng})
	if err != nil {
		return nil, err
	}
	h := summary.Seed{Network: "sim"}.Hasher()
	fps := make([]summary.Fingerprint, d.Keys())
	for i := range fps {
		fps[i] = h.Fingerprint(d.Key(uint32(i)))
	}
	return sim.NewData(fps, d.Collections())
}

// simulatedChunk is the size in bytes of the chunks that files are held in: larger than a testnet's, for there are many
// more peers.
const simulatedChunk = 1 << 20
