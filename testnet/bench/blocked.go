package main

import (
	"time"

	"github.com/cespare/xxhash/v2"
	"github.com/greatroar/blobloom"

	"github.com/venn-p2p/venn/summary/bloom"
)

// blockedRate is the false-positive rate for which both sides are made.
const blockedRate = 0.01

// blockedArea compares cache-line-blocked filters of a rate of 1 %: ours under its keyed hash, and ours with xxhash
// as the rival has it.
func blockedArea(b *bench) {
	keys, others := randomKeys(1, filterKeys), randomKeys(2, filterKeys)
	newBlob := func(n int) *blobloom.Filter {
		return blobloom.NewOptimized(blobloom.Config{Capacity: uint64(n), FPRate: blockedRate})
	}
	ours, blob := must(bloom.NewBlockedForRate(filterKeys, blockedRate)), newBlob(filterKeys)
	hashed := func(key []byte) bloom.Hash { return bloom.Hash64(xxhash.Sum64(key)) }
	insertBlob := func() time.Duration { // into a new filter, which is not timed
		f := newBlob(filterKeys)
		return timed(func() {
			for _, key := range keys {
				f.Add(xxhash.Sum64(key))
			}
		})()
	}
	insert := func(add func(key []byte)) side {
		return func() time.Duration {
			ours.Reset() // is not timed either
			return timed(func() {
				for _, key := range keys {
					add(key)
				}
			})()
		}
	}
	b.compare("insert, 100k keys, greatroar/blobloom with xxhash", "ns/key", filterKeys, 1, insert(ours.Add), insertBlob)
	for _, key := range keys {
		blob.Add(xxhash.Sum64(key))
	}
	askBlob := timed(func() {
		for i := range keys { // half are members
			sink += count(blob.Has(xxhash.Sum64(keys[i]))) + count(blob.Has(xxhash.Sum64(others[i])))
		}
	})
	b.compare("lookup, 100k keys, greatroar/blobloom with xxhash", "ns/key", 2*filterKeys, 1, timed(func() {
		for i := range keys {
			sink += count(ours.Contains(keys[i])) + count(ours.Contains(others[i]))
		}
	}), askBlob)

	b.compare("insert, 100k keys, both with xxhash", "ns/key", filterKeys, 1, insert(func(key []byte) { ours.AddHash(hashed(key)) }), insertBlob)
	b.compare("lookup, 100k keys, both with xxhash", "ns/key", 2*filterKeys, 1, timed(func() {
		for i := range keys {
			sink += count(ours.ContainsHash(hashed(keys[i]))) + count(ours.ContainsHash(hashed(others[i])))
		}
	}), askBlob)
	b.amount("size, 100k keys at a rate of 1 %, greatroar/blobloom", "bits/key", 0.98, 8*float64(ours.SizeBytes())/filterKeys, float64(blob.NumBits())/filterKeys)
	blockedBeyondCaches(b)
}

// blockedBeyondCaches asks filters of 10M keys, larger than the caches, for one key at a time, and in a batch.
func blockedBeyondCaches(b *bench) {
	const keys, asked = 10_000_000, 1_000_000
	ours, ready := must(bloom.NewBlockedForRate(keys, blockedRate)), must(bloom.NewBlockedForRate(keys, blockedRate))
	blob := blobloom.NewOptimized(blobloom.Config{Capacity: keys, FPRate: blockedRate})
	var members [][]byte
	for seed := range uint64(keys / asked) {
		members = randomKeys(1000+seed, asked)
		for _, key := range members {
			ours.Add(key)
			ready.AddHash(bloom.Hash64(xxhash.Sum64(key)))
			blob.Add(xxhash.Sum64(key))
		}
	}
	batch := randomKeys(3, asked)
	for i := 0; i < asked; i += 2 {
		batch[i] = members[i]
	}
	b.compare("lookup, 10M keys, both with xxhash", "ns/key", asked, 1, timed(func() {
		for _, key := range batch {
			sink += count(ready.ContainsHash(bloom.Hash64(xxhash.Sum64(key))))
		}
	}), timed(func() {
		for _, key := range batch {
			sink += count(blob.Has(xxhash.Sum64(key)))
		}
	}))
	b.compare("lookup, 10M keys, greatroar/blobloom with xxhash", "ns/key", asked, 1, timed(func() {
		for _, key := range batch {
			sink += count(ours.Contains(key))
		}
	}), timed(func() {
		for _, key := range batch {
			sink += count(blob.Has(xxhash.Sum64(key)))
		}
	}))
	found := make([]bool, asked)
	b.compare("batch lookup, 10M keys, greatroar/blobloom's single lookup with xxhash", "ns/key", asked, 1.5, timed(func() {
		ours.ContainsAll(batch, found)
	}), timed(func() {
		for _, key := range batch {
			sink += count(blob.Has(xxhash.Sum64(key)))
		}
	}))
}
