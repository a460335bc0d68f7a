package admission

import "slices"

// Slots are places that principals hold, such as open streams: bounded in number, and shared as work is. It is not safe
// for concurrent use.
type Slots struct {
	most int
	held []*Slot // in the order in which they were taken
}

// Slot is a place that a principal holds.
type Slot struct {
	who   Principal
	evict func()
}

// NewSlots returns places for most holders at once, above 0.
func NewSlots(most int) *Slots { return &Slots{most: most} }

// Held returns how many places are taken.
func (s *Slots) Held() int { return len(s.held) }

// Take takes a place for a principal, or returns nil if none is left and no holder gives way. The group with the most
// places gives one up, if it has at least two more than the asker's: of its peers the one with the most places, and of
// these the oldest. Within the asker's own group, peers give way by the same rule. A later Take calls evict when the
// place is given up. O(places).
func (s *Slots) Take(who Principal, evict func()) *Slot {
	if len(s.held) >= s.most && !s.makeRoom(who) {
		return nil
	}
	slot := &Slot{who, evict}
	s.held = append(s.held, slot)
	return slot
}

// Release gives a place back.
func (s *Slots) Release(slot *Slot) {
	if at := slices.Index(s.held, slot); at >= 0 {
		s.held = slices.Delete(s.held, at, at+1)
	}
}

// makeRoom evicts a holder, if one has to give way to a principal.
func (s *Slots) makeRoom(who Principal) bool {
	groups := s.counts(func(h *Slot) (string, bool) { return h.who.group(), true })
	from, most := largest(groups)
	if most < groups[who.group()]+2 {
		from = who.group()
	}
	peers := s.counts(func(h *Slot) (string, bool) { return h.who.Peer, h.who.group() == from })
	peer, most := largest(peers)
	if most == 0 || from == who.group() && most < peers[who.Peer]+2 {
		return false
	}
	at := slices.IndexFunc(s.held, func(h *Slot) bool { return h.who.Peer == peer && h.who.group() == from })
	out := s.held[at]
	s.held = slices.Delete(s.held, at, at+1)
	out.evict()
	return true
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
