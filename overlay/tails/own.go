package tails

import (
	"github.com/venn-p2p/venn/summary"
)

// MaxStep is the most changes that one [Changed] may bring: they fit into a tail.
const MaxStep = 160

// published begins our new epoch at state 0, and queues the announcement of that state for all links.
func (m *Machine) published(h summary.Header) {
	if h.Seed != m.cfg.Seed {
		return
	}
	m.header, m.own = &h, origin{peer: m.cfg.Self, tag: m.self, epoch: h.Epoch}
	m.recent, m.spent = nil, false
	for _, l := range m.links {
		l.enqueue(m.ownTag(), tell, 0)
	}
}

// Bears reports whether tails of the present epoch can carry the given number of further changes. If not, it is time
// for a new epoch.
func (m *Machine) Bears(changes int) bool {
	return m.cfg.Sign != nil && !m.spent && m.header != nil && changes <= MaxStep && m.own.held+changes <= maxChain &&
		len(m.own.chain) < maxSegments-1
}

// changed makes the tail to our next state. The tail covers the states that covers asks for, or fewer if they do not
// fit. If it cannot be made, tails of this epoch carry no more changes.
func (m *Machine) changed(in Changed) {
	if !m.Bears(len(in.Added)+len(in.Removed)) || len(in.Added)+len(in.Removed) == 0 {
		return
	}
	m.recent = append(m.recent, step{in.Added, in.Removed})
	number := m.own.number() + 1
	for n := covers(number); n > 0; n /= base {
		if t, ok := m.tail(number, n); ok && m.own.extend(t) {
			m.own.state = fold(m.own.chain)
			m.advanced(&m.own, m.cfg.Self)
			m.due.By(dueTick, m.now) // news of our own go at once
			return
		}
	}
	m.spent = true
}

// tail makes the signed tail to a state from n states before; ok is false if it would be too long.
func (m *Machine) tail(number, n uint32) (t *Tail, ok bool) {
	state := map[summary.Fingerprint]bool{}
	for _, s := range m.recent[number-n:] {
		for _, f := range s.added {
			state[f] = true
		}
		for _, f := range s.removed {
			state[f] = false
		}
	}
	if len(state) > MaxTailChange {
		return nil, false
	}
	var added, removed []summary.Fingerprint
	for f, a := range state {
		if a {
			added = append(added, f)
		} else {
			removed = append(removed, f)
		}
	}
	t, err := NewTail(number, number-n, added, removed).Sign(*m.header, m.cfg.Sign)
	return t, err == nil
}
