// Package filters makes Bloom filters of collections, and computes their lengths on the wire.
package filters

import (
	"encoding/binary"

	"github.com/venn-p2p/venn/summary"
	"github.com/venn-p2p/venn/summary/bloom"
	"github.com/venn-p2p/venn/testnet/strategy"
)

// Hash returns the hash of a key for a Bloom filter.
func Hash(f summary.Fingerprint) bloom.Hash {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], uint64(f))
	return bloom.Hasher{}.Hash(b[:])
}

// Fill adds a collection to a filter.
func Fill(f *bloom.Filter, collection []summary.Fingerprint) {
	for _, fp := range collection {
		f.AddHash(Hash(fp))
	}
}

// Compressed returns the length in bytes of the entropy-coded filter.
func Compressed(f *bloom.Filter) int {
	return f.Params().CodedBytes(f.OnesCount())
}

// Changed returns the length in bytes of the entropy-coded difference between two filters. It panics if their
// parameters differ.
func Changed(a, b *bloom.Filter) int {
	common, err := a.AndOnesCount(b)
	if err != nil {
		panic(err) // the parameters differ
	}
	differing := a.OnesCount() + b.OnesCount() - 2*common
	return a.Params().CodedBytes(differing)
}

// Empty makes a filter without keys.
func Empty(p bloom.Params) *bloom.Filter {
	f, err := bloom.New(p)
	if err != nil {
		panic(err) // the caller's parameters are wrong
	}
	return f
}

// Merge adds the keys of filter f to another of the same parameters.
func Merge(into, f *bloom.Filter) {
	if err := into.Merge(f); err != nil {
		panic(err)
	}
}

// MeanSize returns the number of keys that a peer holds on average, at least 1.
func MeanSize(w strategy.World) float64 {
	sum := 0
	for p := range w.Peers {
		sum += len(w.Collection(strategy.ID(p)))
	}
	return max(1, float64(sum)/float64(max(1, w.Peers)))
}
