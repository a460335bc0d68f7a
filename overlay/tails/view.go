package tails

import (
	"time"

	"github.com/venn-p2p/venn/overlay/agenda"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// Added returns the peers whose tails added a fingerprint since their summary, in order. Valid until the next Step.
func (m *Machine) Added(f summary.Fingerprint) []wire.PeerID { return m.holders[f] }

// Removed reports whether a peer's tails removed a fingerprint, or the peer is leaving. While there are no tails and
// nobody leaves, as in most networks at rest, it costs nothing; otherwise it hashes the peer's name.
func (m *Machine) Removed(p wire.PeerID, f summary.Fingerprint) bool {
	if m.held == 0 && m.gone == 0 {
		return false
	}
	o := m.of(p)
	if o == nil {
		return false
	}
	added, said := o.state[f]
	return o.left || said && !added
}

// Left reports whether a peer has announced that it leaves, and has not come back since.
func (m *Machine) Left(p wire.PeerID) bool {
	if m.gone == 0 {
		return false
	}
	o := m.of(p)
	return o != nil && o.left
}

// Behind is the age of the knowledge of a peer that is known to hold something else by now.
const Behind = agenda.Never

// Fresh returns the age of the knowledge of a linked peer's keys: the peer announced its state that long ago, and we
// hold that state. It returns [Behind] if the peer has announced a later state, or holds keys that no summary shows. ok
// is false while the peer has not announced its state, or no summary of it is known.
func (m *Machine) Fresh(now time.Duration, p wire.PeerID) (age time.Duration, ok bool) {
	l, o := m.link(p), m.of(p)
	if l == nil || o == nil {
		return 0, false
	}
	switch pos, said := l.known[l.tag]; {
	case l.hides:
		return Behind, true
	case !said || o.epoch.After(pos.epoch) && pos.epoch != (summary.Epoch{}):
		return 0, false
	case pos.epoch != o.epoch || pos.number > o.number():
		return Behind, true
	}
	return now - l.stated, true
}

// State returns the number of a peer's known state, and the numbers of fingerprints added and removed since its
// summary.
func (m *Machine) State(p wire.PeerID) (number uint32, added, removed int) {
	o := m.of(p)
	if p == m.cfg.Self {
		o = &m.own
	}
	if o == nil {
		return 0, 0, 0
	}
	added, removed = o.changes()
	return o.number(), added, removed
}

// Refused returns the number of tails refused so far.
func (m *Machine) Refused() int { return m.refused }
