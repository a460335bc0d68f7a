package summary

// Holders appends to dst the indices of the prefixes that contain f, in ascending order. The result is that of
// [Prefix.Contains] of each. It is several times as fast where prefixes are not in the caches, because the processor
// waits for the memory of many at a time. Each prefix must hold a part.
func Holders(dst []int, prefixes []*Prefix, f Fingerprint) []int {
	var probes [32]probe
	x := position(f, 0)
	for base := 0; base < len(prefixes); base += len(probes) {
		some := prefixes[base:min(len(prefixes), base+len(probes))]
		for i, p := range some {
			probes[i].trie = p.tries[0]
		}
		for i := range some {
			probes[i].find(x)
		}
		for i := range some {
			probes[i].start()
		}
		for i, p := range some {
			if probes[i].contains(x) && p.containsBeyond(1, f) {
				dst = append(dst, base+i)
			}
		}
	}
	return dst
}

// probe is one step after the other of [trie.contains].
type probe struct {
	trie     *trie
	set      *set // nil: unknown
	cell, at int
}

func (p *probe) find(x uint64) {
	p.cell = int(x >> (64 - p.trie.start))
	p.set = p.trie.find(p.cell)
}

func (p *probe) start() {
	if p.set != nil {
		p.cell -= p.set.begin
		p.at = p.set.cellStart(p.cell)
	}
}

func (p *probe) contains(x uint64) bool {
	if p.set == nil {
		return true
	}
	return p.set.containsFrom(p.at, p.cell, x>>(64-int(p.trie.start)-p.set.depth))
}

// containsBeyond is Contains without the first blocks.
func (p *Prefix) containsBeyond(block int, f Fingerprint) bool {
	for i := block; i < len(p.tries); i++ {
		if !p.tries[i].contains(position(f, i)) {
			return false
		}
	}
	return true
}
