package main

import (
	"time"

	"github.com/cespare/xxhash/v2"
	cuckoo "github.com/seiflotfy/cuckoofilter"
	boom "github.com/tylertreat/BoomFilters"

	"github.com/venn-p2p/venn/summary/bloom"
	"github.com/venn-p2p/venn/summary/counting"
)

const countingKeys = 786_432 // 6 in every bucket of 4 subtables of 2^15

// countingArea compares sets from which members are removed, the hash of the key included. The d-left filter has
// 14-bit remainders. The counting Bloom filter has the memory that it needs for the same false-positive rate.
func countingArea(b *bench) {
	keys, others := randomKeys(1, countingKeys), randomKeys(2, countingKeys)
	dleft := filledDLeft(keys)
	rate := dleft.FalsePositiveRate()
	newBoom := func() *boom.CountingBloomFilter {
		f := boom.NewDefaultCountingBloomFilter(countingKeys, rate)
		f.SetHash(xxhash.New()) // faster than its default hash
		return f
	}

	b.amount("memory at equal rate, counting filter of 4 bits", "bytes", 1/0.40,
		float64(dleft.SizeBytes()), float64(newBoom().Capacity())/2)
	countingRates(b, dleft, filled(newBoom(), keys), others)

	b.compare("insert, tylertreat/BoomFilters counting", "ns/key", countingKeys, 2, func() time.Duration {
		*dleft = *must(counting.NewDLeft(dleft.Params()))
		return timed(func() { fill(dleft, keys) })()
	}, func() time.Duration {
		f := newBoom()
		return timed(func() { filled(f, keys) })()
	})
	theirs := filled(newBoom(), keys)
	b.compare("lookup, tylertreat/BoomFilters counting", "ns/key", 2*countingKeys, 0, timed(func() {
		for i := range keys { // half are members
			sink += count(dleft.Contains(fingerprint(keys[i]))) + count(dleft.Contains(fingerprint(others[i])))
		}
	}), timed(func() {
		for i := range keys {
			sink += count(theirs.Test(keys[i])) + count(theirs.Test(others[i]))
		}
	}))
	remove := func() time.Duration {
		*dleft = *must(counting.NewDLeft(dleft.Params()))
		fill(dleft, keys)
		return timed(func() {
			for _, key := range keys {
				sink += count(dleft.Remove(fingerprint(key)))
			}
		})()
	}
	b.compare("delete, tylertreat/BoomFilters counting", "ns/key", countingKeys, 3, remove, func() time.Duration {
		f := filled(newBoom(), keys)
		return timed(func() {
			for _, key := range keys {
				sink += count(f.TestAndRemove(key))
			}
		})()
	})
	againstCuckoo(b, dleft, keys, others, remove)
}

// againstCuckoo compares with a cuckoo filter of 8-bit fingerprints. Its rate is about 3 %, ours 0.15 %.
func againstCuckoo(b *bench, dleft *counting.DLeft, keys, others [][]byte, remove side) {
	newCuckoo := func() *cuckoo.Filter {
		f := cuckoo.NewFilter(countingKeys)
		for _, key := range keys {
			f.Insert(key)
		}
		return f
	}
	f := newCuckoo()
	*dleft = *must(counting.NewDLeft(dleft.Params()))
	fill(dleft, keys)
	b.compare("lookup, seiflotfy/cuckoofilter (8-bit fingerprints)", "ns/key", 2*countingKeys, 0, timed(func() {
		for i := range keys {
			sink += count(dleft.Contains(fingerprint(keys[i]))) + count(dleft.Contains(fingerprint(others[i])))
		}
	}), timed(func() {
		for i := range keys {
			sink += count(f.Lookup(keys[i])) + count(f.Lookup(others[i]))
		}
	}))
	b.compare("delete, seiflotfy/cuckoofilter (8-bit fingerprints)", "ns/key", countingKeys, 0, remove, func() time.Duration {
		f := newCuckoo()
		return timed(func() {
			for _, key := range keys {
				sink += count(f.Delete(key))
			}
		})()
	})
}

// countingRates compares the false-positive rates. The target of 0.97 leaves room for the noise of the sample.
func countingRates(b *bench, dleft *counting.DLeft, theirs *boom.CountingBloomFilter, others [][]byte) {
	ours, them := 0, 0
	for _, key := range others {
		ours += count(dleft.Contains(fingerprint(key)))
		them += count(theirs.Test(key))
	}
	b.amount("false-positive rate, tylertreat/BoomFilters counting", "rate", 0.97,
		float64(ours)/countingKeys, float64(them)/countingKeys)
}

// fingerprint hashes a key with keyed SipHash, as venn does everywhere.
func fingerprint(key []byte) uint64 {
	h := bloom.Hasher{K0: 1, K1: 2}.Hash(key)
	return h.A ^ h.B
}

func filledDLeft(keys [][]byte) *counting.DLeft {
	p := counting.ParamsForFingerprint(len(keys), 48)
	p.RemainderBits = 14
	p.Seed = 1
	f := must(counting.NewDLeft(p))
	fill(f, keys)
	return f
}

func fill(f *counting.DLeft, keys [][]byte) {
	for _, key := range keys {
		if err := f.Add(fingerprint(key)); err != nil {
			panic(err)
		}
	}
}

func filled(f *boom.CountingBloomFilter, keys [][]byte) *boom.CountingBloomFilter {
	for _, key := range keys {
		f.Add(key)
	}
	return f
}
