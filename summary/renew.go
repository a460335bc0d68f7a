package summary

import "fmt"

// Under returns p with the header of another epoch that has the same parts, which both prefixes share. The error is
// ErrChain if h differs in more than Epoch and Lifetime, and ErrLimit if no header can have its lifetime. O(1).
func (p *Prefix) Under(h Header) (*Prefix, error) {
	old := p.header
	if h.Chain != old.Chain || h.N != old.N || h.Origin != old.Origin || h.Seed != old.Seed || !h.Shape.equal(old.Shape) {
		return nil, fmt.Errorf("summary: %v under the header of another collection: %w", old.Epoch, ErrChain)
	}
	if err := h.check(); err != nil {
		return nil, err
	}
	q := *p
	h.Shape = p.plan.shape
	q.header = h
	return &q, nil
}
