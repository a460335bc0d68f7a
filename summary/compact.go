package summary

import "fmt"

// shallowBytes is up to which size a whole stream is kept without any of its chain: to serve part 0 alone all parts are
// encoded.
const shallowBytes = 1 << 10

// Compact returns p without its encoded parts, which are about half of its memory. Queries behave the same. Run, Extend
// and RunRelative re-encode the parts, in O(n) time, and Truncate those that it drops. The encoding is canonical, so
// the bytes are those that came from the origin. The result shares the rest with p. Of a small summary, all that is
// known is in two pieces of memory then, beside the header.
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

// last is h_held of a compact prefix: zero after the last part of the stream.
func (p *Prefix) last() digest {
	if p.more == nil {
		return digest{}
	}
	return p.chain[1]
}

// whole is p with its encoded parts, verified once more against the header's chain. If that fails, which would be a
// fault of this package, it is the prefix of no parts, with the error.
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

// first is part 0 of a compact prefix, verified like the parts of whole: unless p is small, those behind it are not
// encoded.
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

// nothing is the prefix of no parts.
func (p *Prefix) nothing() *Prefix {
	return newPrefix(p.header, p.plan, nil, []digest{p.Header().Chain}, nil)
}

// truncateCompact is Truncate of a compact prefix to fewer parts, one at least. The chain value where it ends follows
// from the parts dropped, so only these are encoded; all of a small one.
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
