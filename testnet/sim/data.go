package sim

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/venn-p2p/venn/summary"
	"github.com/venn-p2p/venn/testnet/strategy"
)

// Data is who holds what. It is read-only.
type Data struct {
	fingerprints []summary.Fingerprint // by key number
	collections  [][]uint32            // key numbers, ascending
	holders      []strategy.ID         // of key 0, then of key 1, …, each ascending
	starts       []uint32              // where a key's holders start; one more than keys
	interests    [][]strategy.ID       // peers with an interest in common; peer p is in interests[p mod their number]
}

// ErrData is matched by every error about collections.
var ErrData = errors.New("sim: bad data")

// NewData takes the fingerprints of all keys, by number, and for every peer the numbers of the keys that it holds,
// ascending. Both are kept.
func NewData(fingerprints []summary.Fingerprint, collections [][]uint32) (*Data, error) {
	d := &Data{fingerprints: fingerprints, collections: collections, starts: make([]uint32, len(fingerprints)+1)}
	total := 0
	for p, c := range collections {
		if len(c) == 0 {
			return nil, fmt.Errorf("%w: peer %d holds nothing", ErrData, p)
		}
		for i, k := range c {
			if int(k) >= len(fingerprints) || i > 0 && k <= c[i-1] {
				return nil, fmt.Errorf("%w: peer %d: key %d is out of order or none of %d", ErrData, p, k, len(fingerprints))
			}
			d.starts[k+1]++
		}
		if total += len(c); total > math.MaxInt32 {
			return nil, fmt.Errorf("%w: more than %d holdings", ErrData, math.MaxInt32)
		}
	}
	for k := range fingerprints {
		d.starts[k+1] += d.starts[k]
	}
	d.holders = make([]strategy.ID, total)
	next := slices.Clone(d.starts[:len(fingerprints)])
	for p, c := range collections {
		for _, k := range c {
			d.holders[next[k]] = strategy.ID(p)
			next[k]++
		}
	}
	return d, nil
}

// Peers is how many peers there are.
func (d *Data) Peers() int { return len(d.collections) }

// Keys is how many distinct keys there are.
func (d *Data) Keys() int { return len(d.fingerprints) }

// Holdings is the number of pairs of a peer and a key that it holds.
func (d *Data) Holdings() int { return len(d.holders) }

// Collection lists the numbers of the keys that a peer holds, ascending. Not to be changed.
func (d *Data) Collection(p strategy.ID) []uint32 { return d.collections[p] }

// Holders are the peers that hold a key, ascending. Not to be changed.
func (d *Data) Holders(key uint32) []strategy.ID { return d.holders[d.starts[key]:d.starts[key+1]] }

// Holds says whether a peer holds a key.
func (d *Data) Holds(p strategy.ID, key uint32) bool {
	_, ok := slices.BinarySearch(d.collections[p], key)
	return ok
}

// Alike are the peers that share an interest with one, itself included; nil when nothing is known of interests.
func (d *Data) Alike(p strategy.ID) []strategy.ID {
	if len(d.interests) == 0 {
		return nil
	}
	return d.interests[int(p)%len(d.interests)]
}

// Under is the same collections with other fingerprints, by number of the key. Those beyond the keys held are of keys that nobody
// holds yet.
func (d *Data) Under(fingerprints []summary.Fingerprint) *Data {
	out := *d
	out.fingerprints = fingerprints
	out.starts = slices.Clone(d.starts)
	for len(out.starts) <= len(fingerprints) {
		out.starts = append(out.starts, uint32(len(d.holders)))
	}
	return &out
}

// Fingerprints are those of a peer's collection, in a new slice.
func (d *Data) Fingerprints(p strategy.ID) []summary.Fingerprint {
	out := make([]summary.Fingerprint, len(d.collections[p]))
	for i, k := range d.collections[p] {
		out[i] = d.fingerprints[k]
	}
	return out
}

// Key is a key by its number.
func (d *Data) Key(number uint32) strategy.Key {
	return strategy.Key{Number: number, Fingerprint: d.fingerprints[number]}
}

// Clusters says how collections are made: peers have interests in common, and some keys are popular with all.
type Clusters struct {
	Peers   int
	Keys    int     // of every peer
	Size    int     // peers that share an interest; 0: 50
	Outside float64 // part of a collection from all of the network rather than from the interest; 0: 0.1
	Zipf    float64 // exponent of popularity, of keys within an interest and of all; 0: 0.8
	Copies  int     // how many holders a key has on average, about; 0: 5
}

func (c *Clusters) defaults() {
	setDefault(&c.Size, 50)
	setDefault(&c.Outside, 0.1)
	setDefault(&c.Zipf, 0.8)
	setDefault(&c.Copies, 5)
}

// NewClusters draws collections. Keys that nobody drew are left out.
func NewClusters(c Clusters, rng *rand.Rand) (*Data, error) {
	c.defaults()
	if c.Peers < 1 || c.Keys < 1 || c.Size < 1 || c.Copies < 1 || c.Outside < 0 || c.Outside > 1 || c.Zipf < 0 {
		return nil, fmt.Errorf("%w: clusters %+v", ErrData, c)
	}
	interests := (c.Peers + c.Size - 1) / c.Size
	within := max(2*c.Keys, c.Size*c.Keys/c.Copies) // keys of an interest: enough to draw a collection without trouble
	universe := interests * within
	if universe > 1<<28 {
		return nil, fmt.Errorf("%w: %d keys, at most %d", ErrData, universe, 1<<28)
	}
	inside, outside := newZipf(within, c.Zipf), newZipf(universe, c.Zipf)
	spread := rng.Perm(universe) // what is popular with all belongs to any interest
	collections := make([][]uint32, c.Peers)
	seen := map[uint32]bool{}
	for p := range collections {
		clear(seen)
		first := p % interests * within
		for len(seen) < c.Keys {
			k := uint32(first + inside.draw(rng))
			if rng.Float64() < c.Outside {
				k = uint32(spread[outside.draw(rng)])
			}
			if !seen[k] {
				seen[k] = true
				collections[p] = append(collections[p], k)
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

// number gives the keys that somebody holds numbers from 0, and all of them fingerprints.
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

// drawFingerprints draws n distinct fingerprints: those of a keyed hash look like any others.
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

// zipf draws ranks from 0 to n-1 with probability proportional to 1/(rank+1)^s, by the inverse of the integral.
type zipf struct {
	n float64
	s float64
}

func newZipf(n int, s float64) zipf { return zipf{float64(n), s} }

func (z zipf) draw(rng *rand.Rand) int {
	u := rng.Float64()
	var x float64
	if math.Abs(z.s-1) < 1e-9 {
		x = math.Pow(z.n+1, u)
	} else {
		e := 1 - z.s
		x = math.Pow(1+float64(u*(math.Pow(z.n+1, e)-1)), 1/e)
	}
	return min(max(int(x)-1, 0), int(z.n)-1)
}
