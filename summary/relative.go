package summary

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
)

// Relative is a run in another form: coded given the first parts of another summary, the base. The base may be of any
// origin and shape; the more the collections share, the shorter the code. The chain binds the parts and not the form of
// the run. So a relative run proves as much as a plain run, and needs no trust.
type Relative struct {
	Base      [16]byte // names the summary of the base by its origin and epoch: its group in FORMAT.md
	BaseParts int      // number of parts of the base that are needed
	First     int      // number of the first part
	Parts     int      // number of parts
	// Next is the hash that binds the parts after the last one of the run; zero after the last part of the stream.
	Next [sha256.Size]byte
	Code []byte
	// Bytes is the canonical form of all fields above.
	Bytes []byte
}

// relativeVersion is the version of the form, its first byte.
const relativeVersion = 3

// group returns the 16 bytes that name the summary: the hashed origin mixed with the seed's number, and the epoch.
func (h Header) group() (g [16]byte) {
	sum := sha256.Sum256(append(append(make([]byte, 0, 128), "venn/origin/1\x00"...), h.Origin...))
	tag := binary.BigEndian.Uint64(sum[:]) ^ uint64(h.Seed.Number)*0x9E3779B97F4A7C15
	binary.BigEndian.PutUint64(g[:], tag)
	binary.BigEndian.PutUint32(g[8:], h.Epoch.Generation)
	binary.BigEndian.PutUint32(g[12:], h.Epoch.Sequence)
	return g
}

// end returns the number of the first part after r.
func (r Relative) end() int { return r.First + r.Parts }

// appendHead appends the canonical form of r but for the code.
func (r Relative) appendHead(b []byte) []byte {
	b = append(append(b, relativeVersion), r.Base[:]...)
	for _, v := range []int{r.BaseParts, r.First, r.Parts} {
		b = binary.AppendUvarint(b, uint64(v))
	}
	return append(b, r.Next[:]...)
}

// ParseRelative returns the relative run whose canonical form is b; its code is a slice of b. It returns ErrVersion,
// ErrMalformed or ErrLimit if there is none. It does not verify: [Prefix.ExtendRelative] does. O(1).
func ParseRelative(b []byte) (r Relative, err error) {
	if len(b) > 0 && b[0] != relativeVersion {
		return Relative{}, fmt.Errorf("summary: relative run: version %d, not %d: %w", b[0], relativeVersion, ErrVersion)
	}
	if len(b) < 1+len(r.Base) {
		return Relative{}, fmt.Errorf("summary: relative run of %d bytes: %w", len(b), ErrMalformed)
	}
	rest := b[1+copy(r.Base[:], b[1:]):]
	for _, v := range []*int{&r.BaseParts, &r.First, &r.Parts} {
		if *v, rest, err = decodeSize(rest, maxParts); err != nil {
			return Relative{}, fmt.Errorf("summary: relative run: parts: %w", err)
		}
	}
	if r.BaseParts == 0 || r.Parts == 0 || r.end() > maxParts || len(rest) < len(r.Next) {
		return Relative{}, fmt.Errorf("summary: relative run: %d parts given %d, %d bytes: %w", r.Parts, r.BaseParts, len(rest), ErrMalformed)
	}
	r.Code, r.Bytes = rest[copy(r.Next[:], rest):], b
	return r, nil
}

// RunRelative returns parts from to to-1 of p, coded given the first baseParts parts of base. ErrSeed if p and base are
// of different seeds. ErrLimit if either does not hold the parts, or there are none. It takes time O(n) for the level at
// which the base is taken and for each level below, and for a time some forty bytes of memory a key.
func (p *Prefix) RunRelative(from, to int, base *Prefix, baseParts int) (Relative, error) {
	if from < 0 || from >= to || to > p.Parts() || baseParts < 1 || baseParts > base.Parts() {
		return Relative{}, fmt.Errorf("summary: parts %d to %d of %d, given %d of %d: %w", from, to-1, p.held, baseParts, base.held, ErrLimit)
	}
	if err := oneSeed(p, base); err != nil {
		return Relative{}, err
	}
	next, err := p.link(to)
	if err != nil {
		return Relative{}, err
	}
	c := newRelativeCoder(p.plan, from, to, base, baseParts)
	r := Relative{Base: base.Header().group(), BaseParts: baseParts, First: from, Parts: to - from, Next: next}
	head := r.appendHead(c.run[:0])
	c.run = c.append(head, p.tries)
	r.Bytes = slices.Clone(c.run)
	r.Code = r.Bytes[len(head):]
	workspaces.Put(c.workspace)
	return r, nil
}

// oneSeed returns ErrSeed if the fingerprints of two prefixes are made with different seeds.
func oneSeed(p, base *Prefix) error {
	if a, b := p.Header().Seed, base.Header().Seed; a != b {
		return fmt.Errorf("summary: parts under %v and parts under %v: %w", a, b, ErrSeed)
	}
	return nil
}

// link returns h_k for k up to the number of parts held.
func (p *Prefix) link(k int) (digest, error) {
	if p.compact() && k == p.Parts() {
		return p.last(), nil
	}
	q, err := p.whole()
	if err != nil {
		return digest{}, err
	}
	return q.chain[k], nil
}

// ExtendRelative decodes a relative run given its base, encodes the parts in plain form, verifies them against the
// chain and returns the longer prefix, as [Prefix.Extend] does. It changes neither prefix. It takes time O(n) for each
// level; memory is within a fixed factor of the base and of the code. ErrLimit: the run is coded given another summary
// or more parts of it, has parts that the plan does not have, or leaves a gap. ErrSeed: base of another seed.
// ErrMalformed or ErrChain: not the code that RunRelative writes for the origin's parts.
func (p *Prefix) ExtendRelative(base *Prefix, r Relative) (*Prefix, error) {
	if of := base.Header().group(); of != r.Base || r.BaseParts > base.Parts() {
		return nil, fmt.Errorf("summary: relative run is coded given %d parts of %x, %d of %x held: %w", r.BaseParts, r.Base, base.Parts(), of, ErrLimit)
	}
	if err := oneSeed(p, base); err != nil {
		return nil, err
	}
	if r.First < 0 || r.First > p.Parts() || r.Parts < 1 || r.end() > p.plan.parts {
		return nil, fmt.Errorf("summary: parts %d to %d, %d of %d held: %w", r.First, r.end()-1, p.held, p.plan.parts, ErrLimit)
	}
	if r.end() == p.plan.parts && r.Next != (digest{}) {
		return nil, fmt.Errorf("summary: more follows the last part: %w", ErrChain)
	}
	if r.end() <= p.Parts() {
		return p, nil
	}
	p, err := p.Truncate(r.First).whole()
	if err != nil {
		return nil, err
	}
	c := newRelativeCoder(p.plan, r.First, r.end(), base, r.BaseParts)
	tries, err := c.decode(r.Code, p.tries)
	if err != nil {
		return nil, fmt.Errorf("%w (relative run)", err)
	}
	parts, err := encodeParts(p.plan, tries, r.First, r.end())
	if err != nil {
		return nil, fmt.Errorf("summary: relative run: %w", err)
	}
	chain, err := verify(Run{First: r.First, Parts: parts, Next: r.Next}, p.chain[r.First])
	if err != nil {
		return nil, err
	}
	return newPrefix(p.header, p.plan, slices.Concat(p.parts, parts), slices.Concat(p.chain[:r.First], chain), tries), nil
}
