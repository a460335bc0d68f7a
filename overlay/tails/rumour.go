package tails

import (
	"github.com/venn-p2p/venn/overlay/agenda"
)

// rumourEvery is the time between rumours. Each goes to the next link in turn, with the origins that have advanced.
const rumourEvery = agenda.Soon

// rumour sends the next link in turn our states of the origins that have advanced since its last rumour: messages may
// have been lost.
func (m *Machine) rumour() {
	if m.now < m.rumoured+rumourEvery || len(m.links) == 0 {
		return
	}
	m.rumoured = m.now
	for range m.links {
		m.turn++
		if l := m.links[m.turn%len(m.links)]; len(l.rumours) > 0 {
			for tag := range l.rumours {
				l.enqueue(tag, tell, m.now)
			}
			clear(l.rumours)
			return
		}
	}
}
