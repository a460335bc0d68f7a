package tails

import (
	"encoding/binary"

	"github.com/venn-p2p/venn/overlay"
	"github.com/venn-p2p/venn/overlay/group"
)

// ShortGroup is how many bytes an abbreviated group has.
const ShortGroup = 4

// Abbreviate leaves of a group three bytes of the origin's tag and one of the epoch, and zeros. Between peers that both
// know an epoch that is enough. Where it fits two groups, an item speaks of both, and a tail belongs to the group whose
// signature it has.
func Abbreviate(g group.ID) (short group.ID) {
	copy(short[:3], g[:3])
	short[3] = g[11] + g[15]
	return short
}

// name gives an item a group, in short.
func (it *Item) name(g group.ID) { it.Group, it.Short = Abbreviate(g), true }

// prefix is what a tag leaves in an abbreviated group.
type prefix [3]byte

func prefixOf(tag uint64) (p prefix) {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], tag)
	copy(p[:], b[:])
	return p
}

// tags are the first and the last tag that begin with a prefix.
func (p prefix) tags() (first, last uint64) {
	first = uint64(p[0])<<56 | uint64(p[1])<<48 | uint64(p[2])<<40
	return first, first | (1<<40 - 1)
}

// names says whether an item's group is g.
func (it *Item) names(g group.ID) bool {
	if it.Short {
		g = Abbreviate(g)
	}
	return g == it.Group
}

// about says whether an item is of the origin with a tag, of whichever epoch.
func (it *Item) about(tag uint64) bool {
	if it.Short {
		return prefix(it.Group[:3]) == prefixOf(tag)
	}
	return it.Group.OriginTag() == tag
}

// fitting appends to out the origins that an item speaks of, of the epoch that is known: nearly always one or none.
func (m *Machine) fitting(out []*origin, it *Item) []*origin {
	if m.header != nil && it.names(m.own.group()) {
		out = append(out, &m.own)
	}
	if !it.Short {
		if o := m.tagged(it.Group.OriginTag()); o != nil && it.names(o.group()) {
			out = append(out, o)
		}
		return out
	}
	some := m.origins.between(prefix(it.Group[:3]).tags())
	for i := range some {
		if o := &some[i]; it.names(o.group()) {
			out = append(out, o)
		}
	}
	return out
}

// tagOf is the tag of a peer.
func (m *Machine) tagOf(p overlay.PeerID) uint64 {
	if l := m.links[p]; l != nil {
		return l.tag
	}
	return group.Tag(m.cfg.Seed, string(p))
}

// tagged is the origin with a tag; nil if there is none.
func (m *Machine) tagged(tag uint64) *origin {
	return m.origins.at(tag)
}

// of returns what is known of a peer's tails; nil if nothing is.
func (m *Machine) of(p overlay.PeerID) *origin { return m.tagged(m.tagOf(p)) }
