package tails

import (
	"time"

	"github.com/venn-p2p/venn/overlay"
)

// doubtEvery is how long the same peer is not doubted again on the word of others.
const doubtEvery = time.Minute

// leave tells all links at once that the node closes.
func (m *Machine) leave() {
	m.leaving = true
	if m.own.header == nil {
		return
	}
	for _, p := range m.order {
		it := Item{Group: m.own.header.Group(), Number: m.own.number(), Left: true}
		m.emit(Send{p, []Item{it}, messageBytes + itemBytes})
	}
}

// unreachable tells all links that a peer cannot be reached.
func (m *Machine) unreachable(p overlay.PeerID) {
	o := m.origins[m.cfg.Seed.OriginTag(string(p))]
	if o == nil || o.peer != p || m.links[p] != nil {
		return
	}
	m.pass(o)
}

// pass has all links told that an origin cannot be reached, unless they were of late.
func (m *Machine) pass(o *origin) {
	if o.doubt > 0 && m.now < o.doubt+doubtEvery {
		return
	}
	o.doubt = max(m.now, 1)
	for _, l := range m.links {
		l.owe(o.header.Group().OriginTag(), gone, 0)
	}
	m.emit(Doubt{o.peer})
}

// hear takes in that somebody cannot reach an origin. Who is linked with it knows better.
func (m *Machine) hear(o *origin) {
	if m.links[o.peer] == nil {
		m.pass(o)
	}
}

// back takes in that a peer is linked again.
func (m *Machine) back(p overlay.PeerID) {
	if o := m.origins[m.cfg.Seed.OriginTag(string(p))]; o != nil {
		o.left, o.doubt = false, 0
	}
}
