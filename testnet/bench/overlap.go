package main

import (
	"time"

	"github.com/bits-and-blooms/bitset"

	"github.com/venn-p2p/venn/overlay/compare"
	"github.com/venn-p2p/venn/summary"
	"github.com/venn-p2p/venn/summary/inside"
)

// overlapArea measures the time to estimate from samples how much of one's own collection each of 10,000 peers
// holds. The rival counts the AND of the same parts of the filters, as plain arrays.
func overlapArea(b *bench) {
	const peers, keys = 10_000, 5_000
	c := newCrowd(peers, keys)
	samples := make([]*summary.Prefix, peers)
	for i, p := range c.prefixes {
		samples[i] = p.Truncate(1)
	}
	c.prefixes = nil
	level := int(c.shape.SampleLevel)
	known, _ := inside.Sample(samples[0])
	var walk inside.Walker
	size := uint(known.End >> (32 - level))
	array := func(p *summary.Prefix) *bitset.BitSet {
		s := bitset.New(size)
		walk.Reset(p, 0, level, 0, known.End)
		for nodes := walk.Next(); nodes != nil; nodes = walk.Next() {
			for _, v := range nodes {
				s.Set(uint(v))
			}
		}
		return s
	}
	own := c.build(c.fingerprints(keys), 1)
	mine := array(own)
	theirs := make([]*bitset.BitSet, peers)
	for i, p := range samples {
		theirs[i] = array(p)
	}
	all := timed(func() {
		var x compare.Samples
		x.SetOwn(own)
		for i, p := range samples {
			x.Set(i, p)
			o, _ := x.Common(i, 0.95)
			sink += int(o.Value)
		}
	})
	merges := timed(func() {
		for _, s := range theirs {
			sink += int(mine.IntersectionCardinality(s))
		}
	})
	b.compare("own overlap with 10,000 samples, counts of bits-and-blooms/bitset, 8 times the memory", "ns/peer", peers, 0, all, merges)
	var kept compare.Samples
	kept.SetOwn(own)
	for i, p := range samples {
		kept.Set(i, p)
	}
	fps := c.fingerprints(keys)
	versions := [2]*summary.Prefix{c.build(fps, 2), c.build(append(fps[keys/100:len(fps):len(fps)], c.fingerprints(keys/100)...), 3)}
	turn := 0
	b.compare("the same after 1 % of the own keys changed, from the start", "ns/peer", peers, 0, func() time.Duration {
		return timed(func() {
			turn++
			kept.SetOwn(versions[turn%2])
		})()
	}, all)
}
