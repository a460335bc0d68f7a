package trie

import "math/bits"

// Probe checks step by step whether a block contains a position. Each step loads the memory that the next step needs.
// No branch in a step depends on that memory, because after a wrong guess the processor would drop the loads behind
// it. To check many blocks, do one step for all of them before the next step.
type Probe struct {
	set   *Set // nil: the cell is not known
	cell  uint
	level uint
	// A bit in unary: after LoadUnary the start of the cell's group, which is the cell or an earlier one; after
	// LoadLow the start of the cell
	at   uint
	word uint64 // after LoadUnary the word of unary with bit at; after LoadLow the low bits of the cell's first node
}

// Probe returns a probe for position x in s, a set of all cells of a block.
func (s *Set) Probe(x uint64) Probe {
	start := uint(bits.TrailingZeros32(uint32(s.end)))
	return Probe{set: s, cell: uint(x >> (64 - start)), level: start + uint(s.depth)}
}

// Probe returns a probe for position x in b.
func (b *Block) Probe(x uint64) Probe {
	cell := int(x >> (64 - b.Start))
	s := b.find(cell)
	if s == nil {
		return Probe{}
	}
	return Probe{set: s, cell: uint(cell - int(s.begin)), level: uint(b.level(s))}
}

// LoadAll is the first step, which is optional. If the nodes are spread evenly over the cells, it loads the cache
// lines that the other steps will load, all at the same time.
func (p *Probe) LoadAll() {
	if s := p.set; s != nil {
		nodes := uint(uint64(p.cell) * uint64(s.count) / uint64(s.end-s.begin)) // nodes before the cell, about
		p.word = s.word((nodes+p.cell)/64) + uint64(s.groupStart(p.cell)) + s.lowBits(nodes)
	}
}

// LoadUnary is the second step. It loads the word of unary where the group of the cell begins.
func (p *Probe) LoadUnary() {
	if p.set != nil {
		p.at = p.set.groupStart(p.cell)
		p.word = p.set.word(p.at / 64)
	}
}

// LoadLow is the third step. It finds the start of the cell in unary, and loads the low bits of the cell's first
// node.
func (p *Probe) LoadLow() {
	if p.set != nil {
		p.at = p.set.skipCells(p.at, p.word, p.cell%cellsPerStart)
		p.word = p.set.lowBits(p.at - p.cell)
	}
}

// Contains is the last step. It reports whether the block may have a key at position x, which must be the probe's
// position.
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
