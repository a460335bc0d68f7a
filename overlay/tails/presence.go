package tails

import (
	"github.com/venn-p2p/venn/overlay/agenda"
	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/wire"
)

// leave tells all links at once that the node closes.
func (m *Machine) leave() {
	m.leaving = true
	if m.header == nil {
		return
	}
	for _, l := range m.links {
		it := wire.TailItem{Group: m.own.group(), Number: m.own.number(), Left: true}
		m.send(l.peer, it)
	}
}

// unreachable tells links that a peer cannot be reached, unless they heard that recently or said so themselves.
func (m *Machine) unreachable(p wire.PeerID) {
	o := m.of(p)
	if o == nil || m.link(p) != nil {
		return
	}
	if o.told > 0 && m.now < o.told+agenda.Seldom {
		return
	}
	o.told, o.lost = max(m.now, 1), true
	for _, l := range m.links {
		if said := l.known[o.tag].gone; said == 0 || m.now >= said+agenda.Seldom {
			l.enqueue(o.tag, gone, 0)
		}
	}
}

// hear notes that a link cannot reach an origin. If we are linked with it, we know better. Otherwise searches ask it
// last. The word may be a lie, so it goes no further.
func (m *Machine) hear(l *link, o *origin) {
	pos := l.known[o.tag]
	pos.gone = max(m.now, 1)
	m.know(l, o.tag, pos)
	if d, ok := l.due[o.tag]; ok && d.how == gone {
		delete(l.due, o.tag)
	}
	if m.link(o.peer) == nil {
		m.emit(event.Doubted{Peer: o.peer})
	}
}

// back notes that a peer is linked again, and tells the links that heard that it was gone. The time at which they heard
// so stays noted: otherwise a peer that comes and goes would make its links send word of it each time.
func (m *Machine) back(p wire.PeerID) {
	if o := m.of(p); o != nil {
		m.leaves(o, false)
		if o.lost {
			o.lost = false
			for _, l := range m.links {
				l.enqueue(o.tag, ask, m.now)
			}
		}
	}
}

// takesBack notes that a link speaks again of an origin that it could not reach: they are linked again.
func (m *Machine) takesBack(l *link, o *origin) {
	pos := l.known[o.tag]
	if pos.gone == 0 {
		return
	}
	pos.gone = 0
	m.know(l, o.tag, pos)
	m.emit(event.Doubted{Peer: o.peer, Back: true})
}

// leaves notes whether an origin has said that it leaves.
func (m *Machine) leaves(o *origin, left bool) {
	if o.left == left {
		return
	}
	if o.left = left; left {
		m.gone++
	} else {
		m.gone--
	}
}
