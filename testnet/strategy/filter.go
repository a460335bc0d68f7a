package strategy

import (
	"encoding/binary"

	"github.com/venn-p2p/venn/summary"
	"github.com/venn-p2p/venn/summary/bloom"
	"github.com/venn-p2p/venn/summary/coding"
)

// filterHash is the hash of a key for a Bloom filter.
func filterHash(f summary.Fingerprint) bloom.Hash {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], uint64(f))
	return bloom.Seed{}.Hash(b[:])
}

// fill adds a collection to a filter.
func fill(f *bloom.Filter, collection []summary.Fingerprint) {
	for _, fp := range collection {
		f.AddHash(filterHash(fp))
	}
}

// compressed is the length in bytes of a filter when it is entropy-coded.
func compressed(f *bloom.Filter) int {
	return coding.PredictedBytes(int(f.Params().Bits()), f.OnesCount())
}

// changed is the length in bytes of what differs between two filters of the same parameters, entropy-coded.
func changed(a, b *bloom.Filter) int {
	differing := a.OnesCount() + b.OnesCount() - 2*must(a.AndOnesCount(b))
	return coding.PredictedBytes(int(a.Params().Bits()), differing)
}

// must takes the error of a call that fails for parameters only, which are ours.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// meanSize is how many keys a peer holds on average, at least 1.
func meanSize(w World) float64 {
	sum := 0
	for p := range w.Peers {
		sum += len(w.Collection(ID(p)))
	}
	return max(1, float64(sum)/float64(max(1, w.Peers)))
}

// scramble is a permutation of the numbers that looks like chance (the finalizer of SplitMix64).
func scramble(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
