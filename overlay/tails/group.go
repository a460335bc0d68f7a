package tails

import (
	"github.com/venn-p2p/venn/overlay/wire"
)

// sharing returns the least and the greatest tag with the given tag's first three bytes, which [wire.Abbreviate] keeps.
func sharing(tag uint64) (first, last uint64) {
	first = tag >> 40 << 40
	return first, first | (1<<40 - 1)
}

// fitting appends to out the origins whose known epoch an item may be about: nearly always one or none.
func (m *Machine) fitting(out []*origin, it *wire.TailItem) []*origin {
	if m.header != nil && it.Names(m.own.group()) {
		out = append(out, &m.own)
	}
	if !it.Short {
		if o := m.tagged(it.Group.OriginTag()); o != nil && it.Names(o.group()) {
			out = append(out, o)
		}
		return out
	}
	some := m.origins.between(sharing(it.Group.OriginTag()))
	for i := range some {
		if o := &some[i]; it.Names(o.group()) {
			out = append(out, o)
		}
	}
	return out
}

// tagOf returns the tag of a peer.
func (m *Machine) tagOf(p wire.PeerID) uint64 {
	if l := m.link(p); l != nil {
		return l.tag
	}
	return wire.Tag(m.cfg.Seed, string(p))
}

// tagged returns the origin with a tag; nil if there is none.
func (m *Machine) tagged(tag uint64) *origin {
	return m.origins.at(tag)
}

// of returns the origin with a peer's id; nil if there is none.
func (m *Machine) of(p wire.PeerID) *origin { return m.tagged(m.tagOf(p)) }
