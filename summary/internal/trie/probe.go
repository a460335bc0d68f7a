package trie

import "math/bits"

// Probe asks a block, step by step, whether it contains a position. A step loads the memory that the next step needs,
// and has no branch that depends on it: a wrong guess would make the processor drop the loads behind it. To ask many
// blocks, take one step with all of them before the next.
type Probe struct {
	set   *Set // nil: unknown
	cell  uint
	level uint
	at    uint   // a bit in unary: first the start of a cell at or before this one, then the start of this cell
	word  uint64 // of unary, with that bit; then the low bits of the cell's first node
}

// Probe returns a probe of s, a set of all cells, at position x.
func (s *Set) Probe(x uint64) Probe {
	start := uint(bits.TrailingZeros32(uint32(s.end)))
	return Probe{set: s, cell: uint(x >> (64 - start)), level: start + uint(s.depth)}
}

// Probe returns a probe of b at position x.
func (b *Block) Probe(x uint64) Probe {
	cell := int(x >> (64 - b.Start))
	s := b.find(cell)
	if s == nil {
		return Probe{}
	}
	return Probe{set: s, cell: uint(cell - int(s.begin)), level: uint(b.level(s))}
}

// LoadAll is the first step; the others do not need it. Where the nodes are spread evenly over the cells, it loads the
// cache lines that the other steps will load, all at a time.
func (p *Probe) LoadAll() {
	if s := p.set; s != nil {
		nodes := uint(uint64(p.cell) * uint64(s.count) / uint64(s.end-s.begin)) // before the cell, about
		p.word = s.word((nodes+p.cell)/64) + uint64(s.groupStart(p.cell)) + s.lowBits(nodes)
	}
}

// LoadUnary is the second step. It loads the unary code a little before the cell.
func (p *Probe) LoadUnary() {
	if p.set != nil {
		p.at = p.set.groupStart(p.cell)
		p.word = p.set.word(p.at / 64)
	}
}

// LoadLow is the third step. It finds the start of the cell, and loads the low bits of its first node.
func (p *Probe) LoadLow() {
	if p.set != nil {
		p.at = p.set.skipCells(p.at, p.word, p.cell%cellsPerStart)
		p.word = p.set.lowBits(p.at - p.cell)
	}
}

// Contains is the last step. It reports whether the block may have a key at position x, which is the probe's.
func (p *Probe) Contains(x uint64) bool {
	s := p.set
	if s == nil {
		return true
	}
	for at := p.at; s.one(at); at++ {
		if at > p.at {
			p.word = s.lowBits(at - p.cell)
		}
		if p.word == x>>((64-p.level)&63)&(1<<(s.depth&63)-1) {
			return true
		}
	}
	return false
}
