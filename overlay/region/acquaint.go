package region

import (
	"cmp"
	"iter"
	"math"
	"slices"
	"time"

	"github.com/venn-p2p/venn/overlay/agenda"
	"github.com/venn-p2p/venn/overlay/bound"
	"github.com/venn-p2p/venn/overlay/directory"
	"github.com/venn-p2p/venn/overlay/space"
	"github.com/venn-p2p/venn/overlay/wire"
)

// A peer that covers a part of the network asks others, in rounds, for peers: for peers of its own range until it has
// links there, for contacts in ranges where it knows nobody, and for the most similar peers anywhere. Each peer asked
// answers from its directory and its contacts. Rounds that bring nothing come ever later (Gossip).

const (
	// clearlyMore is the factor by which a peer's overlap must exceed that of the least similar peer kept, to be fetched
	// in its place.
	clearlyMore = bound.Clearly
	// leastAlike is the least overlap of interest: peers with less share only a few keys that many hold.
	leastAlike = bound.Little
	// maxAlike is the largest number of similar peers considered.
	maxAlike = bound.Few
)

// Due returns the next time at which a peer may be asked, if nothing happens until then.
func (s *Region) Due() time.Duration {
	if s.depth > 0 || s.seeking(s.now) {
		return s.due.At(dueInquiry)
	}
	return agenda.Never
}

// Inquire returns the next peer to ask and the question; ok is false if nobody is to be asked now.
func (s *Region) Inquire(now time.Duration) (to wire.Record, q wire.Inquiry, ok bool) {
	if to, q, ok = s.next(now); ok {
		s.awaited[to.Peer] = inquiry{since: now}
	}
	return to, q, ok
}

// next chooses the peer and the question: first to find our range, then to look up a meeting place, then by gossip.
func (s *Region) next(now time.Duration) (to wire.Record, q wire.Inquiry, ok bool) {
	if s.own() == nil || !s.due.Take(dueInquiry, now) {
		return to, q, false
	}
	if to, ok = s.seek(now); ok {
		s.due.By(dueInquiry, now+seekEvery)
		q = s.inquiry(to.Peer)
		similar := s.similar()
		q.Near, q.Nearer, q.Known, q.Least = true, true, s.knownNearest(similar), s.least(similar)
		return to, q, true
	}
	if s.depth == 0 {
		s.due.By(dueInquiry, now+seekEvery)
		return to, q, false
	}
	similar := s.similar()
	if to, ok = s.meet(now, similar); ok {
		s.due.By(dueInquiry, now+seekEvery)
		delete(s.told, to.Peer) // our summary goes along again: the peer remembers a visitor by its summary
		q = s.inquiry(to.Peer)
		q.Meet, q.Known, q.Least = s.meeting.place, s.knownTo(similar, false), s.least(similar)
		return to, q, true
	}
	near := len(s.exchange.Meeting()) < RangeLinks
	if to, ok = s.whomToAsk(s.reachable(similar), near); !ok {
		s.due.By(dueInquiry, now+agenda.Beat)
		return to, q, false
	}
	s.due.By(dueInquiry, now+s.gossip.Asked())
	if l := s.directory.Link(to.Peer); l != nil {
		l.Gossiped = now
	}
	q = s.inquiry(to.Peer)
	q.Near, q.Known, q.Least = near, s.knownTo(similar, near), s.least(similar)
	return to, q, true
}

// similar returns the entries that have keys in common with us beyond doubt, the most similar first. Peers that cannot
// be dialled just now are included; otherwise others would name them again and again.
func (s *Region) similar() []*directory.Entry {
	var out []*directory.Entry
	for _, e := range s.directory.Others() {
		if e != nil && e.Held() != nil && e.Overlap().Low > 0 && e.Overlap().Value >= leastAlike && !e.Covered() && !e.Refuted() {
			out = append(out, e)
		}
	}
	slices.SortFunc(out, func(a, b *directory.Entry) int {
		return cmp.Or(cmp.Compare(b.Overlap().Value, a.Overlap().Value), cmp.Compare(a.Index(), b.Index()))
	})
	return out[:min(len(out), maxAlike)]
}

// reachable returns those of the entries all that can be dialled and owe no answer to an inquiry.
func (s *Region) reachable(all []*directory.Entry) (out []*directory.Entry) {
	for _, e := range all {
		if e.Record().Envelope != nil && e.DialFails() == 0 && !s.awaits(e.Peer()) {
			out = append(out, e)
		}
	}
	return out
}

