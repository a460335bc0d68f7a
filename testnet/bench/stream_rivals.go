package main

import (
	"math"

	bitsblooms "github.com/bits-and-blooms/bloom/v3"
	"github.com/btcsuite/btcd/btcutil/gcs"
	"github.com/klauspost/compress/zstd"
)

// streamRivals has other structures for the keys of streamArea, of the same false-positive rate.
type streamRivals struct {
	rate   float64
	key    [gcs.KeySize]byte
	keys   [][]byte
	set    *gcs.Filter
	bloom  []byte
	zstd   *zstd.Encoder
	unzstd *zstd.Decoder
}

func newStreamRivals(keys [][]byte, rate float64) *streamRivals {
	r := &streamRivals{
		rate: rate, keys: keys,
		zstd: must(zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))), unzstd: must(zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))),
	}
	r.set, r.bloom = r.newSet(keys), r.newBloom(keys)
	return r
}

// newSet returns a Golomb-coded set of numbers below n/rate. The low bits of their differences are written
// unchanged; their number is the one for which the set takes the fewest bytes.
func (r *streamRivals) newSet(keys [][]byte) *gcs.Filter {
	low := math.Round(math.Log2(math.Ln2 / r.rate))
	return must(gcs.BuildGCSFilter(uint8(low), uint64(math.Round(1/r.rate)), r.key, keys))
}

// newBloom returns a plain Bloom filter in its library's binary form.
func (r *streamRivals) newBloom(keys [][]byte) []byte {
	f := bitsblooms.NewWithEstimates(uint(len(keys)), r.rate)
	for _, key := range keys {
		f.Add(key)
	}
	return must(f.MarshalBinary())
}

// sparseBytes returns the size of a long filter with one hash function, which is nearly all zeros, compressed by
// zstd.
func (r *streamRivals) sparseBytes() int {
	f := bitsblooms.New(uint(float64(len(r.keys))/r.rate), 1)
	for _, key := range r.keys {
		f.Add(key)
	}
	return len(r.zstd.EncodeAll(must(f.MarshalBinary()), nil))
}
