package sim

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/venn-p2p/venn/summary"
	"github.com/venn-p2p/venn/testnet/holdings"
	"github.com/venn-p2p/venn/testnet/strategy"
	"github.com/venn-p2p/venn/testnet/workload"
)

// Data has the collections of all peers at the start. It is read-only.
type Data struct {
	*holdings.Table[strategy.ID]
	fingerprints []summary.Fingerprint // fingerprints by key number
	interests    [][]strategy.ID       // the peers of each interest; peer p has interest p mod len(interests)
}

// ErrData is matched by every error about collections.
var ErrData = errors.New("sim: bad data")

// NewData takes the fingerprints of all keys, by number, and for every peer the numbers of the keys that it
// holds, ascending. It keeps both slices.
func NewData(fingerprints []summary.Fingerprint, collections [][]uint32) (*Data, error) {
	for p, c := range collections {
		if len(c) == 0 {
			return nil, fmt.Errorf("%w: peer %d holds nothing", ErrData, p)
		}
	}
	held, err := holdings.New[strategy.ID](len(fingerprints), collections)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrData, err)
	}
	return &Data{Table: held, fingerprints: fingerprints}, nil
}

// Load takes collections that package workload has read or dealt, and hashes their keys.
func Load(of *workload.Data, h summary.Hasher) (*Data, error) {
	fps := make([]summary.Fingerprint, of.Keys())
	for k := range fps {
		fps[k] = h.Fingerprint(of.Key(uint32(k)))
	}
	return NewData(fps, of.Collections())
}

// Alike returns the peers that share an interest with p, p included; nil: no interests are known.
func (d *Data) Alike(p strategy.ID) []strategy.ID {
	if len(d.interests) == 0 {
		return nil
	}
	return d.interests[int(p)%len(d.interests)]
}

// Under returns the same collections with other fingerprints, by number of the key. Fingerprints beyond the held
// keys belong to keys that nobody holds yet.
func (d *Data) Under(fingerprints []summary.Fingerprint) *Data {
	return &Data{Table: d.WithKeys(len(fingerprints)), fingerprints: fingerprints, interests: d.interests}
}

// Fingerprints returns the fingerprints of keys, in a new slice.
func (d *Data) Fingerprints(keys []uint32) []summary.Fingerprint {
	out := make([]summary.Fingerprint, len(keys))
	for i, k := range keys {
		out[i] = d.fingerprints[k]
	}
	return out
}

// Key returns a key by its number.
func (d *Data) Key(number uint32) strategy.Key {
	return strategy.Key{Number: number, Fingerprint: d.fingerprints[number]}
}

// Clusters sets how NewClusters draws collections: peers share interests, and some keys are popular with all.
type Clusters struct {
	Peers   int     `toml:"-"`
	Keys    int     `toml:"keys"`    // number of keys of every peer; 0: 200
	Size    int     `toml:"size"`    // number of peers that share an interest; 0: 50
	Outside float64 `toml:"outside"` // share of a collection's keys drawn from the whole network, not from the interest; 0: 0.1
	Zipf    float64 `toml:"zipf"`    // exponent of popularity, both within an interest and over all keys; 0: 0.8
	Copies  int     `toml:"copies"`  // approximate mean number of holders of a key; 0: 5
}

// Defaults returns the collections with defaults in place of zeros. The number of peers has none.
func (c Clusters) Defaults() Clusters {
	c.Keys = cmp.Or(c.Keys, 200)
	c.Size = cmp.Or(c.Size, 50)
	c.Outside = cmp.Or(c.Outside, 0.1)
	c.Zipf = cmp.Or(c.Zipf, holdings.ZipfExponent)
	c.Copies = cmp.Or(c.Copies, 5)
	return c
}

const (
	maxKeys = 1 << 28 // keys of drawn collections, including those that nobody holds

	// drawsInVain is the number of draws in a row that give keys which the collection has already. After more,
	// the collection takes the interest's keys in their order. It is reached only where popularity falls very
	// steeply.
	drawsInVain = 1 << 14
)

// NewClusters draws collections. Keys that nobody drew are left out.
func NewClusters(c Clusters, rng *rand.Rand) (*Data, error) {
	c = c.Defaults()
	if c.Peers < 1 || c.Keys < 1 || c.Size < 1 || c.Copies < 1 || !(c.Outside >= 0 && c.Outside <= 1) || !(c.Zipf >= 0) {
		return nil, fmt.Errorf("%w: clusters %+v", ErrData, c)
	}
	if c.Peers > MaxPeers || c.Keys > maxKeys || c.Size > maxKeys || c.Peers*c.Keys > math.MaxInt32 {
		return nil, fmt.Errorf("%w: clusters %+v: at most %d peers, %d keys and peers of an interest, %d holdings", ErrData, c, MaxPeers, maxKeys, math.MaxInt32)
	}
	interests := (c.Peers + c.Size - 1) / c.Size
	// keys of an interest: at least twice a collection, so that few draws repeat a key
	within := max(2*c.Keys, c.Size*c.Keys/c.Copies)
	if within > maxKeys/interests { // the product may overflow
		return nil, fmt.Errorf("%w: %d interests with %d keys each, at most %d keys in all", ErrData, interests, within, maxKeys)
	}
	universe := interests * within
	spread := rng.Perm(universe) // keys popular with all are spread over the interests at random
	collections := make([][]uint32, c.Peers)
	all := make([]uint32, c.Peers*c.Keys)
	seen := map[uint32]bool{}
	for p := range collections {
		clear(seen)
		collections[p], all = all[:0:c.Keys], all[c.Keys:]
		first := p % interests * within
		for next, vain := uint32(first), 0; len(seen) < c.Keys; {
			k := uint32(first + holdings.Rank(within, c.Zipf, rng))
			if rng.Float64() < c.Outside {
				k = uint32(spread[holdings.Rank(universe, c.Zipf, rng)])
			}
			steep := vain > drawsInVain
			if steep {
				k, next = next, next+1
			}
			if seen[k] {
				vain++
				continue
			}
			seen[k] = true
			collections[p] = append(collections[p], k)
			if !steep {
				vain = 0
			}
		}
		slices.Sort(collections[p])
	}
	d, err := number(collections, universe, rng)
	if err != nil {
		return nil, err
	}
	d.interests = make([][]strategy.ID, interests)
	for p := range collections {
		d.interests[p%interests] = append(d.interests[p%interests], strategy.ID(p))
	}
	return d, nil
}

// number renumbers the held keys from 0, in their order, and draws a fingerprint for each.
func number(collections [][]uint32, universe int, rng *rand.Rand) (*Data, error) {
	held := make([]bool, universe)
	for _, c := range collections {
		for _, k := range c {
			held[k] = true
		}
	}
	names, n := make([]uint32, universe), uint32(0)
	for k, h := range held {
		if h {
			names[k] = n
			n++
		}
	}
	for _, c := range collections {
		for i, k := range c {
			c[i] = names[k]
		}
	}
	return NewData(drawFingerprints(int(n), rng), collections)
}

// drawFingerprints draws n distinct fingerprints: a keyed hash gives random ones.
func drawFingerprints(n int, rng *rand.Rand) []summary.Fingerprint {
	fps := make([]summary.Fingerprint, n)
	seen := make(map[summary.Fingerprint]bool, n)
	for i := range fps {
		f := summary.Fingerprint(rng.Uint64() >> (64 - summary.FingerprintBits))
		for seen[f] {
			f = summary.Fingerprint(rng.Uint64() >> (64 - summary.FingerprintBits))
		}
		seen[f], fps[i] = true, f
	}
	return fps
}
