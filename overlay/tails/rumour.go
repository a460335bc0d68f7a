package tails

import (
	"time"
)

const (
	// rumourEvery is the time between rumours, each to the next link in turn, of all that has advanced.
	rumourEvery = 2 * time.Second
	// rumourRoom is the number of bytes that a link must have room for to get a rumour, which it may not need.
	rumourRoom = 1 << 10
)

// rumour sends the next link in turn our states of the origins that have advanced since its last rumour: messages may
// have been lost. Lines without spare room are left out.
func (m *Machine) rumour() {
	if m.now < m.rumoured+rumourEvery || len(m.order) == 0 {
		return
	}
	m.rumoured = m.now
	for range m.order {
		m.turn++
		p := m.order[m.turn%len(m.order)]
		if l := m.links[p]; len(l.rumours) > 0 && m.cfg.Room(p) >= rumourRoom {
			for tag := range l.rumours {
				l.enqueue(tag, tell, m.now)
			}
			clear(l.rumours)
			return
		}
	}
}
