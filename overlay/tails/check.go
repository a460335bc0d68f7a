package tails

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/venn-p2p/venn/overlay/wire"
)

// Check returns the first invariant of the machine that does not hold, for tests.
func (m *Machine) Check() error {
	held, gone := 0, 0
	for i := range m.origins {
		o := &m.origins[i]
		tag := o.tag
		held += o.held
		if o.left {
			gone++
		}
		l := m.link(o.feeder)
		switch {
		case m.tagged(tag) != o || m.of(o.peer) != o || m.origins.between(sharing(tag)).at(tag) == nil:
			return fmt.Errorf("tails: origin %x not found by its tag or its peer", tag)
		case o.group() != wire.NewGroup(wire.Tag(m.cfg.Seed, string(o.peer)), o.epoch):
			return fmt.Errorf("tails: origin %x has the group %v, not that of its peer", tag, o.group())
		case o.feeder != "" && (l == nil || !l.feeds[tag]):
			return fmt.Errorf("tails: %s feeds %x, and is not noted for it", o.feeder, tag)
		case o.feeder != "" && m.link(o.peer) != nil:
			return fmt.Errorf("tails: %s feeds %x, which is linked", o.feeder, tag)
		}
	}
	if held != m.held || held > m.cfg.MaxChanges {
		return fmt.Errorf("tails: %d changes held, counted %d of %d", held, m.held, m.cfg.MaxChanges)
	}
	if gone != m.gone {
		return fmt.Errorf("tails: %d origins have said that they leave, counted %d", gone, m.gone)
	}
	waiting := len(m.early)
	for _, l := range m.links {
		waiting -= l.early[0] + l.early[1]
	}
	if waiting != 0 || len(m.early) > maxHeld+maxTold {
		return fmt.Errorf("tails: %d items wait for their epochs, %d more than counted", len(m.early), waiting)
	}
	for tag, g := range m.lagging {
		if o := m.tagged(tag); o == nil || g.state <= o.number() {
			return fmt.Errorf("tails: %x is noted to be behind %d, and is not", tag, g.state)
		}
	}
	for _, l := range m.links {
		for tag := range l.feeds {
			if o := m.tagged(tag); o == nil || o.feeder != l.peer {
				return fmt.Errorf("tails: %s is noted to feed %x, and does not", l.peer, tag)
			}
		}
	}
	if !slices.IsSortedFunc(m.links, func(a, b *link) int { return cmp.Compare(a.peer, b.peer) }) {
		return errors.New("tails: the links are not in order")
	}
	return nil
}
