package overlay

import (
	"math"
	"slices"

	"github.com/venn-p2p/venn/overlay/coverage"
)

// A contact for every range costs more than most searches need: the records of 127 take 30 kB. So beforehand a peer
// learns of contacts in each wide range alone. A search that has asked these, and has found nobody, wants more: those
// of the ranges that are left, in place of those that did not answer, and then a second one for each range. A few peers
// are asked for them at once. What they name is kept, for later searches.

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
			s.wanted[to.Peer] = true
			o.askFor(in.Search, to, q)
		}
	}
	o.effects.Emit(ContactsNamed{Search: in.Search, Asked: asked, Awaited: len(s.wanted)})
}

// someToAsk draws peers that can be asked now: linked ones, and contacts if there are not enough.
func (o *Overlay) someToAsk(n int) (out []Record) {
	s := &o.scope
	var contacts []Record
	for _, p := range o.exchange.Linked() {
		if r, ok := o.Record(p); ok && !s.asked[p] {
			out = append(out, r)
		}
	}
	for c := range s.contacts.Each() {
		if p := PeerID(c.Peer); c.Failed == 0 && !c.Refuted() && !s.asked[p] && !o.exchange.IsLinked(p) {
			contacts = append(contacts, Record{Peer: p, Envelope: c.Record})
		}
	}
	for _, all := range [][]Record{out, contacts} {
		o.cfg.Rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	}
	out = append(out, contacts...)
	return slices.Clone(out[:min(n, len(out))])
}

// contactsNamed says that a peer who was asked for contacts has answered, or has not in time.
func (o *Overlay) contactsNamed(from PeerID) {
	s := &o.scope
	if !s.wanted[from] {
		return
	}
	delete(s.wanted, from)
	o.effects.Emit(ContactsNamed{Awaited: len(s.wanted)})
}
