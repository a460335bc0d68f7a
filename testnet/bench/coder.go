package main

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"

	"github.com/klauspost/compress/fse"
	"github.com/klauspost/compress/zstd"

	"github.com/venn-p2p/venn/summary/coding"
)

const coderBytes = 128 << 10

// coderArea: arrays of 128 KiB of independent bits, as filters are.
func coderArea(b *bench) {
	best := must(zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression)))
	for _, p := range []float64{0.01, 0.05, 0.1, 0.25, 0.5} {
		a := newArray(p)
		least := 1 / 1.002 // of the entropy
		if p < 0.05 {
			least = 1 / 1.004
		}
		entropy := entropy(float64(a.ones)/(8*coderBytes)) * coderBytes
		b.amount(fmt.Sprintf("size, p=%v, entropy", p), "bytes", least, float64(len(a.code)), entropy)
		b.amount(fmt.Sprintf("size, p=%v, zstd's best level", p), "bytes", 1, float64(len(a.code)), float64(len(best.EncodeAll(a.bytes, nil))))
	}
	for _, p := range []float64{0.05, 0.1, 0.25} {
		coderSpeed(b, p)
	}
}

// array of independent bits, with its code.
type array struct {
	words []uint64
	bytes []byte
	ones  int
	code  []byte
}

func newArray(p float64) array {
	rng := rand.New(rand.NewPCG(1, math.Float64bits(p)))
	a := array{words: make([]uint64, coderBytes/8)}
	for i := range a.words {
		for bit := range 64 {
			if rng.Float64() < p {
				a.words[i] |= 1 << bit
			}
		}
		a.ones += bits.OnesCount64(a.words[i])
		a.bytes = binary.LittleEndian.AppendUint64(a.bytes, a.words[i])
	}
	a.code = coding.AppendBits(nil, a.words, 8*coderBytes, a.ones)
	return a
}

// coderSpeed compares with finite state entropy coding of the bytes, its scratch space used again.
func coderSpeed(b *bench, p float64) {
	a := newArray(p)
	var encoder, decoder fse.Scratch
	theirs := append([]byte(nil), must(fse.Compress(a.bytes, &encoder))...)
	decoder.DecompressLimit = coderBytes
	if got := must(fse.Decompress(theirs, &decoder)); len(got) != coderBytes {
		panic("fse decodes wrongly")
	}
	code := make([]byte, 0, 2*coderBytes)
	words := make([]uint64, len(a.words))
	const kib = coderBytes >> 10
	b.compare(fmt.Sprintf("encode, p=%v, klauspost fse", p), "ns/KiB", kib, 1.5, timed(func() {
		code = coding.AppendBits(code[:0], a.words, 8*coderBytes, a.ones)
	}), timed(func() {
		sink += len(must(fse.Compress(a.bytes, &encoder)))
	}))
	b.compare(fmt.Sprintf("decode, p=%v, klauspost fse", p), "ns/KiB", kib, 1.5, timed(func() {
		sink += must(coding.DecodeBits(words, a.code, 8*coderBytes, a.ones))
	}), timed(func() {
		sink += len(must(fse.Decompress(theirs, &decoder)))
	}))
}

// entropy is the binary entropy of p in bits.
func entropy(p float64) float64 { return -p*math.Log2(p) - (1-p)*math.Log2(1-p) }
