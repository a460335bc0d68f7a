package admission

import (
	"slices"
	"sync"
)

// Slots are places that principals hold, such as open streams: bounded in number, and shared as work is. It is safe for
// concurrent use.
type Slots struct {
	most int

	mu   sync.Mutex
	held []*Slot // in the order in which they were taken
}

// Slot is a place that a principal holds.
type Slot struct {
	in    *Slots
	who   Principal
	evict func()
}

// NewSlots returns places for most holders at once, above 0.
func NewSlots(most int) *Slots { return &Slots{most: most} }

// Held returns how many places are taken.
func (s *Slots) Held() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.held)
}

// Take takes a place for a principal, or returns nil if none is left and no holder gives way. The group with the most
// places gives one up, if it has at least two more than the asker's: of its peers the one with the most places, and of
// these the oldest. Within the asker's own group, peers give way by the same rule. A later Take calls evict when the
// place is given up. O(places).
func (s *Slots) Take(who Principal, evict func()) *Slot {
	slot, out := s.take(who, evict)
	if out != nil {
		out.evict()
	}
	return slot
}

// take is Take, and returns the holder that gives way.
func (s *Slots) take(who Principal, evict func()) (slot, out *Slot) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.held) >= s.most {
		at := s.yields(who)
		if at < 0 {
			return nil, nil
		}
		out = s.held[at]
		s.held = slices.Delete(s.held, at, at+1)
	}
	slot = &Slot{s, who, evict}
	s.held = append(s.held, slot)
	return slot, out
}

// Release gives a place back, if it was not given up.
func (s *Slot) Release() {
	s.in.mu.Lock()
	defer s.in.mu.Unlock()
	if at := slices.Index(s.in.held, s); at >= 0 {
		s.in.held = slices.Delete(s.in.held, at, at+1)
	}
}

// yields returns the holder that has to give way to a principal; -1: none.
func (s *Slots) yields(who Principal) int {
	groups := s.counts(func(h *Slot) (string, bool) { return h.who.group(), true })
	from, most := largest(groups)
	if most < groups[who.group()]+2 {
		from = who.group()
	}
	peers := s.counts(func(h *Slot) (string, bool) { return h.who.Peer, h.who.group() == from })
	peer, most := largest(peers)
	if most == 0 || from == who.group() && most < peers[who.Peer]+2 {
		return -1
	}
	return slices.IndexFunc(s.held, func(h *Slot) bool { return h.who.Peer == peer && h.who.group() == from })
}

// counts returns how many holders have each name.
func (s *Slots) counts(name func(*Slot) (string, bool)) map[string]int {
	n := map[string]int{}
	for _, h := range s.held {
		if k, ok := name(h); ok {
			n[k]++
		}
	}
	return n
}

// largest returns the name with the most holders, the first of equals.
func largest(n map[string]int) (name string, most int) {
	for k, v := range n {
		if v > most || v == most && k < name {
			name, most = k, v
		}
	}
	return name, most
}
