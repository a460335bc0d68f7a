package workload

import (
	"fmt"
	"math/rand/v2"
)

// DefaultChunk is the default size of a file's chunks, in bytes.
const DefaultChunk = 16 << 10

// Config chooses the data to load.
type Config struct {
	Path  string // a .tsv or .tsv.gz file, or a folder with a text file per peer; "" is the embedded Debian data
	Chunk uint64 // bytes of a chunk; each chunk of a file is a key; 0: DefaultChunk; not used for a folder of keys
	Peers int    // number of peers; 0: those of the data; if there are fewer in the data, Rand draws all holders
	Rand  *rand.Rand
}

// Data has the collections of all peers. It is read-only and safe for concurrent use.
type Data struct {
	peers       []string
	keys        keyTable
	collections [][]uint32
	holdings    int
}

// Load reads or makes the data. Time and memory are linear in the number of holdings.
//
// Errors name the file and line and match ErrMalformed, ErrEmpty, ErrDuplicate, ErrLimit or the file system's errors.
func Load(cfg Config) (*Data, error) {
	if cfg.Peers < 0 || cfg.Peers > MaxPeers {
		return nil, fmt.Errorf("workload: %w: %d peers, at most %d", ErrLimit, cfg.Peers, MaxPeers)
	}
	if cfg.Chunk == 0 {
		cfg.Chunk = DefaultChunk
	}
	c, err := read(cfg.Path)
	if err != nil {
		return nil, err
	}
	if cfg.Peers != 0 {
		if err := c.checkDealing(cfg.Peers, cfg.Chunk); err != nil {
			return nil, err
		}
		c = c.resize(cfg.Peers, cfg.Rand)
	}
	if err := c.check(cfg.Path, cfg.Chunk); err != nil {
		return nil, err
	}
	return c.data(cfg.Chunk), nil
}

// data makes the keys of all files, one file after the other, and every peer's list of key numbers.
func (c *catalog) data(chunk uint64) *Data {
	sizes := make([]int, len(c.peers))
	keys, size := 0, 0
	for i := range c.files {
		n := int(c.files[i].keys(chunk))
		keys, size = keys+n, size+n*len(c.files[i].key)
		for _, p := range c.files[i].holders {
			sizes[p] += n
		}
	}
	d := &Data{peers: c.peers, collections: make([][]uint32, len(c.peers))}
	d.keys = keyTable{bytes: make([]byte, 0, size), ends: make([]uint64, 0, keys)}
	for p, n := range sizes {
		d.collections[p] = make([]uint32, 0, n)
		d.holdings += n
	}
	for i := range c.files {
		f := &c.files[i]
		first := d.keys.len()
		f.appendKeys(&d.keys, chunk)
		for _, p := range f.holders {
			for k := first; k < d.keys.len(); k++ {
				d.collections[p] = append(d.collections[p], uint32(k))
			}
		}
	}
	return d
}

// Peers returns the peers' names, in the order in which peers are numbered.
func (d *Data) Peers() []string { return d.peers }

// Keys returns the number of distinct keys.
func (d *Data) Keys() int { return d.keys.len() }

// Holdings returns the number of pairs of a peer and a key that it holds.
func (d *Data) Holdings() int { return d.holdings }

// Key returns the key with this number. The slice is shared: it must not be changed.
func (d *Data) Key(number uint32) []byte { return d.keys.at(int(number)) }

// Collections returns the collections of all peers, by number. They are shared: they must not be changed.
func (d *Data) Collections() [][]uint32 { return d.collections }

// keyTable holds keys of any length in one array. Key i ends at ends[i].
type keyTable struct {
	bytes []byte
	ends  []uint64
}

func (t *keyTable) append(key []byte) {
	t.bytes = append(t.bytes, key...)
	t.ends = append(t.ends, uint64(len(t.bytes)))
}

func (t *keyTable) len() int { return len(t.ends) }

func (t *keyTable) at(i int) []byte {
	start := uint64(0)
	if i > 0 {
		start = t.ends[i-1]
	}
	return t.bytes[start:t.ends[i]:t.ends[i]]
}
