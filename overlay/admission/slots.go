package admission

import (
	"slices"
	"sync"
)

// Slots are places that principals hold, such as open streams. They are bounded in number, and shared fairly over
// groups and peers. Safe for concurrent use.
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
	who   Principal
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

// Take takes a place for a principal. It returns nil if no place is free and no holder gives way. The group with the
// most places gives one up if it has at least two more than the asker's group. In that group the peer with the most
// places gives up its oldest. Within the asker's own group, peers give way by the same rule. If the place is given up
// later, evict is called. O(places).
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

// Wait does what Take does, but waits for a place, after those who already wait. It calls got once, when the slot has
// a place: before Wait returns, or later. Release ends the wait. O(places) for each waiting slot.
func (s *Slots) Wait(who Principal, evict, got func()) *Slot {
	slot := &Slot{s, who, evict, got}
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

// yields returns the index in held of the slot that must give way to a principal; -1 if there is none.
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

// counts returns the number of held slots for each name. It leaves out slots for which name returns false.
func (s *Slots) counts(name func(*Slot) (string, bool)) map[string]int {
	n := map[string]int{}
	for _, h := range s.held {
		if k, ok := name(h); ok {
			n[k]++
		}
	}
	return n
}

// Crowded returns the group with the most places, among equals the first by name; "" if there are no places. ok reports
// whether it must give up a place to the group named than: it has at least two more places. O(groups).
func Crowded(places map[string]int, than string) (group string, ok bool) {
	most := 0
	for k, v := range places {
		if v > most || v == most && k < group {
			group, most = k, v
		}
	}
	return group, most >= places[than]+2
}
