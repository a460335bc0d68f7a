package experiment

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"github.com/venn-p2p/venn/summary"
	"github.com/venn-p2p/venn/testnet/sim"
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

// loadSimulated makes a simulated network's collections.
func loadSimulated(path string, peers int, rng *rand.Rand) (*sim.Data, error) {
	d, fps, err := loadData(workload.Config{Path: path, Peers: peers, Chunk: simulatedChunk, Rand: rng}, "sim")
	if err != nil {
		return nil, err
	}
	return sim.NewData(fps, d.Collections())
}

// simulatedChunk is the size in bytes of the chunks that files are held in: larger than a testnet's, for there are many
// more peers.
const simulatedChunk = 1 << 20

// contents stands for what is in the data of a name, to the byte. A run with a table or folder that has changed finds
// something else. Empty for debian, which is a part of the program.
func contents(data string) (string, error) {
	if data == debian {
		return "", nil
	}
	files := []string{data}
	if entries, err := os.ReadDir(data); err == nil {
		files = nil
		for _, e := range entries {
			if !strings.HasPrefix(e.Name(), ".") { // package workload leaves those out
				files = append(files, filepath.Join(data, e.Name()))
			}
		}
	}
	h := sha256.New()
	for _, f := range files {
		sum, err := sumOf(f)
		if err != nil {
			return "", fmt.Errorf("experiment: %w", err)
		}
		fmt.Fprintf(h, "%q %x\n", filepath.Base(f), sum)
	}
	return hex.EncodeToString(h.Sum(nil)[:8]), nil
}