// whomToAsk chooses the peer to ask in this round; near: peers of our range are wanted. A link costs no connection, so
// each is asked once before any stranger. Only a peer that knows no similar peer asks contacts: any other finds more
// similar peers at meeting places. No peer is asked while its answer is awaited: only the first answer would count.
func (s *Region) whomToAsk(similar []*directory.Entry, near bool) (wire.Record, bool) {
	stranger := s.gossip.Stranger() || len(similar) == 0
	if near && !stranger && s.gossip.Near() {
		if r, ok := s.nearby(); ok {
			return r, true
		}
		stranger = true
	}
	if stranger {
		if r, ok := s.unaskedLink(); ok {
			return r, true
		}
	}
	if linked := s.linkedAlike(similar); len(linked) > 0 {
		return linked[0].Record(), true
	}
	if len(similar) > 0 {
		return similar[s.gossip.Pick(len(similar), s.cfg.Rand)].Record(), true
	}
	all := slices.DeleteFunc(s.contacts.All(), func(c Contact) bool { return s.awaits(wire.PeerID(c.Peer)) })
	if len(all) == 0 {
		return s.nearby()
	}
	c := all[s.cfg.Rand.IntN(len(all))]
	return wire.Record{Peer: wire.PeerID(c.Peer), Envelope: c.Record}, true
}

// linkedAlike returns the similar peers that are linked and at least half as similar as the most similar one: asking
// them costs no connection. The peer asked longest ago comes first: it has had the most time to learn of others.
func (s *Region) linkedAlike(similar []*directory.Entry) (out []*directory.Entry) {
	for _, e := range similar {
		if 2*e.Overlap().Value >= similar[0].Overlap().Value && s.directory.IsLinked(e.Peer()) {
			out = append(out, e)
		}
	}
	slices.SortStableFunc(out, func(a, b *directory.Entry) int {
		return cmp.Compare(s.directory.Link(a.Peer()).Gossiped, s.directory.Link(b.Peer()).Gossiped)
	})
	return out
}

// unaskedLink draws a linked peer that was not asked since it was linked.
func (s *Region) unaskedLink() (wire.Record, bool) {
	var all []wire.Record
	for _, l := range s.directory.Links() {
		if r, ok := s.directory.RecordOf(l.Peer); ok && l.Gossiped == 0 && !s.awaits(l.Peer) {
			all = append(all, r)
		}
	}
	if len(all) == 0 {
		return wire.Record{}, false
	}
	return all[s.cfg.Rand.IntN(len(all))], true
}

// nearby draws one of the few peers nearest to us that can be asked, except peers asked in the search for our range.
func (s *Region) nearby() (wire.Record, bool) {
	all := nearest(s.place, s.askable(), RangeLinks)
	all = slices.DeleteFunc(all, func(l located) bool {
		_, sought := s.seeker.last[l.Record.Peer]
		return sought || s.awaits(l.Record.Peer)
	})
	if len(all) == 0 {
		return wire.Record{}, false
	}
	return all[s.cfg.Rand.IntN(len(all))].Record, true
}

// located is a peer that can be asked, with its place.
type located struct {
	wire.Named
	place space.Place
}

// askable yields the peers that can be asked: those with a record in the directory, and the contacts.
func (s *Region) askable() iter.Seq[located] {
	return func(yield func(located) bool) {
		for _, e := range s.directory.Others() {
			if e == nil || e.Record().Envelope == nil || e.Peer() == "" || e.DialFails() > 0 || e.Covered() {
				continue
			}
			depth, _ := s.depthOf(e)
			if !yield(located{wire.Named{Record: e.Record(), Depth: depth}, s.directory.Place(e)}) {
				return
			}
		}
		for c := range s.contacts.Each() {
			if c.Refuted() || c.Failed > 0 {
				continue
			}
			if !yield(located{wire.Named{Record: wire.Record{Peer: wire.PeerID(c.Peer), Envelope: c.Record}, Depth: int(c.Depth)}, c.Place}) {
				return
			}
		}
	}
}

// nearest returns the n located peers that are nearest to a place, each once. It is for small n.
func nearest(p space.Place, all iter.Seq[located], n int) []located {
	out := make([]located, 0, n+1)
	for l := range all {
		if len(out) == n && p.Distance(l.place) > p.Distance(out[n-1].place) {
			continue
		}
		at, has := slices.BinarySearchFunc(out, l, func(a, b located) int {
			return cmp.Or(cmp.Compare(p.Distance(a.place), p.Distance(b.place)), cmp.Compare(a.Record.Peer, b.Record.Peer))
		})
		if !has {
			out = slices.Insert(out, at, l)
			out = out[:min(len(out), n)]
		}
	}
	return out
}

