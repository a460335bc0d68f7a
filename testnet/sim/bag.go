package sim

// bag holds events in the order in which they came, in pages. It takes at most a page more than its events need,
// however many it once held. The zero value is empty.
type bag struct{ first, last *page }

// page is a piece of a bag. It has a kilobyte.
type page struct {
	events [pageEvents]event
	filled int
	next   *page
}

const pageEvents = 15

// held returns a page's events.
func (p *page) held() []event { return p.events[:p.filled] }

// add puts in a copy of an event.
func (b *bag) add(e *event, from *pages) {
	if b.last == nil || b.last.filled == pageEvents {
		p := from.get()
		if b.last == nil {
			b.first = p
		} else {
			b.last.next = p
		}
		b.last = p
	}
	b.last.events[b.last.filled] = *e
	b.last.filled++
}

// empty gives a bag's pages back.
func (b *bag) empty(to *pages) {
	for p := b.first; p != nil; {
		next := p.next
		to.put(p)
		p = next
	}
	*b = bag{}
}

// pages provides the pages of a shard's bags, and keeps emptied ones for use again. It drops a page that comes back
// while as many wait as the bags hold: a busy instant's memory is not kept for good.
type pages struct {
	free    *page
	waiting int // that are free
	used    int // in bags
}

// fewPages may wait, however few are in bags.
const fewPages = 16

func (p *pages) get() *page {
	p.used++
	got := p.free
	if got == nil {
		return new(page)
	}
	p.free, got.next = got.next, nil
	p.waiting--
	return got
}

func (p *pages) put(old *page) {
	p.used--
	if p.waiting >= p.used+fewPages {
		return
	}
	clear(old.held())
	old.filled, old.next = 0, p.free
	p.free = old
	p.waiting++
}
