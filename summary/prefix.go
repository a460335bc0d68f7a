package summary

import (
	"fmt"
	"slices"

	"github.com/venn-p2p/venn/summary/internal/trie"
)

// Prefix holds the verified first parts of a stream. It approximates the origin's collection, better with each part.
// It is immutable; Extend returns another that shares memory with it.
type Prefix struct {
	// Whoever looks at many prefixes reads these: they fit into a line of the processor's cache.
	header *Header
	plan   *Plan
	held   int // parts
	bytes  int
	rate   float64
	tries  []*trie.Block // of the blocks begun

	front trie.Set // that of all cells of block 0, zero if there is none: here it is near for Holders
	parts [][]byte // nil: compact
	chain []digest // h_0 to h_held; of a compact prefix h_1 and h_held
}

// NewPrefix returns the prefix of no parts, which knows only the header. The caller has verified the header's
// signature.
func NewPrefix(h *Header) (*Prefix, error) {
	if err := h.check(); err != nil {
		return nil, err
	}
	plan, err := h.plan()
	if err != nil {
		return nil, err
	}
	p := &Prefix{header: h, plan: plan, chain: []digest{h.Chain}}
	p.measure()
	return p, nil
}

// measure sets what is derived from the parts.
func (p *Prefix) measure() {
	p.held, p.bytes = len(p.parts), Run{Parts: p.parts}.EncodedBytes()
	p.measureTries()
}

func (p *Prefix) measureTries() {
	if len(p.tries) > 0 {
		if s := p.tries[0].Whole(); s != nil {
			p.front = *s
		}
	}
	p.rate = 1
	for _, t := range p.tries {
		p.rate *= t.FalsePositiveRate()
	}
}

// Header is the header that the parts are verified against. Not to be changed. O(1).
func (p *Prefix) Header() *Header { return p.header }

// Plan is the plan of the whole stream. O(1).
func (p *Prefix) Plan() *Plan { return p.plan }

// Parts is the number of parts held. O(1).
func (p *Prefix) Parts() int { return p.held }

// EncodedBytes is the size of the parts held. O(1).
func (p *Prefix) EncodedBytes() int { return p.bytes }

// SizeBytes is about the bytes that p takes, including what it shares with other prefixes. Its plan, which all prefixes
// of as many keys in one shape share, is left out. O(pieces).
func (p *Prefix) SizeBytes() int {
	size := 24*len(p.parts) + 32*len(p.chain) + 256
	if !p.compact() {
		size += p.bytes
	}
	for _, t := range p.tries {
		size += t.SizeBytes()
	}
	if p.compact() && p.single() {
		size -= trie.SetBytes // see packed
	}
	return size
}

// FalsePositiveRate is the probability that Contains is true of a random fingerprint: measured from what is held, not
// predicted. 1 when nothing is known. O(1).
func (p *Prefix) FalsePositiveRate() float64 { return p.rate }

// Contains reports whether the collection may hold a key of fingerprint f: always true if it does, and with probability
// FalsePositiveRate if it does not. O(blocks), no allocation.
func (p *Prefix) Contains(f Fingerprint) bool { return p.containsBeyond(0, f) }

// Run is parts from to to-1, to be served. The parts are not to be changed. ErrLimit if p does not hold them. A compact
// prefix encodes all its parts first, in O(n); where only part 0 is wanted, that one.
func (p *Prefix) Run(from, to int) (Run, error) {
	if from < 0 || from > to || to > p.held {
		return Run{}, fmt.Errorf("summary: parts %d to %d of %d held: %w", from, to-1, p.held, ErrLimit)
	}
	if p.compact() && from == 0 && to == 1 {
		return p.first()
	}
	p, err := p.whole()
	if err != nil {
		return Run{}, err
	}
	return Run{First: from, Parts: p.parts[from:to:to], Next: p.chain[to]}, nil
}

// Extend verifies a run against the chain, decodes its parts and returns the longer prefix. The run may start at or
// before the first part missing: the parts already held are then verified to be the same. Without new parts it returns
// p; a compact prefix leaves such a run unverified. It copies what it keeps of the run, and takes time O(n) for each
// range of hash space that it extends. ErrLimit: parts that the plan has not, a gap, or sizes beyond the plan.
// ErrChain: not the origin's parts. ErrMalformed: the origin signed for what no summary can be.
func (p *Prefix) Extend(r Run) (*Prefix, error) {
	if r.First < 0 || r.First > p.held || r.end() > p.plan.parts {
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
		if r.end() <= p.held {
			return p, nil
		}
		next := Run{First: p.held, Parts: r.Parts[p.held-r.First:], Next: r.Next}
		if _, err := verify(next, p.chain[1]); err != nil {
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
	if r.end() <= p.held {
		return given, nil
	}
	held := p.held
	fresh := cloneParts(r.Parts[held-r.First:])
	d := decoder{plan: p.plan, tries: p.tries}
	if err := d.decode(held, fresh); err != nil {
		return nil, err
	}
	q := &Prefix{
		header: p.header,
		plan:   p.plan,
		parts:  slices.Concat(p.parts, fresh),
		chain:  slices.Concat(p.chain[:held], chain[held-r.First:]),
		tries:  d.tries,
	}
	q.measure()
	return q, nil
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

// Truncate returns the first parts of p; p itself if it has no more. It panics if parts is negative. The result keeps
// only the memory of what it still says, and is compact if p is. It takes time in proportion to what is dropped, and
// O(parts).
func (p *Prefix) Truncate(parts int) *Prefix {
	switch {
	case parts < 0:
		panic("summary: Truncate to fewer than no parts")
	case parts >= p.held:
		return p
	case parts == 0:
		return p.nothing()
	case p.compact():
		return p.truncateCompact(parts)
	}
	q := &Prefix{
		header: p.header,
		plan:   p.plan,
		parts:  cloneParts(p.parts[:parts]),
		chain:  slices.Clone(p.chain[:parts+1]),
		tries:  p.truncateTries(parts),
	}
	q.measure()
	return q
}

// truncateTries is what the first parts say of each block.
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
