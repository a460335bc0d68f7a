package overlay

import (
	"maps"
	"math"
	"slices"
	"time"

	"github.com/venn-p2p/venn/overlay/coverage"
	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/exchange"
	"github.com/venn-p2p/venn/overlay/group"
)

// acquaint asks somebody when it is time for it.
func (o *Overlay) acquaint(now time.Duration) {
	if to, q, ok := o.scope.next(now); ok {
		o.ask(to, q)
	}
}

// ask sends a peer an inquiry.
func (o *Overlay) ask(to Record, q Inquiry) { o.askFor(0, to, q) }

// askFor sends a peer an inquiry for a search; 0: for none.
func (o *Overlay) askFor(search uint64, to Record, q Inquiry) {
	o.scope.asked[to.Peer] = o.now
	o.effects.Emit(AskPeers{To: to, Inquiry: q, Search: search})
	o.exchange.Spend(to.Peer, exchange.InquiryBytes(q))
}

// onPeersAsked answers an inquiry.
func (o *Overlay) onPeersAsked(now time.Duration, in PeersAsked) {
	s, q := &o.scope, in.Inquiry
	if s.served++; s.served > maxServed || !o.exchange.Spare() {
		o.effects.Emit(AnswerPeers{To: in.From, Request: in.Request, Names: Names{Depth: s.seen.vouched}})
		return
	}
	for _, i := range q.Own[:min(len(q.Own), 1)] {
		o.introduce(now, in.From, i)
	}
	names := s.answer(in.From, q)
	if q.Meet != 0 {
		s.visit(now, in.From)
		o.directory.Beside(s.meeting.visitorBytes())
	}
	o.effects.Emit(AnswerPeers{To: in.From, Request: in.Request, Names: names})
	o.exchange.Spend(in.From, exchange.NamesBytes(names))
}

// onPeersNamed takes in an answer to an inquiry.
func (o *Overlay) onPeersNamed(now time.Duration, in PeersNamed) {
	s := &o.scope
	if !o.scope.awaits(in.From) {
		return
	}
	delete(s.asked, in.From)
	defer o.contactsNamed(in.From)
	if place := exchange.PlaceOf(in.From); o.scope.starting(now) {
		s.contacts.Lives(place, string(in.From))
	} else {
		s.contacts.Answered(place, string(in.From), in.Names.Depth)
	}
	o.scope.meetAnswered(in.From)
	for _, n := range in.Names.Peers[:min(len(in.Names.Peers), event.MaxNamed)] {
		o.scope.meetNamed(in.From, n.Record)
		switch o.learnPeer(now, in.From, n) {
		case oneNear:
			s.seeker.vain = 0
			s.gossip.Learned()
		case firstElsewhere:
			s.gossip.Learned()
		}
	}
	for _, i := range in.Names.Similar[:min(len(in.Names.Similar), event.MaxSimilar)] {
		if o.introduce(now, in.From, i) {
			s.gossip.Learned()
		}
	}
}

// news is what a peer that another names is worth. Second contacts of a range are none: they are taken as they come,
// and nobody is asked again because of them.
type news uint8

const (
	noNews         news = iota
	oneNear             // a peer of the own range
	firstElsewhere      // the first contact of another range
)

// learnPeer takes in a peer that another names: an entry if it is of the own range, else a contact.
func (o *Overlay) learnPeer(now time.Duration, from PeerID, n Named) news {
	r := n.Record
	if r.Peer == o.cfg.Self {
		return noNews
	}
	if e := o.directory.Lookup(r.Peer); e != nil && e.Record().Envelope != nil {
		return noNews
	}
	if p, err := o.cfg.OpenRecord(r.Envelope); err != nil || p != r.Peer {
		o.effects.Emit(Report{Peer: from, Fault: FaultRecord})
		return noNews
	}
	if place := exchange.PlaceOf(r.Peer); !o.scope.ownRange().Contains(place) {
		first := o.scope.contacts.Empty(coverage.Around(place, o.scope.wideDepth()))
		depth, by := n.Depth, coverage.ByHearsay
		if o.scope.starting(now) { // others look for their depth, too: it is taken to be as ours
			depth, by = o.scope.depth, coverage.ByGuess
		}
		if o.scope.addContact(r, depth, by) && first {
			return firstElsewhere
		}
		return noNews
	}
	met := o.directory.Meet(now, from, r)
	o.pass()
	if met {
		return oneNear
	}
	return noNews
}

