package summary

import "fmt"

// shallowBytes is the size, in bytes, up to which a whole stream is kept without any of its chain. Such a prefix
// encodes all its parts to serve part 0 alone.
const shallowBytes = 1 << 10

// Compact returns p without its encoded parts, which take about half of its memory. Queries behave the same. Run,
// Extend and RunRelative encode all parts again, in O(n) time, and Truncate the parts that it drops. The encoding is
// canonical, so the bytes are those that came from the origin. The result shares the rest with p. Of a small summary,
// two pieces of memory are left: the header, and the nodes.
func (p *Prefix) Compact() *Prefix {
	if p.compact() || p.held == 0 {
		return p
	}
	q := *p
	q.compactTo(p.chain[1], p.chain[p.held])
	return &q
}

// compactTo makes p compact, with the second and the last value of its chain.
func (p *Prefix) compactTo(second, last digest) {
	if p.tries == nil && p.Parts() == p.plan.parts && p.bytes <= shallowBytes {
		p.more = nil
		return
	}
	p.more = &more{rate: p.rate, tries: p.tries, chain: []digest{second, last}}
}

func (p *Prefix) compact() bool { return p.more == nil || p.parts == nil && p.held > 0 }

// last returns h_held of a compact prefix: zero after the last part of the stream.
func (p *Prefix) last() digest {
	if p.more == nil {
		return digest{}
	}
	return p.chain[1]
}

// whole returns p with its encoded parts, verified once more against the header's chain. If that fails, which would be
// a fault of this package, it returns the prefix of no parts, and the error.
func (p *Prefix) whole() (*Prefix, error) {
	if !p.compact() {
		return p, nil
	}
	tries := p.blocks()
	parts, err := encodeParts(p.plan, tries, 0, p.Parts())
	if err != nil {
		return p.nothing(), fmt.Errorf("summary: %d parts encoded again: %w", p.held, err)
	}
	chain, err := verify(Run{Parts: parts, Next: p.last()}, p.Header().Chain)
	if err != nil {
		return p.nothing(), fmt.Errorf("summary: %d parts encoded again: %w", p.held, err)
	}
	return newPrefix(p.header, p.plan, parts, chain, tries), nil
}

// first returns part 0 of a compact prefix, verified like the parts of whole. The parts behind it are not encoded,
// unless p is small.
func (p *Prefix) first() (Run, error) {
	if p.more == nil {
		q, err := p.whole()
		if err != nil {
			return Run{}, err
		}
		return q.Run(0, 1)
	}
	parts, err := encodeParts(p.plan, p.blocks(), 0, 1)
	if err != nil {
		return Run{}, fmt.Errorf("summary: part 0 encoded again: %w", err)
	}
	r := Run{Parts: parts, Next: p.chain[0]}
	if _, err := verify(r, p.Header().Chain); err != nil {
		return Run{}, fmt.Errorf("summary: part 0 encoded again: %w", err)
	}
	return r, nil
}

// nothing returns the prefix of no parts.
func (p *Prefix) nothing() *Prefix {
	return newPrefix(p.header, p.plan, nil, []digest{p.Header().Chain}, nil)
}

// truncateCompact is Truncate of a compact prefix to fewer parts, at least one. The chain value where the result ends
// follows from the parts dropped, so only these are encoded; of a small prefix, all.
func (p *Prefix) truncateCompact(parts int) *Prefix {
	if p.more == nil {
		q, err := p.whole()
		if err != nil { // a fault of this package
			return q
		}
		return q.Truncate(parts).Compact()
	}
	dropped, err := encodeParts(p.plan, p.blocks(), parts, p.Parts())
	if err != nil { // likewise
		return p.nothing()
	}
	r := Run{First: parts, Parts: dropped, Next: p.chain[1]}
	q := &Prefix{header: p.header, plan: p.plan, held: int32(parts), bytes: p.bytes - int32(r.EncodedBytes()), more: &more{}}
	q.know(p.truncateTries(parts))
	q.compactTo(p.chain[0], chainOf(r)[0])
	return q
}
