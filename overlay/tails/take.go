package tails

import (
	"errors"
	"slices"

	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// take takes in tails of an origin. It is false when one of them starts at a state that is not known here. A tail that
// the origin has not signed is a fault only if it is sure that it should be the origin's.
func (m *Machine) take(from wire.PeerID, o *origin, signed [][]byte, sure bool) bool {
	if len(signed) == 0 {
		return true
	}
	h, ok := m.cfg.Header(o.peer)
	if !ok || h.Epoch != o.epoch {
		return true // they are of an epoch that has gone
	}
	before, follows := o.number(), true
	for _, b := range signed[:min(len(signed), wire.MaxItemTails)] {
		number, starts, err := numbers(b)
		if err == nil && number <= o.number() {
			continue // old news, whoever signed it
		}
		if _, follows = o.before(starts); err == nil && !follows {
			break
		}
		t, err := OpenTail(b, h, m.cfg.Verify)
		if err != nil {
			if sure && !errors.Is(err, summary.ErrVersion) {
				m.refuse(from, FaultTail)
				m.mute(from)
			}
			break
		}
		if !m.admits(from, o, t) {
			break
		}
		m.install(o, t)
	}
	if o.number() > before {
		m.advanced(o, from)
	}
	return follows
}

// admits says whether there is room for a tail now. If not, none of the origin's tails are taken in for a while. Who
// sent it is to blame only if no peer would take it: nobody knows how much room another has, and what was sent to a
// machine while it was paused comes at once.
func (m *Machine) admits(from wire.PeerID, o *origin, t *Tail) bool {
	n, _ := o.before(t.From())
	held := t.Len()
	for _, t := range o.chain[:n] {
		held += t.Len()
	}
	wait := roomAfter
	switch {
	case !o.allow(m.now):
		wait = rateAfter
	case n >= maxSegments || held > maxChain:
		m.emit(event.Report{Peer: from, Fault: FaultLong})
	case m.held-o.held+held <= m.cfg.MaxChanges:
		return true
	}
	m.refused++
	o.mutable().waits = m.now + wait
	m.forgive(o)
	return false
}

// mute has nothing taken from a link for a while.
func (m *Machine) mute(p wire.PeerID) {
	if l := m.links[p]; l != nil {
		l.muted = m.now + muteFor
	}
}

func (m *Machine) refuse(from wire.PeerID, f event.Fault) {
	m.refused++
	m.emit(event.Report{Peer: from, Fault: f})
}

// install puts a verified tail, which starts at a state in force, in its place.
func (m *Machine) install(o *origin, t *Tail) {
	continues, before := t.From() == o.number() && o.state != nil, o.held
	o.extend(t)
	m.held += o.held - before
	if continues {
		m.showMore(o, t)
	} else {
		m.show(o, fold(o.chain))
	}
}

// showMore changes what an origin's tails say by one that continues them.
func (m *Machine) showMore(o *origin, t *Tail) {
	for f := range t.Added() {
		if !o.state[f] {
			o.state[f] = true
			m.hold(f, o.peer)
		}
	}
	for f := range t.Removed() {
		if o.state[f] {
			m.letGo(f, o.peer)
		}
		o.state[f] = false
	}
}

func (m *Machine) hold(f summary.Fingerprint, p wire.PeerID) {
	at, _ := slices.BinarySearch(m.holders[f], p)
	m.holders[f] = slices.Insert(m.holders[f], at, p)
}

func (m *Machine) letGo(f summary.Fingerprint, p wire.PeerID) {
	rest := slices.DeleteFunc(m.holders[f], func(q wire.PeerID) bool { return q == p })
	if m.holders[f] = rest; len(rest) == 0 {
		delete(m.holders, f)
	}
}

// show changes what an origin's tails say.
func (m *Machine) show(o *origin, state map[summary.Fingerprint]bool) {
	for f, added := range o.state {
		if added && !state[f] {
			m.letGo(f, o.peer)
		}
	}
	for f, added := range state {
		if added && !o.state[f] {
			m.hold(f, o.peer)
		}
	}
	if len(state) > 0 || len(o.state) > 0 {
		o.mutable().state = state
	}
}
