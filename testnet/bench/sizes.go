package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"text/tabwriter"

	"github.com/FastFilter/xorfilter"
	bitsblooms "github.com/bits-and-blooms/bloom/v3"
	"github.com/btcsuite/btcd/btcutil/gcs"

	"github.com/venn-p2p/venn/summary"
	"github.com/venn-p2p/venn/summary/bloom"
)

const (
	sizesBytes   = 150_000 // bytes of a structure that answers for keys: 12 bits for each of streamKeys
	sizesAsked   = 4_000_000
	sketchKiB    = 4  // KiB of a sketch
	sketchRepeat = 30 // number of pairs of sets; the two sets of a pair have a tenth of their keys in common
)

// Sized is a line of the table of sizes.
type Sized struct {
	Structure string  `json:"structure"`
	Bytes     int     `json:"bytes"`
	Rate      float64 `json:"rate"`  // measured false-positive rate; 0: the structure does not answer for keys
	Error     float64 `json:"error"` // mean error of an overlap of 10 %; 0: not measured
	Advice    string  `json:"advice"`
}

// sizes measures structures of the same number of bytes, for people who choose between them. Each is built by its
// own library.
func sizes() []Sized {
	keys := randomKeys(1, streamKeys)
	hashes := make([]uint64, len(keys))
	for i, f := range fingerprints(keys) {
		hashes[i] = uint64(f)
	}
	return append(filterSizes(keys, hashes), sketchSizesAt()...)
}

// filterSizes measures structures that answer for keys, of sizesBytes at most.
func filterSizes(keys [][]byte, hashes []uint64) []Sized {
	deep := build(keys, deepShape())
	parts := deep.Parts()
	for wireBytes(deep.Truncate(parts)) > sizesBytes {
		parts--
	}
	prefix := deep.Truncate(parts)

	plain := bitsblooms.New(8*sizesBytes, uint(math.Round(8*sizesBytes*math.Ln2/streamKeys)))
	blocked := bestBlocked()
	for i, h := range hashes {
		plain.Add(keys[i])
		blocked.AddHash(bloom.Hash64(h))
	}
	set, setKey := largestSet(keys)
	fuse := must(xorfilter.PopulateBinaryFuse8(hashes))

	rng := rand.New(rand.NewPCG(1, 12))
	key := make([]byte, 20)
	rate := func(asked int, contains func(h uint64) bool) float64 {
		hits := 0
		for range asked {
			hits += count(contains(rng.Uint64() >> (64 - summary.FingerprintBits)))
		}
		return float64(hits) / float64(asked)
	}
	return []Sized{
		{
			"venn/summary, prefix of a stream", int(wireBytes(prefix)), rate(sizesAsked, func(h uint64) bool { return prefix.Contains(summary.Fingerprint(h)) }), 0,
			"to send: any cut works, deltas, overlap",
		},
		{
			"btcutil/gcs", len(must(set.NBytes())), gcsRate(set, setKey), 0,
			"to send once; a question reads all of it",
		},
		{
			"FastFilter/xorfilter, binary fuse 8", len(fuse.Fingerprints) + 28, rate(sizesAsked, fuse.Contains), 0,
			"fixed sets in memory; rates of 1/256 or 1/65536 only",
		},
		{
			"bits-and-blooms/bloom", len(must(plain.MarshalBinary())), rate(sizesAsked, func(uint64) bool { randomBytes(rng, key); return plain.Test(key) }), 0,
			"sets that grow",
		},
		{
			"venn/summary/bloom.Blocked", blocked.SizeBytes(), rate(sizesAsked, func(h uint64) bool { return blocked.ContainsHash(bloom.Hash64(h)) }), 0,
			"sets that grow, fastest lookups",
		},
	}
}

func randomBytes(rng *rand.Rand, key []byte) {
	for i := range key {
		key[i] = byte(rng.Uint32())
	}
}

// bestBlocked returns an empty filter with the number of hash functions that gives the least rate.
func bestBlocked() *bloom.Blocked {
	var best *bloom.Blocked
	least := 1.0
	for k := 1; k < 16; k++ {
		f := must(bloom.NewBlocked(8*sizesBytes-8*64, k, bloom.Hasher{}))
		for i := range uint64(streamKeys) {
			f.AddHash(bloom.Hash64(i * 0x9E3779B97F4A7C15))
		}
		if rate := f.FalsePositiveRate(); rate < least {
			best, least = f, rate
		}
	}
	best.Reset()
	return best
}

// largestSet returns the Golomb-coded set with the least rate that fits in sizesBytes.
func largestSet(keys [][]byte) (*gcs.Filter, [gcs.KeySize]byte) {
	var key [gcs.KeySize]byte
	at := func(m float64) *gcs.Filter {
		return must(gcs.BuildGCSFilter(uint8(math.Round(math.Log2(math.Ln2*m))), uint64(m), key, keys))
	}
	low, high := 2.0, float64(1<<20)
	for high/low > 1.01 {
		if mid := math.Sqrt(low * high); len(must(at(mid).NBytes())) <= sizesBytes {
			low = mid
		} else {
			high = mid
		}
	}
	return at(low), key
}

// gcsRate measures a set's false-positive rate. It asks for 500 keys at once, few enough that a call seldom has more
// than one hit.
func gcsRate(set *gcs.Filter, key [gcs.KeySize]byte) float64 {
	const calls, each = 400, 500
	hits := 0
	for i := range calls {
		hits += count(must(set.MatchAny(key, randomKeys(uint64(5000+i), each))))
	}
	// A call only tells whether there was any hit.
	return -math.Log1p(-float64(hits)/calls) / each
}

// sketchSizesAt measures structures that estimate overlaps, of sketchKiB.
func sketchSizesAt() []Sized {
	var ours, theta, hll, fromCPC float64
	for trial := range uint64(sketchRepeat) {
		e := sketchTrial(trial, []int{sketchKiB}, true)[1] // a tenth in common
		ours, theta = ours+e.ours/sketchRepeat, theta+e.theta/sketchRepeat
		hll, fromCPC = hll+e.hll/sketchRepeat, fromCPC+e.cpc/sketchRepeat
	}
	_, cpcBytes := cpcOverlap(randomFingerprints(rand.New(rand.NewPCG(1, 1)), sketchKeys), nil, sketchKiB<<10)
	return []Sized{
		{"venn/summary, a stream cut short", sketchKiB << 10, 0, ours, "overlap with one other; the stream goes on from it"},
		{"apache/datasketches-go theta", sketchKiB << 10, 0, theta, "overlap and difference of many sets, set algebra"},
		{"axiomhq/hyperloglog", sketchKiB << 10, 0, hll, "the number of keys, unions; no overlaps"},
		{"apache/datasketches-go CPC", cpcBytes, 0, fromCPC, "the number of keys in the fewest bytes, unions; no overlaps"},
	}
}

// writeSizes prints the table of sizes, as text or JSON.
func writeSizes(w io.Writer, asJSON bool) error {
	rows := sizes()
	if asJSON {
		return json.NewEncoder(w).Encode(rows)
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "%d keys\tbytes\tfalse positives\terror of overlap\ttake it for\n", streamKeys)
	cell := func(v float64) string {
		if v == 0 {
			return "-"
		}
		return fmt.Sprintf("%.2g", v)
	}
	for _, r := range rows {
		fmt.Fprintf(t, "%s\t%d\t%s\t%s\t%s\n", r.Structure, r.Bytes, cell(r.Rate), cell(r.Error), r.Advice)
	}
	return t.Flush()
}
