package admission

import (
	"slices"
	"sync"
)

// Slots are places that principals hold, such as open streams: bounded in number, and shared as work is. Safe for
// concurrent use.
type Slots struct {
	most int

	mu      sync.Mutex
	held    []*Slot  // in the order in which they were taken
	waiting []*Slot  // for a place, in the order in which they came
	tell    []func() // calls to make when mu is free
}

// Slot is a place that a principal holds, or waits for.
type Slot struct {
	in    *Slots
	who   Principal
	evict func()
	got   func()
}

// NewSlots returns places for most holders at once, above 0.
func NewSlots(most int) *Slots { return &Slots{most: most} }

// Held returns the number of places taken.
func (s *Slots) Held() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.held)
}

// Take takes a place for a principal, or returns nil if none is left and no holder gives way. The group with the most
// places gives one up if it has at least two more than the asker's: of its peers the one with the most places, and of
// these the oldest. Within the asker's own group, peers give way by the same rule. A later Take or Wait calls evict
// when the place is given up. O(places).
func (s *Slots) Take(who Principal, evict func()) *Slot {
	slot := &Slot{s, who, evict, func() {}}
	s.mu.Lock()
	had := s.place(slot)
	s.unlock()
	if !had {
		return nil
	}
	return slot
}

// Wait is Take, but waits for a place after those who already wait. It calls got once, when the place is had: before it
// returns, or at a later change. Release ends the wait. O(places) for each waiting slot.
func (s *Slots) Wait(who Principal, evict, got func()) *Slot {
	slot := &Slot{s, who, evict, got}
	s.mu.Lock()
	s.waiting = append(s.waiting, slot)
	s.unlock()
	return slot
}

// Release gives a place back, if it was not given up, or ends a wait.
func (s *Slot) Release() {
	is := func(other *Slot) bool { return other == s }
	s.in.mu.Lock()
	s.in.held, s.in.waiting = slices.DeleteFunc(s.in.held, is), slices.DeleteFunc(s.in.waiting, is)
	s.in.unlock()
}

// place gives a slot a place, if there is one or a holder gives way.
func (s *Slots) place(slot *Slot) bool {
	if len(s.held) >= s.most {
		at := s.yields(slot.who)
		if at < 0 {
			return false
		}
		s.tell = append(s.tell, s.held[at].evict)
		s.held = slices.Delete(s.held, at, at+1)
	}
	s.held, s.tell = append(s.held, slot), append(s.tell, slot.got)
	return true
}

// unlock gives free places to waiting slots, unlocks, and makes the calls that are due.
func (s *Slots) unlock() {
	s.waiting = slices.DeleteFunc(s.waiting, s.place)
	tell := s.tell
	s.tell = nil
	s.mu.Unlock()
	for _, f := range tell {
		f()
	}
}

// yields returns the holder that has to give way to a principal; -1: none.
func (s *Slots) yields(who Principal) int {
	from, crowded := Crowded(s.counts(func(h *Slot) (string, bool) { return h.who.group(), true }), who.group())
	if !crowded {
		from = who.group()
	}
	peers := s.counts(func(h *Slot) (string, bool) { return h.who.Peer, h.who.group() == from })
	peer, crowded := Crowded(peers, who.Peer)
	if from == who.group() && !crowded {
		return -1
	}
	return slices.IndexFunc(s.held, func(h *Slot) bool { return h.who.Peer == peer && h.who.group() == from })
}

// counts returns the number of holders of each name.
func (s *Slots) counts(name func(*Slot) (string, bool)) map[string]int {
	n := map[string]int{}
	for _, h := range s.held {
		if k, ok := name(h); ok {
			n[k]++
		}
	}
	return n
}

// Crowded returns the group with the most places, the first of equals by name, and whether it has at least two more
// than another: then it gives one up to that one. It is "" if there are no places. O(groups).
func Crowded(places map[string]int, than string) (group string, ok bool) {
	most := 0
	for k, v := range places {
		if v > most || v == most && k < group {
			group, most = k, v
		}
	}
	return group, most >= places[than]+2
}
