package summary

import (
	"fmt"

	"github.com/venn-p2p/venn/summary/internal/trie"
)

// Compact returns p without its encoded parts, which are about half of its memory. Queries behave the same. Run, Extend
// and EncodeDelta re-encode the parts, in O(n) time, and Truncate those that it drops. The encoding is canonical, so
// the bytes are those that came from the origin. The result shares the rest with p.
func (p *Prefix) Compact() *Prefix {
	if p.compact() || p.held == 0 {
		return p
	}
	if p.single() {
		return p.pack([2]digest{p.chain[1], p.chain[p.held]})
	}
	q := *p
	q.parts, q.chain = nil, []digest{p.chain[1], p.chain[p.held]}
	return &q
}

// single says whether p is of one block that is known as one set.
func (p *Prefix) single() bool { return len(p.tries) == 1 && p.tries[0].Whole() != nil }

// packed is a compact prefix of one block that is known as one set, in one piece of memory: a small summary.
type packed struct {
	Prefix
	ends  [2]digest
	block trie.Single
	only  [1]*trie.Block
}

// pack is Compact for such a prefix. Its set is front itself.
func (p *Prefix) pack(ends [2]digest) *Prefix {
	q := &packed{Prefix: *p, ends: ends}
	q.parts, q.chain = nil, q.ends[:]
	q.block.Set(p.tries[0].Start, &q.front)
	q.only[0] = &q.block.Block
	q.tries = q.only[:]
	return &q.Prefix
}

func (p *Prefix) compact() bool { return p.parts == nil && p.held > 0 }

// whole is p with its encoded parts, verified once more against the header's chain. If that fails, which would be a
// fault of this package, it is the prefix of no parts, with the error.
func (p *Prefix) whole() (*Prefix, error) {
	if !p.compact() {
		return p, nil
	}
	parts, err := encodeParts(p.plan, p.tries, 0, p.held)
	if err == nil {
		q := *p
		if q.chain, err = verify(Run{Parts: parts, Next: p.chain[1]}, p.header.Chain); err == nil {
			q.parts = parts
			return &q, nil
		}
	}
	return p.nothing(), fmt.Errorf("summary: %d parts encoded again: %w", p.held, err)
}

// first is part 0 of a compact prefix, verified like the parts of whole: those behind it are not encoded.
func (p *Prefix) first() (Run, error) {
	parts, err := encodeParts(p.plan, p.tries, 0, 1)
	if err != nil {
		return Run{}, fmt.Errorf("summary: part 0 encoded again: %w", err)
	}
	r := Run{Parts: parts, Next: p.chain[0]}
	if _, err := verify(r, p.header.Chain); err != nil {
		return Run{}, fmt.Errorf("summary: part 0 encoded again: %w", err)
	}
	return r, nil
}

// nothing is the prefix of no parts.
func (p *Prefix) nothing() *Prefix {
	return &Prefix{header: p.header, plan: p.plan, chain: []digest{p.header.Chain}, rate: 1}
}

// truncateCompact is Truncate of a compact prefix to fewer parts, one at least. The chain value where it ends follows
// from the parts dropped, so only these are encoded.
func (p *Prefix) truncateCompact(parts int) *Prefix {
	dropped, err := encodeParts(p.plan, p.tries, parts, p.held)
	if err != nil { // a fault of this package, as in whole
		return p.nothing()
	}
	r := Run{First: parts, Parts: dropped, Next: p.chain[1]}
	q := &Prefix{
		header: p.header,
		plan:   p.plan,
		held:   parts,
		chain:  []digest{p.chain[0], chainOf(r)[0]},
		tries:  p.truncateTries(parts),
		bytes:  p.bytes - r.EncodedBytes(),
	}
	q.measureTries()
	if q.single() {
		return q.pack([2]digest(q.chain))
	}
	return q
}