// introduce takes in a summary that a peer passes on unasked: one of its own, or of somebody who is like us. It says
// whether it brought anything.
func (o *Overlay) introduce(now time.Duration, from PeerID, i Introduction) bool {
	h, err := o.cfg.OpenHeader(i.Envelope)
	if err != nil || h.Seed != o.cfg.Seed || i.Run.First != 0 || h.Origin == string(o.cfg.Self) {
		return false
	}
	e := o.directory.Invite(now, from, group.Of(h).OriginTag())
	o.pass()
	if e == nil || e.Index() < o.directory.Owns() || e.Unwanted(now) {
		return false
	}
	r := o.directory.Take(now, e, PartsReceived{
		From: from, Way: Direct, Group: group.Of(h), Envelope: i.Envelope, Record: i.Record, Run: i.Run,
	})
	if r.Fault != "" {
		o.effects.Emit(Report{Peer: from, Fault: r.Fault})
	}
	o.directory.Judge(e)
	o.pass()
	if r.Learned != nil {
		o.effects.Emit(*r.Learned)
	}
	return r.Learned != nil
}

// onPeersSilent notes that an inquiry was not answered.
func (o *Overlay) onPeersSilent(in PeersSilent) {
	if !o.scope.awaits(in.From) {
		return
	}
	delete(o.scope.asked, in.From)
	defer o.contactsNamed(in.From)
	if in.Later {
		return
	}
	o.scope.contacts.Failed(exchange.PlaceOf(in.From), string(in.From))
	o.topology.DialFailed(o.now, in.From, o.directory.DialFailed(in.From))
}

// forgetInquiries gives up answers that were awaited for longer than any driver waits. So the memory of them is bounded
// where a driver says nothing at all. Nobody is to blame.
func (o *Overlay) forgetInquiries(now time.Duration) {
	for _, p := range slices.Sorted(maps.Keys(o.scope.asked)) {
		if now-o.scope.asked[p] >= inquiryTime {
			o.onPeersSilent(PeersSilent{From: p, Later: true})
		}
	}
}

// onContactAnswered notes how a contact answered a question about a key.
func (o *Overlay) onContactAnswered(in ContactAnswered) {
	switch at, p := exchange.PlaceOf(in.Peer), string(in.Peer); {
	case in.Failed:
		o.scope.contacts.Failed(at, p)
	case in.Proved:
		o.scope.contacts.Proved(at, p)
	case in.Denied:
		o.scope.contacts.Denied(at, p)
	default:
		o.scope.contacts.Answered(at, p, in.Depth)
	}
}

// onContactsWanted asks a few peers for contacts: in the ranges where there is none, else in those where there is one.
func (o *Overlay) onContactsWanted(in ContactsWanted) {
	s := &o.scope
	depth := min(s.depth, coverage.MaxBits)
	lacks := s.contacts.Lacks(1, depth)
	if lacks.Len() == 0 {
		lacks = s.contacts.Lacks(coverage.ContactsEach, depth)
	}
	asked := 0
	if lacks.Len() > 0 {
		q := Inquiry{Depth: s.depth, Lacks: lacks.Bytes(), Least: math.MaxUint16} // of the similar nobody
		for _, to := range o.scope.someToAsk(in.Ask) {
			asked++
			s.wanted[to.Peer] = []uint64{in.Search}
			o.askFor(in.Search, to, q)
		}
	}
	for p, searches := range s.wanted {
		if o.scope.prompt(p) && !slices.Contains(searches, in.Search) {
			s.wanted[p] = append(searches, in.Search)
		}
	}
	o.effects.Emit(ContactsNamed{Search: in.Search, Asked: asked, Awaited: o.scope.awaitedBy(in.Search)})
}

// contactsNamed tells the searches that wait for a peer that it has answered, or has not in time.
func (o *Overlay) contactsNamed(from PeerID) {
	searches := o.scope.wanted[from]
	delete(o.scope.wanted, from)
	for _, search := range searches {
		o.effects.Emit(ContactsNamed{Search: search, Awaited: o.scope.awaitedBy(search)})
	}
}
