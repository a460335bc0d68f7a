package trie

// Probe is a question to a block, asked step by step: whether it contains a position. A step loads what the next one
// needs, and has no branch that depends on it. A wrong guess would make the processor forget the loads behind it. Who
// asks many blocks takes one step with all of them before the next.
type Probe struct {
	set   *Set // nil: unknown
	cell  uint
	level uint
	at    uint   // a bit in unary: first where one of the cells before begins, then where this one does
	word  uint64 // of unary, with that bit; then the low bits of the cell's first node
}

// Probe is a question to s, a set of all cells.
func (s *Set) Probe(x uint64) Probe {
	start := uint(s.start())
	return Probe{set: s, cell: uint(x >> (64 - start)), level: start + uint(s.depth)}
}

// Probe is a question to b.
func (b *Block) Probe(x uint64) Probe {
	cell := int(x >> (64 - b.Start))
	s := b.find(cell)
	if s == nil {
		return Probe{}
	}
	return Probe{set: s, cell: uint(cell - int(s.begin)), level: uint(b.level(s))}
}

// LoadAll is the first step, which no other needs. Where the nodes are spread evenly over the cells, it loads the lines
// that the other steps will load, all at a time.
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

// LoadLow is the third step. It finds where the cell begins, and loads the low bits of its first node.
func (p *Probe) LoadLow() {
	if p.set != nil {
		p.at = p.set.skipCells(p.at, p.word, p.cell%cellsPerStart)
		p.word = p.set.lowBits(p.at - p.cell)
	}
}

// Contains is the last step: whether the block may have a key at the position of the question.
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
