package summary

import "github.com/venn-p2p/venn/summary/internal/trie"

// Holders appends to dst the indices of the prefixes that contain f, in ascending order. The result is that of
// [Prefix.Contains] of each. It is several times as fast where prefixes are not in the caches, because the processor
// waits for the memory of many at a time. Each prefix must hold a part. O(prefixes · blocks).
func Holders(dst []int, prefixes []*Prefix, f Fingerprint) []int {
	var probes [32]trie.Probe
	x := position(f, 0)
	for base := 0; base < len(prefixes); base += len(probes) {
		some := prefixes[base:min(len(prefixes), base+len(probes))]
		for i, p := range some {
			probes[i] = p.probe(x)
		}
		for i := range some {
			probes[i].LoadAll()
		}
		for i := range some {
			probes[i].LoadUnary()
		}
		for i := range some {
			probes[i].LoadLow()
		}
		for i, p := range some {
			if probes[i].Contains(x) && p.containsBeyond(1, f) {
				dst = append(dst, base+i)
			}
		}
	}
	return dst
}

// probe is a question to block 0 about position x.
func (p *Prefix) probe(x uint64) trie.Probe {
	if p.front.End() > 0 {
		return p.front.Probe(x)
	}
	return p.tries[0].Probe(x)
}

// containsBeyond is Contains without the first blocks.
func (p *Prefix) containsBeyond(block int, f Fingerprint) bool {
	if p.more == nil {
		return true
	}
	for i := block; i < len(p.tries); i++ {
		if !p.tries[i].Contains(position(f, i)) {
			return false
		}
	}
	return true
}
