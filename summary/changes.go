package summary

import (
	"fmt"
	"iter"
	"slices"
)

// Limits of what the tails of an epoch say together.
const (
	MaxTails   = 256     // tails, each continuing the one before
	MaxChanges = 1 << 12 // fingerprints added and removed
)

// Changes is what the tails of one epoch say together: how the collection differs from the epoch's summary. The nil
// pointer is no change. Immutable; Apply returns another.
type Changes struct {
	tails          []*Tail // each continues the one before; the first continues state 0
	added, removed []Fingerprint
}

// Apply returns the changes after t. The caller has verified t against the header of the same epoch. An old tail
// changes nothing and returns c. A tail that starts from a state within c replaces all tails after that state. ErrBase
// if c has not been in the state that t starts from: the tails between are missing. ErrLimit beyond MaxTails or
// MaxChanges. Takes O(Len) time.
func (c *Changes) Apply(t *Tail) (*Changes, error) {
	if t.number <= c.Number() {
		return c, nil
	}
	keep, base := 0, c
	switch {
	case t.from == c.Number():
		keep = c.tailCount()
	case t.from == 0:
		base = nil
	default:
		i := slices.IndexFunc(c.held(), func(h *Tail) bool { return h.number == t.from })
		if i < 0 {
			return nil, fmt.Errorf("summary: tail from %d, changes at %d: %w", t.from, c.Number(), ErrBase)
		}
		keep, base = i+1, nil
		for _, h := range c.tails[:keep] {
			base = base.after(h)
		}
	}
	if keep >= MaxTails {
		return nil, fmt.Errorf("summary: %d tails, at most %d: %w", keep+1, MaxTails, ErrLimit)
	}
	next := base.after(t)
	if n := next.Len(); n > MaxChanges {
		return nil, fmt.Errorf("summary: %d changes, at most %d: %w", n, MaxChanges, ErrLimit)
	}
	next.tails = append(slices.Clone(c.held()[:keep]), t)
	return next, nil
}

// after returns what c and t say together, without tails. A key that came and went since the epoch is no change.
func (c *Changes) after(t *Tail) *Changes {
	var added, removed []Fingerprint
	if c != nil {
		added, removed = c.added, c.removed
	}
	back := func(f Fingerprint) bool { return has(removed, f) }
	again := func(f Fingerprint) bool { return has(added, f) }
	return &Changes{
		added:   merge(without(added, t.removed), slices.DeleteFunc(slices.Clone(t.added), back)),
		removed: merge(without(removed, t.added), slices.DeleteFunc(slices.Clone(t.removed), again)),
	}
}

// without returns what of a sorted list is not in another.
func without(list, other []Fingerprint) []Fingerprint {
	return slices.DeleteFunc(slices.Clone(list), func(f Fingerprint) bool { return has(other, f) })
}

// held is the tails of c.
func (c *Changes) held() []*Tail {
	if c == nil {
		return nil
	}
	return c.tails
}

func (c *Changes) tailCount() int { return len(c.held()) }

// Number is the state that the changes lead to: the number of the last tail, 0 without any.
func (c *Changes) Number() uint32 {
	if n := c.tailCount(); n > 0 {
		return c.tails[n-1].number
	}
	return 0
}

// Tails yields the tails that led here, in order: whoever lacks some needs those from its own state on.
func (c *Changes) Tails() iter.Seq[*Tail] { return slices.Values(c.held()) }

// Len is the number of fingerprints that differ from the epoch's.
func (c *Changes) Len() int {
	if c == nil {
		return 0
	}
	return len(c.added) + len(c.removed)
}

// Growth is the number of keys now less those of the epoch.
func (c *Changes) Growth() int {
	if c == nil {
		return 0
	}
	return len(c.added) - len(c.removed)
}

// Added yields the fingerprints that the collection has and the epoch had not, in ascending order.
func (c *Changes) Added() iter.Seq[Fingerprint] {
	if c == nil {
		return slices.Values[[]Fingerprint](nil)
	}
	return slices.Values(c.added)
}

// Removed yields the fingerprints that the epoch had and the collection has no more, in ascending order.
func (c *Changes) Removed() iter.Seq[Fingerprint] {
	if c == nil {
		return slices.Values[[]Fingerprint](nil)
	}
	return slices.Values(c.removed)
}

// Match reports whether the collection may hold a key of fingerprint f, where known tells whether the epoch may hold
// it, as [Prefix.Contains] does: (known or added) and not removed. O(log Len), no allocation.
func (c *Changes) Match(known bool, f Fingerprint) bool {
	if c == nil {
		return known
	}
	if known {
		return !has(c.removed, f)
	}
	return has(c.added, f)
}

// SizeBytes is about the bytes that c takes.
func (c *Changes) SizeBytes() int {
	size := 8 * c.Len()
	for _, t := range c.held() {
		size += 8*t.Len() + len(t.signed) + 96
	}
	return size
}

// holds estimates whether the collection held f before the changes and holds it after them: 0 or 1 where the changes
// say it. Elsewhere it is an unbiased estimate from the prefix: a match of rate r counts 1, a miss -r/(1-r).
func (c *Changes) holds(p *Prefix, f Fingerprint) (before, after float64) {
	switch {
	case c != nil && has(c.added, f):
		return 0, 1
	case c != nil && has(c.removed, f):
		return 1, 0
	}
	rate := p.FalsePositiveRate()
	switch {
	case rate >= 1: // nothing is known
		return 0, 0
	case p.Contains(f):
		return 1, 1
	}
	miss := -rate / (1 - rate)
	return miss, miss
}

// WithChanges returns o, an overlap of the epochs of a and b, for what the collections are after the changes of each:
// every fingerprint changed is looked up on the other side. O((changes of both) log). Where a prefix knows nothing, its
// share in what the other's changes add is not counted.
func (o Overlap) WithChanges(a *Prefix, ca *Changes, b *Prefix, cb *Changes) Overlap {
	if ca.Len()+cb.Len() == 0 {
		return o
	}
	var fps []Fingerprint
	for _, c := range []*Changes{ca, cb} {
		fps = slices.AppendSeq(slices.AppendSeq(fps, c.Added()), c.Removed())
	}
	shift := 0.0
	for _, f := range sorted(fps) {
		a0, a1 := ca.holds(a, f)
		b0, b1 := cb.holds(b, f)
		shift += float64(a1*b1) - float64(a0*b0)
	}
	n1, n2 := o.N1+float64(ca.Growth()), o.N2+float64(cb.Growth())
	i, most := o.Intersection, min(n1, n2)
	if i.Saturated {
		return newOverlap(n1, n2, unknownInterval(n1, n2, i.Confidence), o.Method)
	}
	for _, v := range []*float64{&i.Value, &i.Low, &i.High} {
		*v = min(max(0, *v+shift), most)
	}
	return newOverlap(n1, n2, i, o.Method+", with tails")
}
