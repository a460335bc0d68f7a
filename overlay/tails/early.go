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
	from  *link
	item  wire.TailItem
	until time.Duration
}

const (
	// maxHeld caps the items with tails that are kept so, and maxTold the items without.
	maxHeld = bound.Few
	maxTold = bound.Many
)

// room is the most early items kept of all links together, by kind.
var room = [2]int{maxTold, maxHeld}

// kind returns 1 for an item with tails, else 0.
func kind(it *wire.TailItem) int { return min(len(it.Tails), 1) }

// keep holds an item of an unknown epoch for four seconds. If there is no room, the link with the most items loses its
// oldest one. So no link keeps the items of others out. An item for which there is no room takes O(links) time,
// whatever is kept: floods consist of them.
func (m *Machine) keep(l *link, it wire.TailItem) {
	if len(m.early) > 0 && m.now >= m.early[0].until { // all wait for the same time, the oldest are in front
		m.drop(func(e *early) bool { return m.now >= e.until })
	}
	if it.Number == 0 || len(it.Tails) > wire.MaxItemTails {
		return
	}
	k := kind(&it)
	all, greedy, most := 0, l, l.early[k]+1
	for _, other := range m.links {
		n := other.early[k]
		all += n
		if n > most {
			greedy, most = other, n
		}
	}
	if all >= room[k] {
		if greedy == l {
			return
		}
		found := false
		m.drop(func(e *early) bool {
			oldest := !found && e.from == greedy && kind(&e.item) == k
			found = found || oldest
			return oldest
		})
	}
	l.early[k]++
	m.early = append(m.early, early{l, it, m.now + agenda.Patience})
}

// drop forgets the items that a function chooses, and returns them. It takes O(items) time.
func (m *Machine) drop(chosen func(e *early) bool) (dropped []early) {
	m.early = slices.DeleteFunc(m.early, func(e early) bool {
		if !chosen(&e) {
			return false
		}
		e.from.early[kind(&e.item)]--
		dropped = append(dropped, e)
		return true
	})
	return dropped
}

// retry handles the kept items that came before the epoch of o was known.
func (m *Machine) retry(o *origin) {
	g := o.group()
	for _, e := range m.drop(func(e *early) bool { return e.item.Names(g) }) {
		if m.now < e.until {
			m.about(e.from, o, e.item, true, false)
		}
	}
}
