package summary

import "fmt"

// Compact returns p without its encoded parts, which take about half of its memory. Queries behave the same. Run,
// Extend and RunRelative encode all parts again, in O(n) time, and Truncate the parts that it drops. The encoding is
// canonical, so the bytes are those that came from the origin. The result shares the rest with p.
func (p *Prefix) Compact() *Prefix {
	if p.compact() || p.held == 0 {
		return p
	}
	q := *p
	q.parts, q.chain = nil, []digest{p.chain[1], p.chain[p.held]}
	return &q
}

func (p *Prefix) compact() bool { return p.parts == nil && p.held > 0 }

// last returns h_held of a compact prefix: zero after the last part of the stream.
func (p *Prefix) last() digest { return p.chain[1] }

// whole returns p with its encoded parts, verified once more against the header's chain. If that fails, which would be
// a fault of this package, it returns the prefix of no parts, and the error.
func (p *Prefix) whole() (*Prefix, error) {
	if !p.compact() {
		return p, nil
	}
	r, chain, err := p.again(p.Parts(), p.last())
	if err != nil {
		return p.nothing(), err
	}
	return newPrefix(p.header, p.plan, r.Parts, chain, p.tries), nil
}

// again encodes the first parts of a compact prefix, and verifies them. next is the chain's value after them.
func (p *Prefix) again(parts int, next digest) (r Run, chain []digest, err error) {
	r.Next = next
	if r.Parts, err = encodeParts(p.plan, p.tries, 0, parts); err == nil {
		chain, err = verify(r, p.header.Chain)
	}
	if err != nil {
		return Run{}, nil, fmt.Errorf("summary: %d parts encoded again: %w", parts, err)
	}
	return r, chain, nil
}

// nothing returns the prefix of no parts.
func (p *Prefix) nothing() *Prefix {
	return newPrefix(p.header, p.plan, nil, []digest{p.header.Chain}, nil)
}

// truncateCompact truncates a compact prefix to fewer parts, at least one. The chain value at the end of the result
// follows from the dropped parts, so it encodes only the dropped parts.
func (p *Prefix) truncateCompact(parts int) *Prefix {
	dropped, err := encodeParts(p.plan, p.tries, parts, p.Parts())
	if err != nil { // a fault of this package
		return p.nothing()
	}
	r := Run{First: parts, Parts: dropped, Next: p.last()}
	q := *p
	q.held, q.bytes = int32(parts), p.bytes-int32(r.EncodedBytes())
	q.know(p.truncateTries(parts))
	q.chain = []digest{p.chain[0], chainOf(r)[0]}
	return &q
}
