package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sort"

	bitsblooms "github.com/bits-and-blooms/bloom/v3"

	"github.com/venn-p2p/venn/summary"
	"github.com/venn-p2p/venn/testnet/papers"
)

const (
	streamKeys = 100_000
	envelope   = 240 // bytes added for a signed header
)

var streamHasher = summary.Seed{Network: "bench"}.Hasher()

// streamArea measures the whole stream of a summary and cuts of it, with the signed header. The rivals are other
// structures that answer the same question at the same false-positive rate, or in the same bytes. In rows with "at
// most", "theirs" is that limit.
func streamArea(b *bench) {
	keys := randomKeys(1, streamKeys)
	full := build(keys, summary.Shape{})
	b.entropy(full, 1/1.01)
	b.entropy(build(randomKeys(2, 1_000_000), summary.Shape{}), 1/1.004)
	r := newStreamRivals(keys, full.FalsePositiveRate())
	b.streamSizes(full, r)
	b.cutRates(keys)
	b.streamSpeed(keys, full, r)
	b.million()
	b.deltas()
	b.hostileHeader()
}

// build makes the whole summary of keys.
func build(keys [][]byte, s summary.Shape) *summary.Prefix {
	return buildOf(fingerprints(keys), s, 1)
}

// deepShape returns a shape for a false-positive rate of 1e-6.
func deepShape() summary.Shape {
	s, _, err := summary.ShapeForRate(streamKeys, 1e-6)
	if err != nil {
		panic(err)
	}
	return s
}

func buildOf(fps []summary.Fingerprint, s summary.Shape, sequence uint32) *summary.Prefix {
	h := summary.Header{Origin: "bench", Epoch: summary.Epoch{Sequence: sequence}, Shape: s}
	return must(summary.Build(fps, h))
}

func fingerprints(keys [][]byte) []summary.Fingerprint {
	fps := make([]summary.Fingerprint, len(keys))
	for i, key := range keys {
		fps[i] = streamHasher.Fingerprint(key)
	}
	return fps
}

// decode makes a prefix from the encoded parts of p, all of them.
func decode(p *summary.Prefix) *summary.Prefix {
	none := must(summary.NewPrefix(p.Header()))
	return must(none.Extend(must(p.Run(0, p.Parts()))))
}

// wireBytes returns the size of a prefix in bytes, as it is stored or sent.
func wireBytes(p *summary.Prefix) float64 {
	run := must(p.Run(0, p.Parts()))
	return float64(len(summary.File{Envelope: make([]byte, envelope), Run: run}.AppendBinary(nil)))
}

// entropy compares the bytes of the parts with the entropy of the deepest level.
func (b *bench) entropy(p *summary.Prefix, target float64) {
	name := fmt.Sprintf("size, %d keys, entropy of the deepest level", p.Header().N)
	b.amount(name, "bytes", target, float64(p.EncodedBytes()), papers.StreamEntropy(p)/8)
}

// streamSizes compares sizes at the same false-positive rate.
func (b *bench) streamSizes(full *summary.Prefix, r *streamRivals) {
	size := wireBytes(full)
	at := func(what string) string { return fmt.Sprintf("size at rate %.2g, %s", full.FalsePositiveRate(), what) }
	b.amount(at("btcutil/gcs"), "bytes", 0, size, float64(len(must(r.set.NBytes()))))
	b.amount(at("plain Bloom filter"), "bytes", 1, size, float64(len(r.bloom)))
	b.amount(at("zstd of a plain Bloom filter"), "bytes", 1, size, float64(len(r.zstd.EncodeAll(r.bloom, nil))))
	b.amount(at("zstd of a Bloom filter of one hash function"), "bytes", 1, size, float64(r.sparseBytes()))
}

