package tails

import (
	"errors"
	"slices"

	"github.com/venn-p2p/venn/overlay/agenda"
	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// taken is the outcome of the tails of an item.
type taken int

const (
	done       taken = iota // the tails are in force, old or refused
	apart                   // a tail starts at a state at which no tail held here ends
	unverified              // their signatures are yet to be verified
	unsigned                // a tail is not signed, as far as can be seen here
)

// take verifies tails of an origin, and puts them in force. sure is set if they cannot be another's. A peer that passes
// on a tail that does not parse is at fault. If a tail parses and is not signed, only the origin can be at fault. It
// may have signed two headers for the epoch, so that each half of its links takes the other half's tails for forged.
func (m *Machine) take(from wire.PeerID, o *origin, signed [][]byte, sure, opened bool) (how taken) {
	h, ok := m.cfg.Header(o.peer)
	if !ok || h.Epoch != o.epoch {
		return done // they are of an epoch that has gone
	}
	before := o.number()
	for _, b := range signed[:min(len(signed), wire.MaxItemTails)] {
		number, starts, err := numbers(b)
		if err == nil && number <= o.number() {
			continue // old, whoever signed it
		}
		if _, follows := o.before(starts); err == nil && !follows && how != unverified {
			how = apart
			break
		}
		t, err := OpenTail(b, h, m.cfg.Verify)
		if errors.Is(err, ErrUnverified) && !opened {
			how = unverified // later tails are looked at only to have all verified at once
			continue
		}
		if err != nil {
			how = m.blame(from, o, sure, err)
			break
		}
		if how == unverified {
			continue
		}
		if !m.admits(from, o, t) {
			break
		}
		m.install(o, t)
	}
	if o.number() > before {
		m.advanced(o, from)
	}
	return how
}

// blame handles a tail that cannot be opened.
func (m *Machine) blame(from wire.PeerID, o *origin, sure bool, err error) taken {
	switch {
	case !sure || errors.Is(err, summary.ErrVersion):
		return done
	case errors.Is(err, ErrSigner) && from != o.peer:
		m.refused++
		return unsigned
	}
	m.refuse(from, FaultTail)
	m.mute(from)
	return done
}

// admits reports whether there is room for a tail now. If not, the origin's tails are refused for a while. The sender
// is to blame only if it is the origin, and made the chain too long. It does not know the room here, and messages to a
// machine that was paused come all at once. A relay's own chain may be shorter: an origin can sign tails that lead to
// one state in few steps, and in many.
func (m *Machine) admits(from wire.PeerID, o *origin, t *Tail) bool {
	n, _ := o.before(t.From())
	held := t.Len()
	for _, t := range o.chain[:n] {
		held += t.Len()
	}
	wait := agenda.Attempt
	switch {
	case !o.allow(m.now):
		wait = agenda.Beat
	case n >= maxSegments || held > maxChain:
		if from == o.peer {
			m.emit(event.Report{Peer: from, Fault: FaultLong})
		}
	case m.held-o.held+held <= m.cfg.MaxChanges:
		return true
	}
	m.refused++
	o.waits = m.now + wait
	delete(m.lagging, o.tag)
	return false
}

// mute makes the machine ignore a link's messages for ten seconds.
func (m *Machine) mute(p wire.PeerID) {
	if l := m.link(p); l != nil {
		l.muted = m.now + agenda.Attempt
	}
}

func (m *Machine) refuse(from wire.PeerID, f event.Fault) {
	m.refused++
	m.emit(event.Report{Peer: from, Fault: f})
}

// install appends a verified tail, which starts at a state in force.
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

// showMore updates an origin's state, and the holders, by a tail that continues its chain.
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

// show sets an origin's state, and updates the holders.
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
		o.state = state
	}
}
