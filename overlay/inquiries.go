package overlay

import (
	"time"

	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/exchange"
	"github.com/venn-p2p/venn/overlay/group"
	"github.com/venn-p2p/venn/overlay/region"
	"github.com/venn-p2p/venn/overlay/wire"
)

// acquaint asks somebody when it is time for it.
func (o *Overlay) acquaint(now time.Duration) {
	if to, q, ok := o.region.Inquire(now); ok {
		o.inquire(0, to, q)
	}
}

// inquire sends a peer an inquiry for a search; 0: for none.
func (o *Overlay) inquire(search uint64, to wire.Record, q wire.Inquiry) {
	o.effects.Emit(event.AskPeers{To: to, Inquiry: q, Search: search})
	o.exchange.Spend(to.Peer, exchange.Cost(q))
}

// onPeersAsked answers an inquiry.
func (o *Overlay) onPeersAsked(now time.Duration, in event.PeersAsked) {
	q := in.Inquiry
	if !o.region.Serves(in.From) || !o.exchange.Spare() {
		o.effects.Emit(event.AnswerPeers{To: in.From, Request: in.Request, Names: wire.Names{Depth: o.region.Vouched()}})
		return
	}
	for _, i := range q.Own[:min(len(q.Own), 1)] {
		o.introduce(now, in.From, i)
	}
	names := o.region.Answer(in.From, q)
	if q.Meet != 0 {
		o.region.Visit(now, in.From)
		o.directory.Beside(o.region.VisitorBytes())
	}
	o.effects.Emit(event.AnswerPeers{To: in.From, Request: in.Request, Names: names})
	o.exchange.Spend(in.From, exchange.Cost(names))
}

// onPeersNamed takes in an answer to an inquiry.
func (o *Overlay) onPeersNamed(now time.Duration, in event.PeersNamed) {
	if !o.region.Answered(now, in.From, in.Names.Depth) {
		return
	}
	for _, n := range in.Names.Peers[:min(len(in.Names.Peers), wire.MaxNamed)] {
		o.region.Nearer(in.From, n.Record)
		o.region.Learned(o.learnPeer(now, in.From, n))
	}
	for _, i := range in.Names.Similar[:min(len(in.Names.Similar), wire.MaxSimilar)] {
		if o.introduce(now, in.From, i) {
			o.region.Learned(region.OneAlike)
		}
	}
	o.contactsNamed(in.From)
}

// learnPeer takes in a peer that another names: an entry if it is of the own range, else a contact.
func (o *Overlay) learnPeer(now time.Duration, from wire.PeerID, n wire.Named) region.News {
	r := n.Record
	if r.Peer == o.cfg.Self {
		return region.NoNews
	}
	if e := o.directory.Lookup(r.Peer); e != nil && e.Record().Envelope != nil {
		return region.NoNews
	}
	if p, err := o.cfg.OpenRecord(r.Envelope); err != nil || p != r.Peer {
		o.effects.Emit(event.Report{Peer: from, Fault: event.FaultRecord})
		return region.NoNews
	}
	if !o.region.Range().Contains(exchange.PlaceOf(r.Peer)) {
		return o.region.Elsewhere(now, n)
	}
	met := o.directory.Meet(now, from, r)
	o.pass()
	if met {
		return region.OneNear
	}
	return region.NoNews
}

// introduce takes in a summary that a peer passes on unasked: one of its own, or of somebody who is like us. It says
// whether it brought anything.
func (o *Overlay) introduce(now time.Duration, from wire.PeerID, i wire.Parts) bool {
	h, err := o.cfg.OpenHeader(i.Envelope)
	if err != nil || h.Seed != o.cfg.Seed || i.Run.First != 0 || h.Origin == string(o.cfg.Self) {
		return false
	}
	e := o.directory.Invite(now, from, group.Of(h).OriginTag())
	o.pass()
	if e == nil || e.Index() < o.directory.Owns() || e.Unwanted(now) {
		return false
	}
	r := o.directory.Take(now, e, event.PartsReceived{
		From: from, Transport: event.Direct, Group: group.Of(h), Parts: i,
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

// onPeersSilent notes that an inquiry was not answered.
func (o *Overlay) onPeersSilent(in event.PeersSilent) {
	if !o.region.Silent(in.From, in.Later) {
		return
	}
	if !in.Later {
		o.topology.DialFailed(o.now, in.From, o.directory.DialFailed(in.From))
	}
	o.contactsNamed(in.From)
}

// forgetInquiries gives up answers that were awaited for longer than any driver waits. So the memory of them is bounded
// where a driver says nothing at all. Nobody is to blame.
func (o *Overlay) forgetInquiries(now time.Duration) {
	for _, p := range o.region.Overdue(now) {
		o.onPeersSilent(event.PeersSilent{From: p, Later: true})
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

// contactsNamed tells the searches that wait for a peer that it has answered, or has not in time.
func (o *Overlay) contactsNamed(from wire.PeerID) {
	for _, search := range o.region.Release(from) {
		o.effects.Emit(event.ContactsNamed{Search: search, Awaited: o.region.AwaitedBy(search)})
	}
}
