package overlay

import (
	"time"

	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/exchange"
	"github.com/venn-p2p/venn/overlay/region"
	"github.com/venn-p2p/venn/overlay/wire"
)

// acquaint sends the next inquiry that is due, if any.
func (o *Overlay) acquaint(now time.Duration) {
	if to, q, ok := o.region.Inquire(now); ok {
		o.inquire(0, to, q)
	}
}

// inquire sends a peer the inquiry q on behalf of a search. A search of 0 means that it serves none.
func (o *Overlay) inquire(search uint64, to wire.Record, q wire.Inquiry) {
	o.effects.Emit(event.Ask{To: to, Question: q, Search: search})
	o.exchange.Spend(to.Peer, exchange.Cost(q))
}

// onInquiry answers an inquiry. It keeps the asker's summary first: the answer names peers that are like the asker.
func (o *Overlay) onInquiry(now time.Duration, in event.Asked, q wire.Inquiry) {
	for _, i := range q.Own[:min(len(q.Own), 1)] {
		o.introduce(now, in.From, i)
	}
	if !o.answer(now, in, o.region.Answer(in.From, q)) {
		return
	}
	if q.Meet != 0 {
		o.region.Visit(now, in.From)
		o.directory.Beside(o.region.VisitorBytes())
	}
}

// answer sends names to an asker, or refuses if the asker's share of our line is used up. It returns false then. A hello
// for which there is no room is answered without names.
func (o *Overlay) answer(now time.Duration, in event.Asked, names wire.Names) bool {
	had, a := o.exchange.Serve(now, in, exchange.Cost(names)), event.Answer{Request: in.Request}
	_, greets := in.Question.(wire.Hello)
	switch {
	case had:
		a.Answer = names
	case greets:
		a.Answer = wire.Names{Depth: names.Depth}
	}
	o.effects.Emit(a)
	return had
}

// onNames learns the peers and the summaries in an answer to an inquiry.
func (o *Overlay) onNames(now time.Duration, from wire.PeerID, names wire.Names) {
	if !o.region.Answered(now, from, names.Depth) {
		return
	}
	for _, n := range names.Peers[:min(len(names.Peers), wire.MaxNamed)] {
		o.region.Nearer(from, n.Record)
	}
	o.learnNames(now, from, names)
	o.contactsNamed(from)
}

// learnNames learns the peers and the summaries that another peer names.
func (o *Overlay) learnNames(now time.Duration, from wire.PeerID, names wire.Names) {
	for _, n := range names.Peers[:min(len(names.Peers), wire.MaxNamed)] {
		o.region.Learned(o.learnPeer(now, from, n))
	}
	for _, i := range names.Introductions[:min(len(names.Introductions), wire.MaxIntroduced)] {
		if o.introduce(now, from, i) {
			o.region.Learned(region.OneAlike)
		}
	}
}

// learnPeer keeps a peer that another peer names, as an entry if it is in our range, else as a contact.
func (o *Overlay) learnPeer(now time.Duration, from wire.PeerID, n wire.Named) region.News {
	r := n.Record
	if r.Peer == o.cfg.Self {
		return region.NoNews
	}
	if e := o.directory.Lookup(r.Peer); e != nil && e.Record().Envelope != nil {
		return region.NoNews
	}
	if o.region.Range().Contains(r.Peer.Place()) {
		o.learnRecord(now, from, r)
		o.pass()
		if _, known := o.directory.RecordOf(r.Peer); known {
			return region.OneNear
		}
		return region.NoNews
	}
	if p, err := o.cfg.OpenRecord(r.Envelope); err != nil || p != r.Peer {
		o.effects.Emit(event.Report{Peer: from, Fault: event.FaultRecord})
		return region.NoNews
	}
	return o.region.Elsewhere(now, n)
}

// introduce keeps the first parts of a summary that came with an inquiry or an answer: the sender's own, or that of a
// peer similar to us. It reports whether any part is new.
func (o *Overlay) introduce(now time.Duration, from wire.PeerID, i wire.Parts) bool {
	h, err := o.cfg.OpenHeader(i.Envelope)
	if err != nil || h.Seed != o.cfg.Seed || i.Run.First != 0 || h.Origin == string(o.cfg.Self) {
		return false
	}
	e := o.directory.Invite(now, from, wire.GroupOf(h).OriginTag())
	o.pass()
	if e == nil || e.Index() < o.directory.Owns() || e.Unwanted(now) {
		return false
	}
	r := o.directory.Take(now, e, event.PartsReceived{
		From: from, Transport: event.Direct, Group: wire.GroupOf(h), Parts: i,
	})
	if r.Fault != "" {
		o.effects.Emit(event.Report{Peer: from, Fault: r.Fault})
	}
	o.directory.Judge(e)
	o.pass()
	if r.Learned != nil {
		o.effects.Emit(*r.Learned)
	}
	return r.Learned != nil
}

// onNoNames notes that an inquiry was not answered. If here is set, the peer is not to blame: for example, there was no
// room at our end.
func (o *Overlay) onNoNames(from wire.PeerID, here bool) {
	if !o.region.Silent(from, here) {
		return
	}
	if !here {
		o.directory.DialFailed(from)
		o.topology.DialFailed(o.now, from)
	}
	o.contactsNamed(from)
}

// forgetInquiries gives up answers that were awaited for longer than any driver waits. So their memory is bounded even
// if a driver reports nothing. Nobody is to blame.
func (o *Overlay) forgetInquiries(now time.Duration) {
	for _, p := range o.region.Overdue(now) {
		o.onNoNames(p, true)
	}
}

// onContactsWanted asks a few peers for the contacts that a search wants.
func (o *Overlay) onContactsWanted(in event.ContactsWanted) {
	to, q := o.region.Want(in.Search, in.Ask)
	for _, r := range to {
		o.inquire(in.Search, r, q)
	}
	o.effects.Emit(event.ContactsNamed{Search: in.Search, Asked: len(to), Awaited: o.region.AwaitedBy(in.Search)})
}

// contactsNamed informs the searches that wait for a peer's answer: it has come, or is no longer awaited.
func (o *Overlay) contactsNamed(from wire.PeerID) {
	for _, search := range o.region.Release(from) {
		o.effects.Emit(event.ContactsNamed{Search: search, Awaited: o.region.AwaitedBy(search)})
	}
}
