package main

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"time"

	bitsblooms "github.com/bits-and-blooms/bloom/v3"

	"github.com/venn-p2p/venn/overlay/index"
	"github.com/venn-p2p/venn/summary"
)

// indexArea measures the time to find the peers that may hold a key among many, the time of an update, and memory.
// The rival is a loop over one Bloom filter a peer, of the same false-positive rate, with the key hashed once. Its
// update fills a new filter.
func indexArea(b *bench) {
	matching(b, 10_000, 5_000, 100)
	matching(b, 100_000, 500, 0)
}

// crowd has the summaries of many peers, and one index over them.
type crowd struct {
	rng      *rand.Rand
	keys     int
	shape    summary.Shape
	index    index.Index
	prefixes []*summary.Prefix
	held     [][]summary.Fingerprint // keys of the first peers
}

const remembered = 300

func newCrowd(peers, keys int) *crowd {
	c := &crowd{rng: rand.New(rand.NewPCG(1, uint64(peers))), keys: keys, shape: summary.DefaultShape(keys)}
	for i := range peers {
		fps := c.fingerprints(keys)
		if i < remembered {
			c.held = append(c.held, fps)
		}
		c.prefixes = append(c.prefixes, c.build(fps, 1))
	}
	return c
}

func (c *crowd) fingerprints(n int) []summary.Fingerprint {
	out := make([]summary.Fingerprint, n)
	for i := range out {
		out[i] = summary.Fingerprint(c.rng.Uint64() >> (64 - summary.FingerprintBits))
	}
	return out
}

func (c *crowd) build(fps []summary.Fingerprint, sequence uint32) *summary.Prefix {
	return must(summary.Build(fps, summary.Header{
		Origin: "peer", Epoch: summary.Epoch{Generation: 1, Sequence: sequence}, Lifetime: time.Hour, Shape: c.shape,
	}))
}

func matching(b *bench, peers, keys int, target float64) {
	size := fmt.Sprintf("%d peers of %d keys", peers, keys)
	fmt.Fprintf(b.progress, "%s: %s are being built\n", b.area, size)
	c := newCrowd(peers, keys)
	wire, memory, rate := 0, 0, 0.0
	for i, p := range c.prefixes {
		c.index.Set(i, p)
		wire += p.EncodedBytes()
		memory += p.Compact().SizeBytes() // as the directory keeps summaries that have not grown lately
		rate += p.FalsePositiveRate() / float64(peers)
	}
	memory += c.index.Memory()
	filters := make([]*bitsblooms.BloomFilter, peers)
	for i := range filters {
		filters[i] = bitsblooms.NewWithEstimates(uint(keys), rate)
		for range keys {
			filters[i].Add(binary.LittleEndian.AppendUint64(nil, c.rng.Uint64()))
		}
	}
	const queries = 200
	fps := c.fingerprints(100 * queries)
	for i := 0; i < len(fps); i += 2 { // a peer holds every second one
		held := c.held[c.rng.IntN(remembered)]
		fps[i] = held[c.rng.IntN(keys)]
	}
	at := 0
	next := func() []summary.Fingerprint {
		at = (at + queries) % len(fps)
		return fps[at:][:queries]
	}
	loop := func(n int) side {
		return timed(func() {
			for _, f := range next()[:n] {
				locations := bitsblooms.Locations(binary.LittleEndian.AppendUint64(nil, uint64(f)), filters[0].K())
				for _, filter := range filters {
					sink += count(filter.TestLocations(locations))
				}
			}
		})
	}
	var found []int
	answer := timed(func() {
		for _, f := range next() {
			found = c.index.Candidates(found[:0], f)
			sink += len(found)
		}
	})
	rows := timed(func() {
		for _, f := range next() {
			sink += c.index.Matches(f)
		}
	})
	slow := loop(10)
	scaled := func() time.Duration { return slow() * queries / 10 }
	b.compare("who may hold a key, "+size+", loop over bits-and-blooms", "ns/key", queries, target, answer, scaled)
	b.compare("the same without asking prefixes", "ns/key", queries, 0, rows, scaled)
	inVain(b, c, fps)
	b.amount("memory of prefixes and index, "+size+", 2.5 times the wire and 512 a peer", "bytes/peer", 1,
		float64(memory)/float64(peers), (2.5*float64(wire)+512*float64(peers))/float64(peers))
	b.amount("memory of the index alone, "+size+", bits-and-blooms", "bytes/peer", 0,
		float64(c.index.Memory())/float64(peers), float64(filters[0].Cap())/8)
	updates(b, c, size, rate)
	relaying(b, c, size)
}

// relaying compares serving parts that are not kept encoded with serving parts that are.
func relaying(b *bench, c *crowd, size string) {
	some := c.prefixes[:100]
	serve := func(form func(*summary.Prefix) *summary.Prefix) side {
		forms := make([]*summary.Prefix, len(some))
		for i, p := range some {
			forms[i] = form(p)
		}
		return timed(func() {
			for _, p := range forms {
				sink += must(p.Run(0, p.Parts())).EncodedBytes()
			}
		})
	}
	b.compare("all parts of a peer encoded again to be served, "+size+", kept encoded", "ns/peer", float64(len(some)), 0,
		serve((*summary.Prefix).Compact), serve(func(p *summary.Prefix) *summary.Prefix { return p }))
}

// inVain compares the number of peers that match a key by the index's rows alone with the number that match by their
// prefixes, too.
func inVain(b *bench, c *crowd, fps []summary.Fingerprint) {
	var found []int
	matched, contained := 0, 0
	for _, f := range fps[:2000] {
		matched += c.index.Matches(f)
		found = c.index.Candidates(found[:0], f)
		contained += len(found)
	}
	b.amount("peers that match a key, the prefixes against the rows alone", "peers/key", 0, float64(contained)/2000, float64(matched)/2000)
}

// updates compares setting a peer's summary in the index, all new or changed by 1 %, with filling a Bloom filter.
func updates(b *bench, c *crowd, size string, rate float64) {
	var others, epochs [2][]*summary.Prefix
	for i := range remembered {
		for e := range 2 {
			others[e] = append(others[e], c.build(c.fingerprints(c.keys), uint32(2+e)))
			fps := append(c.held[i][c.keys/100:len(c.held[i]):len(c.held[i])], c.fingerprints(c.keys/100)...)
			epochs[e] = append(epochs[e], c.build(fps, uint32(4+e)))
		}
	}
	turn := 0
	set := func(versions *[2][]*summary.Prefix, first int) side {
		return timed(func() {
			turn++
			for i, p := range versions[turn%2] {
				c.index.Set(first+i*7%remembered, p)
			}
		})
	}
	anew := timed(func() {
		for range 10 {
			f := bitsblooms.NewWithEstimates(uint(c.keys), rate)
			for range c.keys {
				f.Add(binary.LittleEndian.AppendUint64(nil, c.rng.Uint64()))
			}
		}
	})
	filled := func() time.Duration { return anew() * remembered / 10 }
	b.compare("a peer's summary replaced, "+size+", a bits-and-blooms filter filled", "ns/peer", remembered, 0, set(&others, remembered), filled)
	b.compare("a peer's summary changed by 1 %, "+size+", a bits-and-blooms filter filled", "ns/peer", remembered, 0, set(&epochs, 0), filled)
}
