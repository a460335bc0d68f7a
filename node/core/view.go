package core

import (
	"slices"
	"time"

	"github.com/venn-p2p/venn/overlay"
	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/tails"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/routing"
	"github.com/venn-p2p/venn/summary"
)

// view gives routing the overlay's directory, corrected by the changes in tails.
type view struct {
	*overlay.Overlay
	m *Machine
}

var _ routing.View = view{}

// addedRate is the assumed false-positive rate of a key in a tail. A tail has 48 bits of the key's hash.
const addedRate = 1.0 / (1 << 40)

// Candidates returns the peers whose summary matches the key and whose tails do not remove it, and the peers whose
// tails add it.
func (v view) Candidates(key []byte, f summary.Fingerprint) []overlay.Candidate {
	out := v.Overlay.Candidates(key, f)
	if v.m.Tails == nil {
		return out
	}
	out = slices.DeleteFunc(out, func(c overlay.Candidate) bool { return v.m.Tails.Removed(c.Peer, f) })
	for _, p := range v.m.Tails.Added(f) {
		if v.m.Tails.Removed(p, f) {
			continue // it was removed again
		}
		if at := slices.IndexFunc(out, func(c overlay.Candidate) bool { return c.Peer == p }); at >= 0 {
			out[at].Rate = addedRate
			continue
		}
		rec, _ := v.Record(p)
		out = append(out, overlay.Candidate{Peer: p, Record: rec, Rate: addedRate, Connected: v.IsLinked(p)})
	}
	return out
}

// HasSummary reports whether a part of a peer's summary is held.
func (v view) HasSummary(p wire.PeerID) bool {
	_, ok := v.Held(p)
	return ok
}

// usefulRate is the highest false-positive rate of a summary at which Matches relies on it.
const usefulRate = 0.01

// Matches reports whether a peer probably has a key, by its tails or its summary. The fingerprint f must be under the
// present seed.
func (m *Machine) Matches(p wire.PeerID, f summary.Fingerprint) bool {
	if m.Tails != nil && m.Tails.Removed(p, f) {
		return false
	}
	held, ok := m.Overlay.Held(p)
	return m.Added(p, f) || ok && held.Header().Seed == m.seed && held.FalsePositiveRate() <= usefulRate && held.Contains(f)
}

// Added reports whether a peer's tails add a key since its summary, and do not remove it later. This is certain unless
// the peer lies.
func (m *Machine) Added(p wire.PeerID, f summary.Fingerprint) bool {
	return m.Tails != nil && slices.Contains(m.Tails.Added(f), p) && !m.Tails.Removed(p, f)
}

// Fresh returns the age of what is known of a linked peer's keys; false if it is not known.
func (v view) Fresh(p wire.PeerID) (age time.Duration, ok bool) {
	if v.m.Tails == nil {
		return 0, false
	}
	return v.m.Tails.Fresh(v.m.now, p)
}

// header returns the header of the summary held of a peer; false if there is none.
func (m *Machine) header(p wire.PeerID) (summary.Header, bool) {
	held, ok := m.Overlay.Held(p)
	if !ok {
		return summary.Header{}, false
	}
	return held.Header(), true
}

// room returns the number of bytes that may be sent to a linked peer now.
func (m *Machine) room(p wire.PeerID) int { return m.Overlay.Room(m.now, p) }

const (
	// pulseShare is the share of the line's budget that pulses may take, of pulseBytes each.
	pulseShare = 1.0 / 50
	pulseBytes = 60
	leastPulse = 2 * time.Second
	mostPulse  = 30 * time.Second
)

// answered makes the tails ask a linked peer that lacks a key for the position of its tails. Then the next search for
// a key that nobody has asks nobody. This helps only if every known peer is linked: in a larger network a search asks
// beyond the links anyway.
func (m *Machine) answered(in event.Answered) {
	has, ok := in.Answer.(wire.HaveAnswer)
	if ok && m.Tails != nil && !slices.Contains(has, true) && m.Overlay.Origins() <= m.Overlay.Links() {
		m.happened(tails.Outdated{Peer: in.To.Peer})
	}
}

// pulse returns the least time between two messages that tell a linked peer the position of our tails, if the peer
// asks for them.
func (m *Machine) pulse() time.Duration {
	line := m.Overlay.LineOut()
	if line <= 0 {
		return mostPulse
	}
	each := pulseBytes * float64(m.Overlay.Links()) / (pulseShare * line)
	return min(max(time.Duration(each*float64(time.Second)), leastPulse), mostPulse)
}

// Candidates returns the peers that may hold a key, as searches see them.
func (m *Machine) Candidates(key []byte, f summary.Fingerprint) []overlay.Candidate {
	return view{m.Overlay, m}.Candidates(key, f)
}
