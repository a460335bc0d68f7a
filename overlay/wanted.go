package overlay

import (
	"slices"
	"time"
)

// A contact for every range costs more than most searches need: the records of 127 take 30 kB. So beforehand a peer
// learns of contacts in each wide range alone. A search that has asked these, and has found nobody, wants more: those
// of the ranges that are left, in place of those that did not answer, and then a second one for each range. A few peers
// are asked for them at once. What they name is kept, for later searches. A search waits for those asked for it, and for
// those asked for others shortly before. So a peer that holds an inquiry open does not delay all later searches.

const (
	// promptTime is how long after an inquiry a search may begin to wait for the answer.
	promptTime = 2 * time.Second
	// inquiryTime is how long an answer is awaited at most. A node gives up after less.
	inquiryTime = 2 * time.Minute
)

// awaits says whether a peer's answer to an inquiry is awaited.
func (s *scope) awaits(p PeerID) bool {
	_, asked := s.asked[p]
	return asked
}

// prompt says whether a peer was asked so short a time ago that a search may wait for its answer.
func (s *scope) prompt(p PeerID) bool { return s.now-s.asked[p] < promptTime }

// awaitedBy is how many peers a search waits for. Peers that let it wait too long do not count.
func (s *scope) awaitedBy(search uint64) (n int) {
	for p, searches := range s.wanted {
		if s.prompt(p) && slices.Contains(searches, search) {
			n++
		}
	}
	return n
}

// someToAsk draws peers that can be asked now: linked ones, and contacts if there are not enough.
func (s *scope) someToAsk(n int) (out []Record) {
	var contacts []Record
	for _, p := range s.exchange.Linked() {
		if r, ok := s.record(p); ok && !s.awaits(p) {
			out = append(out, r)
		}
	}
	for c := range s.contacts.Each() {
		if p := PeerID(c.Peer); c.Failed == 0 && !c.Refuted() && !s.awaits(p) && !s.exchange.IsLinked(p) {
			contacts = append(contacts, Record{Peer: p, Envelope: c.Record})
		}
	}
	for _, all := range [][]Record{out, contacts} {
		s.cfg.Rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	}
	out = append(out, contacts...)
	return slices.Clone(out[:min(n, len(out))])
}
