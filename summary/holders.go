package summary

import "math/bits"

// Holders appends to dst the indices of the prefixes that contain f, in ascending order. The result is that of
// [Prefix.Contains] of each. It is several times as fast where prefixes are not in the caches, because the processor
// waits for the memory of many at a time. Each prefix must hold a part.
func Holders(dst []int, prefixes []*Prefix, f Fingerprint) []int {
	var probes [64]probe
	x := position(f, 0)
	for base := 0; base < len(prefixes); base += len(probes) {
		some := prefixes[base:min(len(prefixes), base+len(probes))]
		for i, p := range some {
			probes[i] = p.probe(x)
		}
		for i := range some {
			probes[i].loadUnary()
		}
		for i := range some {
			probes[i].loadLow()
		}
		for i, p := range some {
			if probes[i].contains(x) && p.containsBeyond(1, f) {
				dst = append(dst, base+i)
			}
		}
	}
	return dst
}

// probe is one step after the other of [trie.contains]. Each loads what the next one needs, and has no branch that
// depends on it: a wrong guess would make the processor forget the loads behind it.
type probe struct {
	set   *set // nil: unknown
	cell  int
	level int
	at    int    // a bit in unary: first where one of the cells before begins, then where this one does
	word  uint64 // of unary, with that bit; then the low bits of the cell's first node
}

// probe finds the set of block 0 that knows position x.
func (p *Prefix) probe(x uint64) probe {
	if s := &p.lone; s.end > 0 {
		start := bits.TrailingZeros(uint(s.end))
		return probe{set: s, cell: int(x >> (64 - start)), level: start + s.depth}
	}
	t := p.tries[0]
	cell := int(x >> (64 - t.start))
	s := t.find(cell)
	if s == nil {
		return probe{}
	}
	return probe{set: s, cell: cell - s.begin, level: s.level(t.start)}
}

// loadUnary loads the unary code a little before the cell.
func (p *probe) loadUnary() {
	if p.set != nil {
		p.at = int(p.set.starts[p.cell/cellsPerStart])
		p.word = p.set.unary[p.at/64]
	}
}

// loadLow finds where the cell begins, and loads the low bits of its first node.
func (p *probe) loadLow() {
	if p.set != nil {
		p.at = p.set.skipCells(p.at, p.word, p.cell%cellsPerStart)
		p.word = p.set.lowBits(p.at - p.cell)
	}
}

// contains reports whether the cell has the node of x.
func (p *probe) contains(x uint64) bool {
	s := p.set
	if s == nil {
		return true
	}
	for at := p.at; s.unary[at/64]>>(at%64)&1 == 1; at++ {
		if at > p.at {
			p.word = s.lowBits(at - p.cell)
		}
		if p.word == x>>(64-p.level)&(1<<s.depth-1) {
			return true
		}
	}
	return false
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
