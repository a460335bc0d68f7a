package tails

import (
	"slices"
	"time"

	"github.com/venn-p2p/venn/overlay/agenda"
	"github.com/venn-p2p/venn/overlay/bound"
	"github.com/venn-p2p/venn/overlay/wire"
)

// early is an item that came before its epoch.
type early struct {
	from  wire.PeerID
	item  wire.TailItem
	until time.Duration
}

const (
	// maxHeld caps the items with tails that are kept so, and maxTold the items without.
	maxHeld = bound.Few
	maxTold = bound.Many
)

// keep holds an item of an unknown epoch for four seconds. If there is no room, the link with the most items loses its
// oldest one. So no link keeps the items of others out.
func (m *Machine) keep(from wire.PeerID, it wire.TailItem) {
	m.early = slices.DeleteFunc(m.early, func(e early) bool { return m.now >= e.until })
	if it.Number == 0 || len(it.Tails) > wire.MaxItemTails {
		return
	}
	most, tailed := maxTold, len(it.Tails) > 0
	if tailed {
		most = maxHeld
	}
	all, mine := 0, 1
	for i := range m.early {
		if e := &m.early[i]; len(e.item.Tails) > 0 == tailed {
			if all++; e.from == from {
				mine++
			}
		}
	}
	if all >= most {
		if 2*mine > all {
			return
		}
		oldest, ok := m.oldestOfMost(from, tailed)
		if !ok {
			return
		}
		m.early = slices.Delete(m.early, oldest, oldest+1)
	}
	m.early = append(m.early, early{from, it, m.now + agenda.Patience})
}

// oldestOfMost returns the index of the oldest item, with tails or without, of the link that holds the most places. ok
// is false if that is the link that a new item comes from.
func (m *Machine) oldestOfMost(from wire.PeerID, tailed bool) (at int, ok bool) {
	places, greedy := map[wire.PeerID]int{from: 1}, from
	for i := range m.early {
		e := &m.early[i]
		if len(e.item.Tails) > 0 != tailed {
			continue
		}
		if places[e.from]++; places[e.from] > places[greedy] {
			greedy = e.from
		}
	}
	at = slices.IndexFunc(m.early, func(e early) bool { return e.from == greedy && len(e.item.Tails) > 0 == tailed })
	return at, greedy != from
}

// retry handles the kept items that came before the epoch of o was known.
func (m *Machine) retry(o *origin) {
	waiting := m.early
	m.early = nil
	for _, e := range waiting {
		l := m.link(e.from)
		switch {
		case m.now >= e.until || l == nil:
		case !e.item.Names(o.group()):
			m.early = append(m.early, e)
		default:
			m.about(l, o, e.item, true, false)
		}
	}
}
