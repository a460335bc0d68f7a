package admission

import (
	"slices"
	"sync"
)

// Slots are places that principals hold, such as open streams. They are bounded in number, and shared fairly over
// networks and peers. Safe for concurrent use.
type Slots struct {
	most int

	mu      sync.Mutex
	held    []*Slot  // slots with a place, in the order in which they took it
	waiting []*Slot  // slots that wait for a place, in the order of their calls of Wait
	tell    []func() // calls to make once mu is unlocked
}

// Slot is a place that a principal holds, or waits for.
type Slot struct {
	in    *Slots
	who   []string // path of the principal
	evict func()
	got   func()
}

// NewSlots returns the given number of free places. It must be above 0.
func NewSlots(most int) *Slots { return &Slots{most: most} }

// Held returns the number of places taken.
func (s *Slots) Held() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.held)
}

// Take takes a place for a principal. It returns nil if no place is free and no holder gives way. The network with the
// most places gives one up if it has at least two more than the asker's network: see [Crowd]. The oldest of the crowd
// goes. Within the asker's own network, parts and peers give way by the same rule. If the place is given up later,
// evict is called. O(places).
func (s *Slots) Take(who Principal, evict func()) *Slot { return s.take(who.Path(), evict) }

func (s *Slots) take(who []string, evict func()) *Slot {
	slot := &Slot{s, who, evict, func() {}}
	s.mu.Lock()
	had := s.place(slot)
	s.unlock()
	if !had {
		return nil
	}
	return slot
}

// Wait does what Take does, but waits for a place, after those who already wait. It calls got once, when the slot has
// a place: before Wait returns, or later. Release ends the wait. O(places) for each waiting slot.
func (s *Slots) Wait(who Principal, evict, got func()) *Slot {
	slot := &Slot{s, who.Path(), evict, got}
	s.mu.Lock()
	s.waiting = append(s.waiting, slot)
	s.unlock()
	return slot
}

// Release gives a place back unless it was given up already, or ends a wait.
func (s *Slot) Release() {
	is := func(other *Slot) bool { return other == s }
	s.in.mu.Lock()
	s.in.held, s.in.waiting = slices.DeleteFunc(s.in.held, is), slices.DeleteFunc(s.in.waiting, is)
	s.in.unlock()
}

// place gives slot a place, if one is free or a holder gives way.
func (s *Slots) place(slot *Slot) bool {
	if len(s.held) >= s.most {
		crowd := Crowd(s.held, func(h *Slot) []string { return h.who }, slot.who)
		if len(crowd) == 0 {
			return false
		}
		s.tell = append(s.tell, crowd[0].evict)
		s.held = slices.DeleteFunc(s.held, func(h *Slot) bool { return h == crowd[0] })
	}
	s.held, s.tell = append(s.held, slot), append(s.tell, slot.got)
	return true
}

// unlock gives free places to waiting slots, unlocks mu, and then makes the calls that are due.
func (s *Slots) unlock() {
	s.waiting = slices.DeleteFunc(s.waiting, s.place)
	tell := s.tell
	s.tell = nil
	s.mu.Unlock()
	for _, f := range tell {
		f()
	}
}
