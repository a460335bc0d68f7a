package tails

import (
	"github.com/venn-p2p/venn/overlay/agenda"
	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/wire"
)

// maxDoubts caps the peers doubted on the word of one link in a minute.
const maxDoubts = 8

// leave tells all links at once that the node closes.
func (m *Machine) leave() {
	m.leaving = true
	if m.header == nil {
		return
	}
	for _, l := range m.links {
		it := wire.TailItem{Group: m.own.group(), Number: m.own.number(), Left: true}
		m.send(l.peer, []wire.TailItem{it}, messageBytes+it.Size())
	}
}

// unreachable tells all links that a peer cannot be reached.
func (m *Machine) unreachable(p wire.PeerID) {
	o := m.of(p)
	if o == nil || m.link(p) != nil {
		return
	}
	m.pass(o)
}

// pass tells all links that an origin cannot be reached, unless they heard that recently.
func (m *Machine) pass(o *origin) {
	late := o.told > 0 && m.now < o.told+agenda.Seldom
	if late && o.doubt > 0 {
		return
	}
	o.doubt = max(m.now, 1)
	m.emit(event.Doubted{Peer: o.peer})
	if late {
		return
	}
	o.told = o.doubt
	for _, l := range m.links {
		l.enqueue(o.tag, gone, 0)
	}
}

// hear notes that a link cannot reach an origin. If we are linked with it, we know better. The word is not passed on:
// it may be a lie.
func (m *Machine) hear(l *link, o *origin) {
	if m.link(o.peer) != nil || o.doubt > 0 && m.now < o.doubt+agenda.Seldom {
		return
	}
	if m.now >= l.doubted+agenda.Seldom {
		l.doubted, l.doubts = m.now, 0
	}
	if l.doubts == maxDoubts {
		return
	}
	l.doubts++
	o.doubt = max(m.now, 1)
	m.emit(event.Doubted{Peer: o.peer})
}

// back notes that a peer is linked again. The time at which links heard that it was gone stays noted: otherwise a peer
// that comes and goes would make its links send word of it each time.
func (m *Machine) back(p wire.PeerID) {
	if o := m.of(p); o != nil && (o.left || o.doubt > 0) {
		m.leaves(o, false)
		o.doubt = 0
	}
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