// cutRates compares the false-positive rates of cuts of one deep stream with the predicted rates, and with those of
// ideal plain Bloom filters of the same bytes.
func (b *bench) cutRates(keys [][]byte) {
	const asked = 20_000_000
	full := build(keys, deepShape())
	for _, c := range []struct {
		bits int
		most float64 // largest allowed share of the ideal filter's rate
	}{{4, 1.02}, {8, 0.55}, {12, 0.27}, {16, 0.12}} {
		parts := full.Parts()
		for wireBytes(full.Truncate(parts)) > float64(c.bits*streamKeys/8) {
			parts--
		}
		p := full.Truncate(parts)
		rng := rand.New(rand.NewPCG(1, uint64(c.bits)))
		hits := 0
		for range asked {
			hits += count(p.Contains(summary.Fingerprint(rng.Uint64() >> (64 - summary.FingerprintBits))))
		}
		b.amount(fmt.Sprintf("cut at %d bits a key, rate of an ideal Bloom filter", c.bits), "rate", 1/c.most,
			float64(hits)/asked, math.Pow(0.6185, float64(c.bits)))
		off := 100 * math.Abs(p.FalsePositiveRate()/full.Plan().ExpectedRate(parts)-1)
		b.amount(fmt.Sprintf("cut at %d bits a key, off the predicted rate, at most 3 %%", c.bits), "%", 1, max(off, 0.01), 3)
	}
}

// streamSpeed compares encoding a collection, and decoding the bytes to a structure that answers for keys.
func (b *bench) streamSpeed(keys [][]byte, full *summary.Prefix, r *streamRivals) {
	built := timed(func() { sink += build(keys, summary.Shape{}).EncodedBytes() })
	b.compare("build, 100k keys, btcutil/gcs", "ns/key", streamKeys, 0, built, timed(func() {
		sink += int(r.newSet(keys).N())
	}))
	b.compare("build, 100k keys, bits-and-blooms/bloom and zstd", "ns/key", streamKeys, 0, built, timed(func() {
		sink += len(r.zstd.EncodeAll(r.newBloom(keys), nil))
	}))
	decoded := timed(func() { sink += decode(full).Parts() })
	other := randomKeys(3, 1)
	b.compare("decode, 100k keys, btcutil/gcs into a map", "ns/key", streamKeys, 0, decoded, timed(func() {
		sink += count(must(r.set.HashMatchAny(r.key, other)))
	}))
	packed := r.zstd.EncodeAll(r.bloom, nil)
	b.compare("decode, 100k keys, bits-and-blooms/bloom and zstd", "ns/key", streamKeys, 0, decoded, timed(func() {
		var f bitsblooms.BloomFilter
		if err := f.UnmarshalBinary(must(r.unzstd.DecodeAll(packed, nil))); err != nil {
			panic(err)
		}
	}))
}

// million compares the times for a million keys with limits, on one core.
func (b *bench) million() {
	keys := randomKeys(2, 1_000_000)
	var p *summary.Prefix
	b.within("build, 1M keys, hashing included, at most 0.5 s", "s", 0.5, timed(func() { p = build(keys, summary.Shape{}) }))
	b.within("decode, 1M keys, at most 0.25 s", "s", 0.25, timed(func() { sink += decode(p).Parts() }))
}

// deltas measures the size of deltas of a summary of 8 bits a key, after some of the keys were exchanged.
func (b *bench) deltas() {
	keys := randomKeys(1, streamKeys)
	old := buildOf(fingerprints(keys), summary.Shape{}, 1)
	parts := sort.Search(old.Parts(), func(i int) bool { return old.Plan().EncodedBytes(i+1) > streamKeys })
	for _, c := range []struct {
		changed int
		most    float64 // limit, in bits a key
	}{{streamKeys / 100, 0.28}, {streamKeys / 1000, 0.06}} {
		changed := append(fingerprints(keys[c.changed:]), fingerprints(randomKeys(4, c.changed))...)
		next := buildOf(changed, old.Header().Shape, 2).Truncate(parts)
		perKey := 8 * float64(len(must(next.RunRelative(0, parts, old, parts)).Bytes)+envelope) / streamKeys
		name := fmt.Sprintf("delta at 8 bits a key, %g %% exchanged", 100*float64(c.changed)/streamKeys)
		b.amount(fmt.Sprintf("%s, at most %g", name, c.most), "bits/key", 1, perKey, c.most)
		b.amount(name+", all parts again", "bits/key", 0, perKey, 8*wireBytes(next)/streamKeys)
	}
}

// hostileHeader measures the time to refuse 1 KiB that is no header.
func (b *bench) hostileHeader() {
	good := must(buildOf(fingerprints(randomKeys(1, 1000)), summary.Shape{}, 1).Header().AppendBinary(nil))
	junk := append(good[:1], make([]byte, 1023)...) // with the first byte of a header, its version
	b.within("hostile header of 1 KiB refused, at most 10 µs", "s", 10e-6, timed(func() {
		if _, err := summary.ParseHeader(junk); err == nil {
			panic("accepted")
		}
	}))
}
