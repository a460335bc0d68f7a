package tails

import (
	"math"
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

// Behind is the age of knowledge of a peer that is known to hold something else by now.
const Behind = time.Duration(math.MaxInt64)

// Fresh returns the age of the knowledge of what a linked peer holds. The peer said that long ago what it holds, and
// nothing is missing; [Behind]: it has said that there is more, or that it holds keys that no summary shows. ok is false
// while the peer has not said where it is, or no summary of it is known.
func (m *Machine) Fresh(now time.Duration, p wire.PeerID) (age time.Duration, ok bool) {
	l, o := m.links[p], m.of(p)
	if l == nil || o == nil {
		return 0, false
	}
	switch pos, said := l.known.At(l.tag); {
	case l.hides:
		return Behind, true
	case !said || o.epoch.After(pos.epoch) && pos.epoch != (summary.Epoch{}):
		return 0, false
	case pos.epoch != o.epoch || pos.number > o.number():
		return Behind, true
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
