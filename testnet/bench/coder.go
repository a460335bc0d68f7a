package main

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/klauspost/compress/fse"
	"github.com/klauspost/compress/zstd"

	"github.com/venn-p2p/venn/summary/bloom"
)

const coderBytes = 128 << 10

// coderArea compares the codec of filters, on 128 KiB of independent bits, with the entropy, zstd and finite state
// entropy coding.
func coderArea(b *bench) {
	best := must(zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression)))
	for _, p := range []float64{0.01, 0.05, 0.1, 0.25, 0.5} {
		a := newArray(p)
		least := 1 / 1.002 // target: bytes at most 0.2 or 0.4 % above the entropy
		if p < 0.05 {
			least = 1 / 1.004
		}
		entropy := entropy(float64(a.filter.OnesCount())/(8*coderBytes)) * coderBytes
		b.amount(fmt.Sprintf("size, p=%v, entropy", p), "bytes", least, float64(len(a.code)), entropy)
		b.amount(fmt.Sprintf("size, p=%v, zstd's best level", p), "bytes", 1, float64(len(a.code)), float64(len(best.EncodeAll(a.bytes, nil))))
	}
	for _, p := range []float64{0.05, 0.1, 0.25} {
		coderSpeed(b, p)
	}
}

// array has independent bits: as a filter, as bytes, and as the message that a codec makes of them.
type array struct {
	filter *bloom.Filter
	codec  *bloom.Codec
	bytes  []byte
	code   []byte
}

func newArray(p float64) array {
	rng := rand.New(rand.NewPCG(1, math.Float64bits(p)))
	form := bloom.Params{Blocks: 1, BlockBits: 8 * coderBytes, Hashes: 1}
	a := array{filter: must(bloom.New(form)), codec: must(bloom.NewCodec(form)), bytes: make([]byte, coderBytes)}
	for i := range uint64(8 * coderBytes) {
		if rng.Float64() < p {
			a.filter.AddHash(bloom.Hash{B: i << 44}) // the hash that sets bit i
			a.bytes[i/8] |= 1 << (i % 8)
		}
	}
	a.code = must(a.codec.Append(nil, a.filter, nil))
	return a
}

// coderSpeed compares the speed with that of finite state entropy coding of the bytes, whose scratch space is used
// again.
func coderSpeed(b *bench, p float64) {
	a := newArray(p)
	var encoder, decoder fse.Scratch
	theirs := append([]byte(nil), must(fse.Compress(a.bytes, &encoder))...)
	decoder.DecompressLimit = coderBytes
	if got := must(fse.Decompress(theirs, &decoder)); len(got) != coderBytes {
		panic("fse decodes wrongly")
	}
	code := make([]byte, 0, 2*coderBytes)
	const kib = coderBytes >> 10
	b.compare(fmt.Sprintf("encode, p=%v, klauspost fse", p), "ns/KiB", kib, 1.5, timed(func() {
		code = must(a.codec.Append(code[:0], a.filter, nil))
	}), timed(func() {
		sink += len(must(fse.Compress(a.bytes, &encoder)))
	}))
	b.compare(fmt.Sprintf("decode, p=%v, klauspost fse", p), "ns/KiB", kib, 1.5, timed(func() {
		sink += must(a.codec.Decode(a.code, nil)).OnesCount()
	}), timed(func() {
		sink += len(must(fse.Decompress(theirs, &decoder)))
	}))
}

// entropy returns the binary entropy of p in bits.
func entropy(p float64) float64 { return -p*math.Log2(p) - (1-p)*math.Log2(1-p) }
