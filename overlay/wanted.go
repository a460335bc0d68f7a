package overlay

import (
	"math"
	"slices"
	"time"

	"github.com/venn-p2p/venn/overlay/coverage"
)

// A contact for every range costs more than most searches need: the records of 127 take 30 kB. So beforehand a peer
// learns of contacts in each wide range alone. A search that has asked these, and has found nobody, wants more: those
// of the ranges that are left, in place of those that did not answer, and then a second one for each range. A few peers
// are asked for them at once. What they name is kept, for later searches. A search waits for those asked for it, and for
// those asked for others shortly before. So a peer that holds an inquiry open does not delay all later searches.

// promptTime is how long after an inquiry a search may begin to wait for the answer.
const promptTime = 2 * time.Second

// onContactsWanted asks a few peers for contacts: in the ranges where there is none, else in those where there is one.
func (o *Overlay) onContactsWanted(in ContactsWanted) {
	s := &o.scope
	depth := min(s.depth, coverage.MaxBits)
	lacks := s.contacts.Lacks(1, depth)
	if len(lacks) == 0 {
		lacks = s.contacts.Lacks(coverage.ContactsEach, depth)
	}
	asked := 0
	if len(lacks) > 0 {
		q := Inquiry{Depth: s.depth, Lacks: lacking(lacks, s.depth), Least: math.MaxUint16} // of the similar nobody
		for _, to := range o.someToAsk(in.Ask) {
			asked++
			s.wanted[to.Peer] = []uint64{in.Search}
			o.askFor(in.Search, to, q)
		}
	}
	for p, searches := range s.wanted {
		if o.prompt(p) && !slices.Contains(searches, in.Search) {
			s.wanted[p] = append(searches, in.Search)
		}
	}
	o.effects.Emit(ContactsNamed{Search: in.Search, Asked: asked, Awaited: o.awaitedBy(in.Search)})
}

// awaits says whether a peer's answer to an inquiry is awaited.
func (o *Overlay) awaits(p PeerID) bool {
	_, asked := o.scope.asked[p]
	return asked
}

// prompt says whether a peer was asked so short a time ago that a search may wait for its answer.
func (o *Overlay) prompt(p PeerID) bool { return o.now-o.scope.asked[p] < promptTime }

// awaitedBy is how many peers a search waits for. Peers that let it wait too long do not count.
func (o *Overlay) awaitedBy(search uint64) (n int) {
	for p, searches := range o.scope.wanted {
		if o.prompt(p) && slices.Contains(searches, search) {
			n++
		}
	}
	return n
}

// someToAsk draws peers that can be asked now: linked ones, and contacts if there are not enough.
func (o *Overlay) someToAsk(n int) (out []Record) {
	s := &o.scope
	var contacts []Record
	for _, p := range o.exchange.Linked() {
		if r, ok := o.Record(p); ok && !o.awaits(p) {
			out = append(out, r)
		}
	}
	for c := range s.contacts.Each() {
		if p := PeerID(c.Peer); c.Failed == 0 && !c.Refuted() && !o.awaits(p) && !o.exchange.IsLinked(p) {
			contacts = append(contacts, Record{Peer: p, Envelope: c.Record})
		}
	}
	for _, all := range [][]Record{out, contacts} {
		o.cfg.Rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	}
	out = append(out, contacts...)
	return slices.Clone(out[:min(n, len(out))])
}

// contactsNamed tells the searches that wait for a peer that it has answered, or has not in time.
func (o *Overlay) contactsNamed(from PeerID) {
	searches := o.scope.wanted[from]
	delete(o.scope.wanted, from)
	for _, search := range searches {
		o.effects.Emit(ContactsNamed{Search: search, Awaited: o.awaitedBy(search)})
	}
}
