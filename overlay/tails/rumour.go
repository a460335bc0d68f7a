package tails

import (
	"time"
)

const (
	// rumourEvery is how often some link, in turn, gets a rumour of all that has advanced.
	rumourEvery = 2 * time.Second
	// remindAfter is how long after the latest tail of an origin its feeder is reminded, once.
	remindAfter = 10 * time.Second
	// rumourRoom is the room that a link must have for what it may not need.
	rumourRoom = 1 << 10
)

// rumour sends a link, another each time, the states that we have reached of the origins that have advanced since its
// last rumour. Messages may have been lost. So it repeats that nobody feeds us an origin any more. Once, it also
// repeats that the link feeds us an origin without a tail for a while. Lines without spare room are left out.
func (m *Machine) rumour() {
	if m.now < m.rumoured+rumourEvery || len(m.order) == 0 {
		return
	}
	m.rumoured = m.now
	for range m.order {
		m.turn++
		p := m.order[m.turn%len(m.order)]
		if l := m.links[p]; len(l.rumours)+len(m.unfed)+len(l.remind) > 0 && m.cfg.Room(p) >= rumourRoom {
			for tag := range l.rumours {
				l.enqueue(tag, tell, m.now)
				m.stir(tag, l)
			}
			for tag := range m.unfed {
				l.enqueue(tag, ask, m.now)
			}
			for tag := range l.remind {
				if m.now >= m.tagged(tag).came+remindAfter {
					l.enqueue(tag, ask, m.now)
					delete(l.remind, tag)
				}
			}
			clear(l.rumours)
			return
		}
	}
}
