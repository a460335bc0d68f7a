package workload

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// Limits of a data set. Larger numbers are likelier typing mistakes than wishes, and memory would not suffice.
const (
	MaxPeers    = 1 << 18
	MaxKeys     = 1 << 26
	MaxHoldings = 1 << 29
)

// Errors of reading and dealing data, matched by errors.Is. Wrapping errors name the file and line.
var (
	ErrMalformed = errors.New("malformed line")
	ErrEmpty     = errors.New("empty collection")
	ErrDuplicate = errors.New("duplicate peer name")
	ErrLimit     = errors.New("too large")
)

// catalog is a data set before files become keys: peers, and files with their holders.
type catalog struct {
	peers []string
	files []file
}

// file is a unit that a peer holds whole or not at all: a file in chunks, or a single key.
type file struct {
	key     []byte // the key itself, or the SHA-256 of a file that is held in chunks
	size    uint64 // bytes; 0 for a single key
	holders []int  // indexes of peers, ascending
}

// keys returns the number of keys of the file, in chunks of the given number of bytes.
func (f *file) keys(chunk uint64) uint64 {
	if f.size == 0 {
		return 1
	}
	return (f.size-1)/chunk + 1
}

// appendKeys appends the file's keys to the table.
func (f *file) appendKeys(t *keyTable, chunk uint64) {
	if f.size == 0 {
		t.append(f.key)
		return
	}
	for i := range f.keys(chunk) {
		k := ChunkKey(f.key, i)
		t.append(k[:])
	}
}

// ChunkKey returns the key of a file's chunk: SHA-256 of the file's hash followed by the chunk's number as 8 bytes, big
// endian.
func ChunkKey(fileHash []byte, number uint64) [sha256.Size]byte {
	b := make([]byte, 0, sha256.Size+8)
	b = append(b, fileHash...)
	return sha256.Sum256(binary.BigEndian.AppendUint64(b, number))
}

// resize returns the catalogue for n peers. If there are more, it keeps the first n. If there are fewer, it draws
// every file's holders again. Sizes and popularity (the share of peers that hold a file) stay about the same.
func (c *catalog) resize(n int, rng *rand.Rand) *catalog {
	switch {
	case n < len(c.peers):
		return c.first(n)
	case n > len(c.peers):
		return c.deal(n, rng)
	}
	return c
}

func (c *catalog) first(n int) *catalog {
	out := &catalog{peers: c.peers[:n]}
	for _, f := range c.files {
		end, _ := slices.BinarySearch(f.holders, n)
		if end > 0 {
			f.holders = f.holders[:end]
			out.files = append(out.files, f)
		}
	}
	return out
}

// deal returns a catalogue for n peers with new names. It draws each file's holders, about as large a share as before.
func (c *catalog) deal(n int, rng *rand.Rand) *catalog {
	out := &catalog{peers: make([]string, n), files: make([]file, len(c.files))}
	for i := range out.peers {
		out.peers[i] = fmt.Sprintf("peer-%0*d", len(fmt.Sprint(n-1)), i)
	}
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	for i, f := range c.files {
		f.holders = draw(order, c.dealt(&f, n), rng)
		out.files[i] = f
	}
	return out
}

// dealt returns the number of peers, out of n, to which deal gives a file.
func (c *catalog) dealt(f *file, n int) int {
	share := float64(len(f.holders)) / float64(len(c.peers))
	return max(1, int(math.Round(share*float64(n))))
}

// checkDealing returns an error if dealing the files to n peers would make too many holdings. It is called before
// memory is taken for them.
func (c *catalog) checkDealing(n int, chunk uint64) error {
	if n <= len(c.peers) {
		return nil
	}
	holdings := uint64(0)
	for i := range c.files {
		f := &c.files[i]
		if holdings += min(f.keys(chunk), MaxKeys) * uint64(c.dealt(f, n)); holdings > MaxHoldings {
			return tooMany(holdings)
		}
	}
	return nil
}

func tooMany(holdings uint64) error {
	return fmt.Errorf("workload: %w: %d holdings, at most %d; choose larger chunks or fewer peers", ErrLimit, holdings, MaxHoldings)
}

// draw returns k distinct elements of order, drawn at random and sorted. order stays a permutation of itself.
func draw(order []int, k int, rng *rand.Rand) []int {
	for i := range k {
		j := i + rng.IntN(len(order)-i)
		order[i], order[j] = order[j], order[i]
	}
	drawn := slices.Clone(order[:k])
	slices.Sort(drawn)
	return drawn
}

// check returns an error for a catalogue that, in chunks of that many bytes, exceeds MaxKeys or MaxHoldings, or in
// which a peer holds nothing.
func (c *catalog) check(path string, chunk uint64) error {
	var keys, holdings uint64
	holds := make([]bool, len(c.peers))
	for i := range c.files {
		f := &c.files[i]
		n := f.keys(chunk)
		if n > MaxKeys || keys+n > MaxKeys {
			return fmt.Errorf("workload: %w: chunks of %d bytes make more than %d keys; choose larger chunks", ErrLimit, chunk, MaxKeys)
		}
		keys += n
		holdings += n * uint64(len(f.holders))
		for _, p := range f.holders {
			holds[p] = true
		}
	}
	if holdings > MaxHoldings {
		return tooMany(holdings)
	}
	if i := slices.Index(holds, false); i >= 0 {
		return fmt.Errorf("workload: %s: %w: peer %q holds no file", cmp.Or(path, debianName), ErrEmpty, c.peers[i])
	}
	return nil
}
