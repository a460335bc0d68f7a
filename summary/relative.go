package summary

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
)

// Relative is a run in another form: what it says is coded given what the first parts of another summary say, the
// base. The base may be of any origin and shape; the more alike the collections, the shorter the code. The chain binds
// what the run says and not its form. So a relative run proves what the run in plain form does, and needs no trust.
type Relative struct {
	Base      [16]byte // the group of the base: the name of the origin and epoch, as FORMAT.md has it
	BaseParts int      // parts of the base that are needed
	First     int      // number of the first part
	Parts     int      // number of parts
	// Next is the hash that binds the parts after these; zero after the last part of the stream.
	Next [sha256.Size]byte
	Code []byte
	// Bytes is the canonical form of all this.
	Bytes []byte
}

// relativeVersion is the version of the form, its first byte.
const relativeVersion = 3

// group returns the 16 bytes that name the summary: the origin under the number of the seed, and the epoch.
func (h Header) group() (g [16]byte) {
	sum := sha256.Sum256(append(append(make([]byte, 0, 128), "venn/origin/1\x00"...), h.Origin...))
	tag := binary.BigEndian.Uint64(sum[:]) ^ uint64(h.Seed.Number)*0x9E3779B97F4A7C15
	binary.BigEndian.PutUint64(g[:], tag)
	binary.BigEndian.PutUint32(g[8:], h.Epoch.Generation)
	binary.BigEndian.PutUint32(g[12:], h.Epoch.Sequence)
	return g
}

// end is the number of the first part after r.
func (r Relative) end() int { return r.First + r.Parts }

// binary returns the canonical form of r.
func (r Relative) binary() []byte {
	b := append([]byte{relativeVersion}, r.Base[:]...)
	for _, v := range []int{r.BaseParts, r.First, r.Parts} {
		b = binary.AppendUvarint(b, uint64(v))
	}
	return append(append(b, r.Next[:]...), r.Code...)
}

// ParseRelative returns the relative run with the given bytes; its code is a slice of them. ErrVersion, ErrMalformed or
// ErrLimit if they are the canonical form of none. It does not verify: [Prefix.ExtendRelative] does. O(1).
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

// RunRelative returns parts from to to-1 of p, coded given the first parts of base, of which baseParts are taken. Both
// are of one seed: ErrSeed otherwise. ErrLimit if either does not hold the parts, or there are none. Takes time O(n) for
// each level, and about four bytes of memory for each key and level.
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
	r := Relative{
		Base: base.Header().group(), BaseParts: baseParts, First: from, Parts: to - from, Next: next,
		Code: c.append(nil, p.blocks()),
	}
	r.Bytes = r.binary()
	return r, nil
}

// oneSeed returns ErrSeed if the fingerprints of two prefixes are not made with one seed.
func oneSeed(p, base *Prefix) error {
	if a, b := p.Header().Seed, base.Header().Seed; a != b {
		return fmt.Errorf("summary: parts under %v given those under %v: %w", a, b, ErrSeed)
	}
	return nil
}

// link returns h_k for k up to the parts held.
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
// chain and returns the longer prefix, as [Prefix.Extend] does. It leaves both prefixes as they are. It takes time O(n)
// for each level; memory is within a fixed factor of the base and of the code. ErrLimit: the run is coded
// given another summary or more of it, has parts that the plan has not, or leaves a gap. ErrSeed: base of another seed.
// ErrMalformed or ErrChain: not what RunRelative writes for the origin's parts.
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
	tries, err := c.decode(r.Code, p.blocks())
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
