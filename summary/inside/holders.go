package inside

import (
	"github.com/venn-p2p/venn/summary"
	"github.com/venn-p2p/venn/summary/internal/trie"
)

// Holders appends to dst the indices of the prefixes that contain f, in ascending order. These are the prefixes for
// which [summary.Prefix.Contains] is true. If the prefixes are not in the processor's caches, it is several times as
// fast as a loop, because it waits for the memory of many prefixes at the same time. Each prefix must have at least
// one part. O(prefixes · blocks).
func Holders(dst []int, prefixes []*summary.Prefix, f summary.Fingerprint) []int {
	var probes [32]trie.Probe
	x := Position(f, 0)
	for base := 0; base < len(prefixes); base += len(probes) {
		some := prefixes[base:min(len(prefixes), base+len(probes))]
		for i, p := range some {
			if front, tries := p.Inside(); front != nil { // the front takes less memory to load
				probes[i] = front.Probe(x)
			} else {
				probes[i] = tries[0].Probe(x)
			}
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
			if probes[i].Contains(x) && p.Contains(f) {
				dst = append(dst, base+i)
			}
		}
	}
	return dst
}