// least returns the result of bar as an inquiry states it: from 0 to math.MaxUint16, for overlaps from 0 to 1.
func (s *Region) least(similar []*directory.Entry) uint16 {
	return uint16(math.MaxUint16 * min(1, s.bar(similar)))
}

// bar returns the overlap from which a peer is of interest: clearly more than the overlap of the least similar peer
// that there is room for. As long as rounds bring better peers, it is not far below the overlap of the most similar
// peer.
func (s *Region) bar(similar []*directory.Entry) float64 {
	if len(similar) == 0 {
		return leastAlike
	}
	bar := max(leastAlike, s.gossip.Bar(similar[0].Overlap().Value))
	left := s.similarRoom()
	for _, e := range similar {
		if s.directory.IsLinked(e.Peer()) || s.Range().Contains(s.directory.Place(e)) {
			continue
		}
		if left--; left == 0 {
			return max(bar, clearlyMore*e.Overlap().Value)
		}
	}
	if len(similar) == maxAlike {
		bar = max(bar, clearlyMore*similar[maxAlike-1].Overlap().Value)
	}
	return bar
}

// similarRoom returns the number of similar peers that the directory has room for, besides linked peers and peers of
// our range: SimilarShare of the room, or more if the range and the useful leave more; from 1 to maxAlike.
func (s *Region) similarRoom() int {
	most := float64(s.directory.UnlinkedCapacity())
	inside := 0
	for _, e := range s.directory.Others() {
		if e != nil && s.Range().Contains(s.directory.Place(e)) && !s.directory.IsLinked(e.Peer()) {
			inside++
		}
	}
	left := float64(most*(directory.RangeShare+directory.SimilarShare)) - float64(inside)
	return max(1, min(int(max(directory.SimilarShare*most, left)), maxAlike))
}

// inquiry returns the fields that every inquiry to a peer has, and our own summary if the peer lacks it.
func (s *Region) inquiry(to wire.PeerID) wire.Inquiry {
	lacks := s.lacks()
	q := wire.Inquiry{Depth: s.depth, Lacks: lacks.Bytes(), Own: s.Introduction(to)}
	if q.Own != nil {
		s.Introduced(to)
	}
	return q
}

// Introduction returns the first parts of our own summary for a peer that lacks them; none if the peer has announced
// this epoch on a link, or was told of it.
func (s *Region) Introduction(to wire.PeerID) []wire.Parts {
	own := s.directory.Own()
	ep, _ := own.Epoch()
	if s.told[to] == ep || s.exchange.Knows(to) {
		return nil
	}
	if i, ok := introduction(own); ok {
		return []wire.Parts{i}
	}
	return nil
}

// Introduced notes that a peer was told of our newest epoch.
func (s *Region) Introduced(to wire.PeerID) {
	if len(s.told) >= maxMet {
		clear(s.told)
	}
	s.told[to], _ = s.directory.Own().Epoch()
}

// knownNearest lists the similar peers and the space.Countable peers nearest to us, by place.
func (s *Region) knownNearest(similar []*directory.Entry) []wire.KnownOrigin {
	out := s.knownTo(similar, false)
	for _, l := range nearest(s.place, s.askable(), space.Countable) {
		out = append(out, wire.KnownOrigin{Place: uint32(l.place >> 32)})
	}
	return sortKnown(out)
}

// sortKnown sorts by place, and keeps only the latest epoch at each place.
func sortKnown(all []wire.KnownOrigin) []wire.KnownOrigin {
	slices.SortFunc(all, func(a, b wire.KnownOrigin) int {
		return cmp.Or(cmp.Compare(a.Place, b.Place), cmp.Compare(b.Sequence, a.Sequence))
	})
	return slices.CompactFunc(all, func(a, b wire.KnownOrigin) bool { return a.Place == b.Place })
}

// knownTo lists the similar peers, by place. With near, it adds the peers known in our range.
func (s *Region) knownTo(similar []*directory.Entry, near bool) []wire.KnownOrigin {
	var out []wire.KnownOrigin
	list := func(e *directory.Entry) {
		if len(out) < wire.MaxKnown {
			ep, _ := e.Epoch()
			out = append(out, wire.KnownOrigin{Place: uint32(s.directory.Place(e) >> 32), Sequence: uint16(ep.Sequence)})
		}
	}
	for _, e := range similar {
		list(e)
	}
	for _, e := range s.directory.Others() {
		if near && e != nil && e.Record().Envelope != nil && s.Range().Contains(s.directory.Place(e)) && !slices.Contains(similar, e) {
			list(e)
		}
	}
	return sortKnown(out)
}
