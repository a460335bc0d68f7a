package sim

// bag holds events in the order in which they came.
type bag []event

func (b *bag) add(e *event) { *b = append(*b, *e) }

// empty drops the events, and the memory too where they took little of it: a busy instant's is not kept for good.
func (b *bag) empty() {
	const few, share = 16, 4
	if cap(*b) > few+share*len(*b) {
		*b = nil
		return
	}
	clear(*b)
	*b = (*b)[:0]
}
