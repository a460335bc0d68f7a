package summary

import (
	"fmt"
	"slices"

	"github.com/venn-p2p/venn/summary/internal/trie"
)

// Prefix holds the verified first parts of a stream. It approximates the origin's collection, better with each part.
// It is immutable; Extend returns another that shares memory with it. The zero value holds no part, so it denies no key.
type Prefix struct {
	front  *trie.Set     // block 0, if it is known as one set; else nil
	tries  []*trie.Block // tries of the blocks begun
	rate   float64       // the false-positive rate
	header Header
	plan   *Plan    // plan of the whole stream, with the number of keys and the shape
	held   int32    // number of parts
	bytes  int32    // size of the parts
	parts  [][]byte // nil: compact
	chain  []digest // h_0 to h_held; of a compact prefix h_1 and h_held
}

// NewPrefix returns the prefix of no parts, which knows only the header. The caller has verified the header's
// signature.
func NewPrefix(h Header) (*Prefix, error) {
	if err := h.check(); err != nil {
		return nil, err
	}
	plan, err := h.plan()
	if err != nil {
		return nil, err
	}
	return newPrefix(h, plan, nil, []digest{h.Chain}, nil), nil
}

// newPrefix returns the prefix of some parts, which are decoded to tries. It keeps the plan's shape, not the header's.
func newPrefix(h Header, plan *Plan, parts [][]byte, chain []digest, tries []*trie.Block) *Prefix {
	h.Shape = plan.shape
	p := &Prefix{
		header: h, plan: plan, held: int32(len(parts)), bytes: int32(Run{Parts: parts}.EncodedBytes()),
		parts: parts, chain: chain,
	}
	p.know(tries)
	return p
}

// know sets the tries of p, and the front and the rate that follow from them.
func (p *Prefix) know(tries []*trie.Block) {
	p.front, p.tries, p.rate = nil, tries, rateOf(tries)
	if len(tries) > 0 {
		p.front = tries[0].Whole()
	}
}

// rateOf returns the false-positive rate of blocks.
func rateOf(tries []*trie.Block) float64 {
	rate := 1.0
	for _, t := range tries {
		rate *= t.FalsePositiveRate()
	}
	return rate
}

// Inside returns the nodes that p knows, of each block begun. front is block 0 if p knows it as one set, else nil. It is
// for package inside: the types are internal. O(1), no allocation.
func (p *Prefix) Inside() (front *trie.Set, blocks []*trie.Block) { return p.front, p.tries }

// Header returns the header that the parts are verified against. The levels of its shape are not to be changed. O(1),
// no allocation.
func (p *Prefix) Header() Header { return p.header }

// Plan returns the plan of the whole stream. O(1).
func (p *Prefix) Plan() *Plan { return p.plan }

// Parts returns the number of parts held. O(1).
func (p *Prefix) Parts() int { return int(p.held) }

// EncodedBytes returns the size of the parts held. O(1).
func (p *Prefix) EncodedBytes() int { return int(p.bytes) }

// SizeBytes returns about the bytes that p takes, including memory that it shares with other prefixes. Not counted is
// its plan, which all prefixes with the same number of keys and the same shape share. O(pieces).
func (p *Prefix) SizeBytes() int {
	size := prefixBytes + len(p.header.Origin) + 8*len(p.tries) + 24*len(p.parts) + 32*len(p.chain)
	if !p.compact() {
		size += int(p.bytes)
	}
	for _, t := range p.tries {
		size += t.SizeBytes()
	}
	return size
}

// prefixBytes is the size of a Prefix.
const prefixBytes = 240

// FalsePositiveRate returns the probability that Contains is true of a random fingerprint: measured from the parts
// held, not predicted. It is 1 if nothing is known. O(1).
func (p *Prefix) FalsePositiveRate() float64 { return p.rate }

// Contains reports whether the collection may hold a key of fingerprint f: always true if it does, and with probability
// FalsePositiveRate if it does not. O(blocks), no allocation.
func (p *Prefix) Contains(f Fingerprint) bool {
	for i, t := range p.tries {
		if !t.Contains(position(f, i)) {
			return false
		}
	}
	return true
}

