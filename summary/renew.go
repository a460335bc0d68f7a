package summary

import "fmt"

// Renew returns the stream of the same collection under another epoch. It shares all parts with s. Takes time O(1).
func (s *Stream) Renew(e Epoch) (*Stream, error) {
	h := *s.prefix.header
	h.Epoch = e
	if err := h.check(); err != nil {
		return nil, err
	}
	p, err := s.prefix.Under(&h)
	return &Stream{p}, err
}

// Under returns p under the header of another epoch of the same collection, that is, of the same parts; both share
// them. The error is ErrChain if h differs in more than Epoch and Lifetime. Takes time O(1).
func (p *Prefix) Under(h *Header) (*Prefix, error) {
	old := p.header
	if h.Chain != old.Chain || h.N != old.N || sameSeries(old, h) != nil {
		return nil, fmt.Errorf("summary: %v under the header of another collection: %w", old.Epoch, ErrChain)
	}
	q := *p
	q.header = h
	return &q, nil
}
