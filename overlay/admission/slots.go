package admission

import (
	"cmp"
	"slices"
	"sync"
)

// Slots are places that principals hold, such as connections, open streams, or requests. They are bounded in number, and
// shared fairly: half of them over networks, their parts and peers, the other half over addresses alone, and then peers.
// When all are taken, a holder of a half gives way to a newcomer whose share of that half is smaller by two places or
// more. Of these holders, it is of the widest network with the most places: see [Crowd]. So a newcomer's network of any
// size gets a place as long as it has less than its share. Fewer than four places have no second half. Safe for
// concurrent use.
type Slots struct {
	most int

	mu      sync.Mutex
	held    []*Slot      // slots with a place, the longest unused first
	in      [ways]int    // number of these in each half
	of      [ways]Census // number of these of each network
	waiting []*Slot      // slots that wait for a place, in the order of their calls of Wait
	tell    []func()     // calls to make once mu is unlocked
}

// Slot is a place that a principal holds, or waits for.
type Slot struct {
	in    *Slots
	who   []string    // path of the principal
	way   int         // half in which it holds the place
	lead  int         // it gives way to a newcomer that has so many places less
	stays func() bool // while it returns true, the place gives way to nobody; nil: false
	evict func()
	got   func()
}

// NewSlots returns the given number of free places. It must be above 0.
func NewSlots(most int) *Slots { return &Slots{most: most, of: [ways]Census{{}, {}}} }

// Held returns the number of places taken.
func (s *Slots) Held() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.held)
}

// Of returns the number of places that a network or a principal holds, by its name in [Principal.Path].
func (s *Slots) Of(name string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.has(name)
}

// Take takes a place for a principal. It returns nil if no place is free and no holder gives way. Of several that may,
// the longest unused does. If the place is given up later, evict is called. O(places).
func (s *Slots) Take(who Principal, evict func()) *Slot {
	return s.take(&Slot{in: s, who: who.Path(), lead: 2, evict: evict, got: func() {}})
}

// Lend does what Take does for a principal that uses its place now and then, such as a connection. A lent place gives
// way already to a newcomer whose share is smaller by one. So whoever has none gets one, however many hold one each.
// While stays returns true, the place gives way to nobody; stays must not block.
func (s *Slots) Lend(who Principal, stays func() bool, evict func()) *Slot {
	return s.take(&Slot{in: s, who: who.Path(), lead: 1, stays: stays, evict: evict, got: func() {}})
}

// take returns the slot if there is a place for it, else nil.
func (s *Slots) take(slot *Slot) *Slot {
	s.mu.Lock()
	had := s.place(slot)
	s.unlock()
	if !had {
		return nil
	}
	return slot
}

// Wait does what Take does, but waits for a place. Of those who wait, it is first the turn of who has the fewest places,
// then of who has waited for longest. It calls got once, when the slot has a place: before Wait returns, or later.
// Release ends the wait. O(places) for each waiting slot.
func (s *Slots) Wait(who Principal, evict, got func()) *Slot {
	slot := &Slot{in: s, who: who.Path(), lead: 2, evict: evict, got: got}
	s.mu.Lock()
	s.waiting = append(s.waiting, slot)
	s.unlock()
	return slot
}

// Use notes that the holder of a place uses it.
func (s *Slot) Use() {
	s.in.mu.Lock()
	defer s.in.mu.Unlock()
	if s.in.remove(s) {
		s.in.add(s)
	}
}

// Yield makes a place one that is lent: it gives way to a newcomer whose share is smaller by one.
func (s *Slot) Yield() {
	s.in.mu.Lock()
	s.lead = 1
	s.in.unlock()
}

// Release gives a place back unless it was given up already, or ends a wait.
func (s *Slot) Release() {
	s.in.mu.Lock()
	s.in.remove(s)
	s.in.waiting = slices.DeleteFunc(s.in.waiting, func(other *Slot) bool { return other == s })
	s.in.unlock()
}

// place gives slot a place, if one is free or a holder gives way.
func (s *Slots) place(slot *Slot) bool {
	if len(s.held) < s.most {
		if s.most >= 2*ways && s.in[byAddress] < s.in[byNetworks] {
			slot.way = byAddress
		}
	} else {
		out := s.yields(slot)
		if out == nil {
			return false
		}
		s.remove(out)
		s.tell, slot.way = append(s.tell, out.evict), out.way
	}
	s.add(slot)
	s.tell = append(s.tell, slot.got)
	return true
}

// yields returns the holder that gives its place to a newcomer; nil: none does.
func (s *Slots) yields(newcomer *Slot) *Slot {
	for way, of := range s.of {
		path := func(h *Slot) []string { return by(way, h.who) }
		stay := func(h *Slot) bool {
			return h.way != way || of.Over(path(h), path(newcomer)) < h.lead || h.stays != nil && h.stays()
		}
		crowd := Crowd(of, slices.DeleteFunc(slices.Clone(s.held), stay), path, path(newcomer), 1)
		if len(crowd) > 0 {
			return crowd[0]
		}
	}
	return nil
}

// add gives a place to a slot.
func (s *Slots) add(slot *Slot) {
	s.held = append(s.held, slot)
	s.in[slot.way]++
	s.of[slot.way].Count(slot.who, 1)
}

// remove takes the place from a slot, and reports whether it had one.
func (s *Slots) remove(slot *Slot) bool {
	i := slices.Index(s.held, slot)
	if i < 0 {
		return false
	}
	s.held = slices.Delete(s.held, i, i+1)
	s.in[slot.way]--
	s.of[slot.way].Count(slot.who, -1)
	return true
}

// has returns the number of places that a network or a principal holds.
func (s *Slots) has(name string) int { return s.of[byNetworks][name] + s.of[byAddress][name] }

// fewest compares two slots by the numbers of places of their networks, the widest first.
func (s *Slots) fewest(a, b *Slot) int {
	for i := range min(len(a.who), len(b.who)) {
		if c := cmp.Compare(s.has(a.who[i]), s.has(b.who[i])); c != 0 {
			return c
		}
	}
	return 0
}

// unlock gives free places to waiting slots, unlocks mu, and then makes the calls that are due.
func (s *Slots) unlock() {
	slices.SortStableFunc(s.waiting, s.fewest)
	s.waiting = slices.DeleteFunc(s.waiting, s.place)
	tell := s.tell
	s.tell = nil
	s.mu.Unlock()
	for _, f := range tell {
		f()
	}
}
