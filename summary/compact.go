package summary

import "fmt"

// Compact is p without its encoded parts, which are about half of its memory: the same as p to all who ask, but
// Run, Extend and Truncate, and deltas to it, encode the parts anew, in O(n). As the encoding is canonical, and no decoder accepts
// any other, they get the bytes that came from the origin. It shares the rest with p.
func (p *Prefix) Compact() *Prefix {
	if p.compact() || p.held == 0 {
		return p
	}
	q := *p
	q.parts, q.chain = nil, []Digest{p.chain[p.held]}
	return &q
}

func (p *Prefix) compact() bool { return p.parts == nil && p.held > 0 }

// whole is p with its encoded parts, verified once more against the header's chain; if that fails, which would be a fault of
// this package, the prefix of no parts and the error.
func (p *Prefix) whole() (*Prefix, error) {
	if !p.compact() {
		return p, nil
	}
	parts, err := encodeParts(p.plan, p.tries, p.held)
	if err == nil {
		q := *p
		if q.chain, err = verify(Run{Parts: parts, Next: p.chain[0]}, p.header.Chain); err == nil {
			q.parts = parts
			return &q, nil
		}
	}
	return &Prefix{header: p.header, plan: p.plan, chain: []Digest{p.header.Chain}, rate: 1}, fmt.Errorf("summary: %d parts encoded anew: %w", p.held, err)
}
