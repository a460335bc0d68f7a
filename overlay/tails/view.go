package tails

import (
	"time"

	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// Added are the peers whose tails say that they have a fingerprint since their summary, in order. Valid until the next
// Step.
func (m *Machine) Added(f summary.Fingerprint) []wire.PeerID { return m.holders[f] }

// Removed says whether a peer's tails say that it no longer has a fingerprint, or the peer that it leaves. While there
// are no tails and nobody leaves, as in most networks at rest, it costs nothing; otherwise it hashes the peer's name.
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

// Left says whether a peer has said that it leaves, and has not come back since.
func (m *Machine) Left(p wire.PeerID) bool {
	if m.gone == 0 {
		return false
	}
	o := m.of(p)
	return o != nil && o.left
}

// Fresh returns the age of the knowledge of what a linked peer holds. The peer said that long ago what it holds, and
// nothing is missing. ok is false when that is not known, as of a peer that holds keys that no summary shows.
func (m *Machine) Fresh(now time.Duration, p wire.PeerID) (age time.Duration, ok bool) {
	l := m.links[p]
	if l == nil || l.hides {
		return 0, false
	}
	o := m.of(p)
	pos, said := l.known.At(l.tag)
	if o == nil || !said || pos.epoch != o.epoch || pos.number > o.number() {
		return 0, false
	}
	return now - l.stated, true
}

// State is the number of a peer's state that is known, and how many fingerprints were added and removed since its
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

// Refused is how many tails were refused so far.
func (m *Machine) Refused() int { return m.refused }