// Run returns parts from to to-1, to be served. The parts are not to be changed. ErrLimit if p does not hold them. A
// compact prefix encodes all its parts first, in O(n); for part 0 alone, only that part.
func (p *Prefix) Run(from, to int) (Run, error) {
	if from < 0 || from > to || to > p.Parts() {
		return Run{}, fmt.Errorf("summary: parts %d to %d of %d held: %w", from, to-1, p.held, ErrLimit)
	}
	if p.compact() && from == 0 && to == 1 {
		r, _, err := p.again(1, p.chain[0])
		return r, err
	}
	p, err := p.whole()
	if err != nil {
		return Run{}, err
	}
	return Run{First: from, Parts: p.parts[from:to:to], Next: p.chain[to]}, nil
}

// Extend verifies a run against the chain, decodes its parts and returns the longer prefix. The run may start at or
// before the first part missing: the parts already held are then verified to be the same. Without new parts it returns
// p; a compact prefix leaves such a run unverified. It copies the parts that it keeps, and takes time O(n) for each
// range of hash space that it extends. ErrLimit: parts that the plan does not have, a gap, or sizes beyond the plan.
// ErrChain: not the origin's parts. ErrMalformed: the origin signed for parts that no summary can have.
func (p *Prefix) Extend(r Run) (*Prefix, error) {
	if r.First < 0 || r.First > p.Parts() || r.end() > p.plan.parts {
		return nil, fmt.Errorf("summary: parts %d to %d, %d of %d held: %w", r.First, r.end()-1, p.held, p.plan.parts, ErrLimit)
	}
	for i, part := range r.Parts {
		if most := p.plan.maxPartBytes(r.First + i); len(part) > most {
			return nil, fmt.Errorf("summary: part %d of %d bytes, at most %d: %w", r.First+i, len(part), most, ErrLimit)
		}
	}
	if r.end() == p.plan.parts && r.Next != (digest{}) {
		return nil, fmt.Errorf("summary: more follows the last part: %w", ErrChain)
	}
	if p.compact() {
		if r.end() <= p.Parts() {
			return p, nil
		}
		next := Run{First: p.Parts(), Parts: r.Parts[p.Parts()-r.First:], Next: r.Next}
		if _, err := verify(next, p.last()); err != nil {
			return nil, err // before anything is encoded
		}
	}
	given := p
	p, err := p.whole()
	if err != nil {
		return nil, err
	}
	chain, err := verify(r, p.chain[r.First])
	if err != nil {
		return nil, err
	}
	held := p.Parts()
	if r.end() <= held {
		return given, nil
	}
	fresh := cloneParts(r.Parts[held-r.First:])
	d := decoder{plan: p.plan, tries: p.tries}
	if err := d.decode(held, fresh); err != nil {
		return nil, err
	}
	parts := slices.Concat(p.parts, fresh)
	return newPrefix(p.header, p.plan, parts, slices.Concat(p.chain[:held], chain[held-r.First:]), d.tries), nil
}

// cloneParts copies parts into one piece of memory.
func cloneParts(parts [][]byte) [][]byte {
	memory := make([]byte, 0, Run{Parts: parts}.EncodedBytes())
	out := make([][]byte, len(parts))
	for i, part := range parts {
		at := len(memory)
		memory = append(memory, part...)
		out[i] = memory[at:len(memory):len(memory)]
	}
	return out
}

// Truncate returns the prefix of p with the given number of parts, or p itself if it has no more. It panics if parts is
// negative. The result keeps no dropped part in memory, and is compact if p is. It takes time in proportion to the parts
// of p, kept and dropped.
func (p *Prefix) Truncate(parts int) *Prefix {
	switch {
	case parts < 0:
		panic("summary: Truncate to fewer than no parts")
	case parts >= p.Parts():
		return p
	case parts == 0:
		return p.nothing()
	case p.compact():
		return p.truncateCompact(parts)
	}
	return newPrefix(p.header, p.plan, cloneParts(p.parts[:parts]), slices.Clone(p.chain[:parts+1]), p.truncateTries(parts))
}

// truncateTries returns the tries that the given number of first parts give.
func (p *Prefix) truncateTries(parts int) []*trie.Block {
	var tries []*trie.Block
	for i, t := range p.tries {
		if !p.plan.begun(i, parts) {
			break
		}
		tries = append(tries, truncate(t, p.plan, i, parts))
	}
	return tries
}
