package overlay

import (
	"cmp"
	"iter"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/venn-p2p/venn/overlay/compare"
	"github.com/venn-p2p/venn/overlay/coverage"
	"github.com/venn-p2p/venn/overlay/directory"
	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/exchange"
	"github.com/venn-p2p/venn/overlay/group"
	"github.com/venn-p2p/venn/overlay/topology"
	"github.com/venn-p2p/venn/summary"
	"github.com/venn-p2p/venn/summary/estimate"
)

// A peer that covers a part of the network asks others, in rounds, for peers. It asks for peers of its own range until
// it has links there, and for contacts in ranges where it knows nobody. It also asks for the peers anywhere that are
// most like it. Whoever is asked answers from what it holds. Rounds that bring nothing come ever later
// (coverage.Gossip).

// acquaint asks somebody when it is time for it.
func (o *Overlay) acquaint(now time.Duration) {
	s := &o.scope
	if now < s.nextAsk || o.Own() == nil {
		return
	}
	if to, ok := o.seek(now); ok {
		s.nextAsk = now + seekEvery
		q := o.inquiry(to.Peer)
		similar := o.similar()
		q.Near, q.Nearer, q.Known, q.Least = true, true, o.knownNearest(similar), o.least(similar)
		o.ask(to, q)
		return
	}
	if s.depth == 0 {
		s.nextAsk = now + seekEvery
		return
	}
	similar := o.similar()
	if to, ok := o.meet(now, similar); ok {
		s.nextAsk = now + seekEvery
		delete(s.told, to.Peer) // who asks to be remembered says what it holds
		q := o.inquiry(to.Peer)
		q.Meet, q.Known, q.Least = s.meeting.place, o.knownTo(similar, false), o.least(similar)
		o.ask(to, q)
		return
	}
	near := len(o.exchange.Meeting()) < topology.RangeLinks
	to, ok := o.whomToAsk(o.reachable(similar), near)
	if !ok {
		s.nextAsk = now + neighbourEvery
		return
	}
	s.nextAsk = now + s.gossip.Asked()
	if o.exchange.IsLinked(to.Peer) {
		s.links[to.Peer] = now
	}
	q := o.inquiry(to.Peer)
	q.Near, q.Known, q.Least = near, o.knownTo(similar, near), o.least(similar)
	o.ask(to, q)
}

// ask sends a peer an inquiry.
func (o *Overlay) ask(to Record, q Inquiry) { o.askFor(0, to, q) }

// askFor sends a peer an inquiry for a search; 0: for none.
func (o *Overlay) askFor(search uint64, to Record, q Inquiry) {
	o.scope.asked[to.Peer] = o.now
	o.effects.Emit(AskPeers{To: to, Inquiry: q, Search: search})
	o.exchange.Spend(to.Peer, exchange.InquiryBytes(q))
}

// similar returns the entries that have keys in common with us beyond doubt, the most similar first. Those that cannot
// be dialled just now are among them: else others would name them again and again.
func (o *Overlay) similar() []*directory.Entry {
	var out []*directory.Entry
	for _, e := range o.directory.Others() {
		if e != nil && e.Held() != nil && e.Share().Low > 0 && e.Share().Value >= leastAlike && !e.Covered() && !e.Refuted() {
			out = append(out, e)
		}
	}
	slices.SortFunc(out, func(a, b *directory.Entry) int {
		return cmp.Or(cmp.Compare(b.Share().Value, a.Share().Value), cmp.Compare(a.Index(), b.Index()))
	})
	return out[:min(len(out), maxAlike)]
}

// reachable are those of the entries that can be asked now.
func (o *Overlay) reachable(all []*directory.Entry) (out []*directory.Entry) {
	for _, e := range all {
		if e.Record().Envelope != nil && e.DialFails() == 0 && !o.awaits(e.Peer()) {
			out = append(out, e)
		}
	}
	return out
}

// Alike is a peer and how much of our collection it holds, as estimated.
type Alike struct {
	Peer  PeerID
	Share estimate.Interval // at [Confidence]
	Keys  int               // that it holds in all
}

// Similar returns the peers that hold the most of our collection, of all whose summaries are known: the most similar
// first, at most n. Where the directory cannot hold everybody, gossip brings the similar.
func (o *Overlay) Similar(n int) []Alike {
	var out []Alike
	for _, e := range o.directory.Others() {
		if e != nil && e.Held() != nil && e.Judged() && !e.Covered() {
			out = append(out, Alike{e.Peer(), e.Share(), e.Held().Header().N})
		}
	}
	slices.SortFunc(out, func(a, b Alike) int {
		return cmp.Or(cmp.Compare(b.Share.Value, a.Share.Value), cmp.Compare(a.Peer, b.Peer))
	})
	return out[:min(len(out), n)]
}

// whomToAsk chooses who is asked in this round. A link costs no connection: each is asked once before any stranger. A
// peer that knows nobody alike asks contacts. Any other does not: its like are found where they meet. Nobody is asked
// whose answer is awaited: of two answers only the first would count.
func (o *Overlay) whomToAsk(similar []*directory.Entry, near bool) (Record, bool) {
	s := &o.scope
	stranger := s.gossip.Stranger() || len(similar) == 0
	if near && !stranger && s.gossip.Near() {
		if r, ok := o.nearby(); ok {
			return r, true
		}
		stranger = true
	}
	if stranger {
		if r, ok := o.unaskedLink(); ok {
			return r, true
		}
	}
	if linked := o.linkedAlike(similar); len(linked) > 0 {
		return linked[0].Record(), true
	}
	if len(similar) > 0 {
		return similar[s.gossip.Pick(len(similar), o.cfg.Rand)].Record(), true
	}
	all := slices.DeleteFunc(s.contacts.All(), func(c coverage.Contact) bool { return o.awaits(PeerID(c.Peer)) })
	if len(all) == 0 {
		return o.nearby()
	}
	c := all[o.cfg.Rand.IntN(len(all))]
	return Record{Peer: PeerID(c.Peer), Envelope: c.Record}, true
}

// linkedAlike are those of the similar that are linked and at least half as similar as the most similar one: asking
// them costs no connection. The peer not asked for longest comes first: it has had the most time to learn of others.
func (o *Overlay) linkedAlike(similar []*directory.Entry) (out []*directory.Entry) {
	for _, e := range similar {
		if 2*e.Share().Value >= similar[0].Share().Value && o.exchange.IsLinked(e.Peer()) {
			out = append(out, e)
		}
	}
	slices.SortStableFunc(out, func(a, b *directory.Entry) int {
		return cmp.Compare(o.scope.links[a.Peer()], o.scope.links[b.Peer()])
	})
	return out
}

// unaskedLink draws a linked peer that was not asked since it was linked.
func (o *Overlay) unaskedLink() (Record, bool) {
	var all []Record
	for _, p := range o.exchange.Linked() {
		if r, ok := o.Record(p); ok && o.scope.links[p] == 0 && !o.awaits(p) {
			all = append(all, r)
		}
	}
	if len(all) == 0 {
		return Record{}, false
	}
	return all[o.cfg.Rand.IntN(len(all))], true
}

// nearby draws one of the few peers nearest to us that can be asked. It leaves out those asked in the search for our
// range.
func (o *Overlay) nearby() (Record, bool) {
	all := nearest(o.scope.place, o.askable(), topology.RangeLinks)
	all = slices.DeleteFunc(all, func(l located) bool {
		_, sought := o.scope.seeker.last[l.Record.Peer]
		return sought || o.awaits(l.Record.Peer)
	})
	if len(all) == 0 {
		return Record{}, false
	}
	return all[o.cfg.Rand.IntN(len(all))].Record, true
}

// located is a peer that can be asked, with its place.
type located struct {
	Named
	place coverage.Place
}

// askable yields the peers that can be asked: those with a record in the directory, and the contacts.
func (o *Overlay) askable() iter.Seq[located] {
	return func(yield func(located) bool) {
		for _, e := range o.directory.Others() {
			if e == nil || e.Record().Envelope == nil || e.Peer() == "" || e.DialFails() > 0 || e.Covered() {
				continue
			}
			depth, _ := o.depthOf(e)
			if !yield(located{Named{Record: e.Record(), Depth: depth}, o.directory.Place(e)}) {
				return
			}
		}
		for c := range o.scope.contacts.Each() {
			if c.Refuted() || c.Failed > 0 {
				continue
			}
			if !yield(located{Named{Record: Record{Peer: PeerID(c.Peer), Envelope: c.Record}, Depth: c.Depth}, c.Place}) {
				return
			}
		}
	}
}

// nearest are the n of all that are nearest to a place, each peer once. It is for small n.
func nearest(p coverage.Place, all iter.Seq[located], n int) []located {
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

// least is the bar as an inquiry says it.
func (o *Overlay) least(similar []*directory.Entry) uint16 {
	return uint16(math.MaxUint16 * min(1, o.bar(similar)))
}

// bar is the overlap from which a peer is of interest. That is clearly more than the least similar peer has for which
// there is room. As long as rounds bring better peers, it is not far less than the most similar one has.
func (o *Overlay) bar(similar []*directory.Entry) float64 {
	if len(similar) == 0 {
		return leastAlike
	}
	bar := max(leastAlike, o.scope.gossip.Bar(similar[0].Share().Value))
	left := o.similarRoom()
	for _, e := range similar {
		if o.exchange.IsLinked(e.Peer()) || o.ownRange().Contains(o.directory.Place(e)) {
			continue
		}
		if left--; left == 0 {
			return max(bar, clearlyMore*e.Share().Value)
		}
	}
	if len(similar) == maxAlike {
		bar = max(bar, clearlyMore*similar[maxAlike-1].Share().Value)
	}
	return bar
}

// similarRoom is how many of the similar certainly have room, beside those in the range and the linked. That is their
// share, or what the range and the useful leave over.
func (o *Overlay) similarRoom() int {
	most := float64(o.cfg.MaxOrigins)
	inside := 0
	for _, e := range o.directory.Others() {
		if e != nil && o.ownRange().Contains(o.directory.Place(e)) && !o.exchange.IsLinked(e.Peer()) {
			inside++
		}
	}
	left := float64(most*(1-coverage.UsefulShare)) - float64(inside)
	return max(1, min(int(max(coverage.SimilarShare*most, left)), maxAlike))
}

// inquiry is what every question to a peer says.
func (o *Overlay) inquiry(to PeerID) Inquiry {
	s := &o.scope
	q := Inquiry{Depth: s.depth, Lacks: lacking(o.lacks(), s.depth)}
	own := o.directory.Own()
	ep, _ := own.Epoch()
	if s.told[to] != ep && !o.exchange.Knows(to) {
		if i, ok := introduction(own); ok {
			q.Own = []Introduction{i}
			if len(s.told) >= maxTold {
				clear(s.told)
			}
			s.told[to] = ep
		}
	}
	return q
}

// knownNearest lists the few known peers that are nearest to us and the similar, by place.
func (o *Overlay) knownNearest(similar []*directory.Entry) []KnownOrigin {
	out := o.knownTo(similar, false)
	for _, l := range nearest(o.scope.place, o.askable(), nearKnown) {
		out = append(out, KnownOrigin{Place: uint32(l.place >> 32)})
	}
	return sortKnown(out)
}

// sortKnown sorts by place, and leaves of those at one place the latest.
func sortKnown(all []KnownOrigin) []KnownOrigin {
	slices.SortFunc(all, func(a, b KnownOrigin) int {
		return cmp.Or(cmp.Compare(a.Place, b.Place), cmp.Compare(b.Sequence, a.Sequence))
	})
	return slices.CompactFunc(all, func(a, b KnownOrigin) bool { return a.Place == b.Place })
}

// knownTo lists the similar, and of a peer that looks for others of its range those that it knows there, by place.
func (o *Overlay) knownTo(similar []*directory.Entry, near bool) []KnownOrigin {
	var out []KnownOrigin
	listed := map[*directory.Entry]bool{}
	list := func(e *directory.Entry) {
		if !listed[e] && len(out) < event.MaxKnown {
			listed[e] = true
			ep, _ := e.Epoch()
			out = append(out, KnownOrigin{Place: uint32(o.directory.Place(e) >> 32), Sequence: uint16(ep.Sequence)})
		}
	}
	for _, e := range similar {
		list(e)
	}
	for _, e := range o.directory.Others() {
		if near && e != nil && e.Record().Envelope != nil && o.ownRange().Contains(o.directory.Place(e)) {
			list(e)
		}
	}
	return sortKnown(out)
}

// lacks lists, for the next inquiry, the ranges in which somebody is to be named to us: one in each wide range in which
// we know nobody. Once there are none, or a few inquiries did not change them, there are besides a few wide ranges in
// which we know one alone. The second can wait, but not for a range that stays empty.
func (o *Overlay) lacks() []coverage.Range {
	s := &o.scope
	depth := o.wideDepth()
	none := s.contacts.Lacks(1, depth)
	if s.emptyAsked++; !slices.Equal(none, s.empty) {
		s.empty, s.emptyAsked = none, 1
	}
	if len(none) > 0 && s.emptyAsked <= emptyFirst {
		return o.someOf(none)
	}
	one := slices.DeleteFunc(s.contacts.Lacks(coverage.ContactsEach, depth), func(r coverage.Range) bool { return slices.Contains(none, r) })
	o.cfg.Rand.Shuffle(len(one), func(i, j int) { one[i], one[j] = one[j], one[i] })
	return o.someOf(append(slices.Clip(none), one[:min(len(one), secondContacts)]...))
}

// wideDepth is the depth of the ranges in each of which contacts are looked for beforehand. Those of all narrower ranges
// would cost more than most searches need: see wanted.go.
func (o *Overlay) wideDepth() int { return min(o.scope.depth, wideRanges) }

// someOf draws, for each of some wide ranges, a range of our own depth in it without a contact. It adds those without a
// contact that this peer needs before others: near its own range, and where it looks for its like.
func (o *Overlay) someOf(wide []coverage.Range) []coverage.Range {
	s := &o.scope
	depth := min(s.depth, coverage.MaxBits)
	if depth == o.wideDepth() {
		return wide
	}
	var out []coverage.Range
	empty := s.contacts.Lacks(1, depth)
	for _, w := range wide {
		first, _ := slices.BinarySearchFunc(empty, w, byFirst)
		end := first
		for end < len(empty) && w.Covers(empty[end]) {
			end++
		}
		if end > first {
			out = append(out, empty[first+o.cfg.Rand.IntN(end-first)])
		}
	}
	near, meeting := coverage.Around(s.place, o.wideDepth()), o.meetingPlaces()
	for _, r := range empty {
		if near.Covers(r) || slices.ContainsFunc(meeting, r.Contains) {
			out = append(out, r)
		}
	}
	return out
}

// byFirst orders ranges by where they begin.
func byFirst(a, b coverage.Range) int { return cmp.Compare(a.First(), b.First()) }

// lacking is a bitmap of ranges of a depth.
func lacking(ranges []coverage.Range, depth int) []byte {
	if len(ranges) == 0 {
		return nil
	}
	depth = min(depth, coverage.MaxBits)
	b := make([]byte, (1<<depth+7)/8)
	for _, r := range ranges {
		i := uint64(r.First()) >> (64 - depth)
		b[i/8] |= 0x80 >> (i % 8)
	}
	return b
}

// lacksIn says whether an asker lacks a contact anywhere in a range that is no deeper than its own.
func lacksIn(q Inquiry, r coverage.Range) bool {
	depth := min(q.Depth, coverage.MaxBits)
	first := int(uint64(r.First()) >> (64 - depth))
	for i := first; i < first+1<<(depth-r.Depth()); i++ {
		if q.Lacks[i/8]&(0x80>>(i%8)) != 0 {
			return true
		}
	}
	return false
}

// onPeersAsked answers an inquiry.
func (o *Overlay) onPeersAsked(now time.Duration, in PeersAsked) {
	q := in.Inquiry
	asker := exchange.PlaceOf(in.From)
	out := Names{Depth: o.Vouched()}
	if o.scope.served++; o.scope.served > maxServed || !o.exchange.Spare() {
		o.effects.Emit(AnswerPeers{To: in.From, Request: in.Request, Names: out})
		return
	}
	for _, i := range q.Own[:min(len(q.Own), 1)] {
		o.introduce(now, in.From, i)
	}
	known := make(map[uint32]uint16, len(q.Known))
	for _, k := range q.Known {
		known[k.Place] = k.Sequence
	}
	if q.Near {
		o.scope.seeker.asks(in.From)
		within := uint64(math.MaxUint64)
		if q.Nearer {
			within = nearness(asker, known)
		}
		out.Peers = o.namesNear(coverage.Around(asker, q.Depth), within, asker, in.From, known)
	}
	if q.Meet != 0 {
		out.Peers = append(out.Peers, o.nearerThanWe(q.Meet, in.From)...)
	}
	out.Peers = append(out.Peers, o.namesOf(q, in.From, event.MaxNamed-len(out.Peers))...)
	out.Similar = o.alike(in.From, q, known)
	if q.Meet != 0 {
		o.visit(now, in.From)
	}
	o.effects.Emit(AnswerPeers{To: in.From, Request: in.Request, Names: out})
	o.exchange.Spend(in.From, exchange.NamesBytes(out))
}

// namesNear are the peers of an asker's range, nearest first, that it does not know, no farther from it than within.
func (o *Overlay) namesNear(own coverage.Range, within uint64, asker coverage.Place, from PeerID, known map[uint32]uint16) []Named {
	news := func(l located) bool {
		_, knows := known[uint32(l.place>>32)]
		return !knows && l.Record.Peer != from && own.Contains(l.place) && asker.Distance(l.place) <= within
	}
	all := func(yield func(located) bool) {
		for l := range o.askable() {
			if news(l) && !yield(l) {
				return
			}
		}
		self := located{Named{Record: o.directory.Own().Record(), Depth: o.scope.depth}, o.scope.place}
		if self.Record.Envelope != nil && news(self) {
			yield(self)
		}
	}
	var out []Named
	for _, l := range nearest(asker, all, event.MaxNamed/2) {
		out = append(out, l.Named)
	}
	return out
}

// nearness is the distance within which a peer is of use to an asker: nearer than the farthest of the nearKnown that
// the asker knows.
func nearness(asker coverage.Place, known map[uint32]uint16) uint64 {
	if len(known) < nearKnown {
		return math.MaxUint64
	}
	distances := make([]uint64, 0, len(known))
	for p := range known {
		distances = append(distances, asker.Distance(coverage.Place(p)<<32))
	}
	slices.Sort(distances)
	return distances[nearKnown-1]
}

// namesOf are peers of the ranges that an asker lacks, one of each, beginning anywhere. Before them come the few widest
// that cover any of these ranges and far more than the asker.
func (o *Overlay) namesOf(q Inquiry, from PeerID, most int) []Named {
	depth := min(max(q.Depth, 0), coverage.MaxBits)
	if len(q.Lacks) == 0 || len(q.Lacks) != (1<<depth+7)/8 || most <= 0 {
		return nil
	}
	lacks := func(p coverage.Place) (int, bool) {
		i := int(uint64(p) >> (64 - depth))
		return i, q.Lacks[i/8]&(0x80>>(i%8)) != 0
	}
	if depth == 0 {
		return nil
	}
	byRange := map[int]Named{}
	var order []int
	out := o.widest(q, from, min(most, widestNamed))
	for l := range o.askable() {
		i, wanted := lacks(l.place)
		_, has := byRange[i]
		isOut := func(n Named) bool { return n.Record.Peer == l.Record.Peer }
		if !wanted || l.Record.Peer == from || slices.ContainsFunc(out, isOut) || has && o.cfg.Rand.IntN(2) == 0 {
			continue
		}
		if !has {
			order = append(order, i)
		}
		byRange[i] = l.Named
	}
	o.cfg.Rand.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	for _, i := range order[:min(len(order), most-len(out))] {
		out = append(out, byRange[i])
	}
	return out
}

// widest are up to n of the peers that cover far more than an asker, and ranges that it lacks: the widest first, of
// equals the one nearest to the asker. So not all ask the same. There are none while others may not know their range.
func (o *Overlay) widest(q Inquiry, from PeerID, n int) (out []Named) {
	if o.starting(o.now) {
		return nil
	}
	asker := exchange.PlaceOf(from)
	var all []located
	for l := range o.askable() {
		if l.Depth+coverage.FarWider <= min(q.Depth, coverage.MaxBits) && l.Record.Peer != from && lacksIn(q, coverage.Around(l.place, l.Depth)) {
			all = append(all, l)
		}
	}
	slices.SortFunc(all, func(a, b located) int {
		return cmp.Or(cmp.Compare(a.Depth, b.Depth), cmp.Compare(asker.Distance(a.place), asker.Distance(b.place)), cmp.Compare(a.Record.Peer, b.Record.Peer))
	})
	for _, l := range all {
		if len(out) < n && (len(out) == 0 || out[0].Record.Peer != l.Record.Peer) {
			out = append(out, l.Named)
		}
	}
	return out
}

// alike are the summaries of the peers most like an asker. They hold more of its collection than the least similar one
// that it keeps. It needs the asker's summary.
func (o *Overlay) alike(from PeerID, q Inquiry, known map[uint32]uint16) []Introduction {
	asker := o.directory.Lookup(from)
	if asker == nil || asker.Held() == nil || asker.Old() || q.Least == math.MaxUint16 {
		return nil
	}
	var samples compare.Samples
	samples.SetOwn(asker.Held())
	n, least := float64(asker.Held().Header().N), float64(q.Least)/math.MaxUint16
	var all []coverage.Likeness
	entries, visitors := map[coverage.Place]*directory.Entry{}, map[coverage.Place]*visitor{}
	consider := func(p coverage.Place, held *summary.Prefix) bool {
		common, ok := samples.With(o.cfg.Sample(held), Confidence)
		share := common.Value / max(1, n)
		if !ok || common.Low <= 0 || share <= least {
			return false
		}
		all = append(all, coverage.Likeness{Place: p, Overlap: share})
		return true
	}
	for _, e := range o.directory.Others() {
		if e == nil || e.Held() == nil || e.Old() || e == asker || e.Record().Envelope == nil || e.DialFails() > 0 {
			continue
		}
		p := o.directory.Place(e)
		if seq, knows := known[uint32(p>>32)]; knows {
			ep, _ := e.Epoch()
			if int16(uint16(ep.Sequence)-seq) <= 0 {
				continue
			}
		}
		if consider(p, e.Held()) {
			entries[p] = e
		}
	}
	for i := range o.scope.meeting.visitors {
		v := &o.scope.meeting.visitors[i]
		_, knows := known[uint32(v.place>>32)]
		if e := o.directory.Lookup(v.peer); q.Meet == 0 || knows || v.peer == from || o.now >= v.until || e != nil && e.Held() != nil {
			continue
		}
		if consider(v.place, v.prefix) {
			visitors[v.place] = v
		}
	}
	none := func(coverage.Place) bool { return false }
	var out []Introduction
	for _, l := range coverage.Introduce(exchange.PlaceOf(from), least, none, all) {
		if v := visitors[l.Place]; v != nil {
			out = append(out, v.says)
		} else if i, ok := introduction(entries[l.Place]); ok {
			out = append(out, i)
		}
	}
	return out
}

// onPeersNamed takes in an answer to an inquiry.
func (o *Overlay) onPeersNamed(now time.Duration, in PeersNamed) {
	s := &o.scope
	if !o.awaits(in.From) {
		return
	}
	delete(s.asked, in.From)
	defer o.contactsNamed(in.From)
	if place := exchange.PlaceOf(in.From); o.starting(now) {
		s.contacts.Lives(place, string(in.From))
	} else {
		s.contacts.Answered(place, string(in.From), in.Names.Depth)
	}
	o.meetAnswered(in.From)
	for _, n := range in.Names.Peers[:min(len(in.Names.Peers), event.MaxNamed)] {
		o.meetNamed(in.From, n.Record)
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
	if place := exchange.PlaceOf(r.Peer); !o.ownRange().Contains(place) {
		first := o.scope.contacts.Empty(coverage.Around(place, o.wideDepth()))
		depth, guessed := n.Depth, false
		if o.starting(now) { // others look for their depth, too: it is taken to be as ours
			depth, guessed = o.scope.depth, true
		}
		if o.addContact(r, depth, guessed) && first {
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
	if !o.awaits(in.From) {
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

const (
	// clearlyMore is how much more overlap than the least similar peer kept another must have to be fetched in its
	// place.
	clearlyMore = 1.25
	// leastAlike is the least overlap that is of interest: those with less have a few keys in common that many hold.
	leastAlike = 1.0 / 64
	// wideRanges is the greatest depth of the ranges in each of which contacts are looked for before a search needs them.
	wideRanges = 5
	// widestNamed is how many peers an answer names for covering far more than the asker.
	widestNamed = 2
	// secondContacts is in how many ranges a second contact is looked for at a time.
	secondContacts = 2
	// emptyFirst is how many inquiries in a row ask for contacts in the same empty ranges alone.
	emptyFirst = 4
	// nearKnown is how many of those nearest to it an asker names that looks for nearer ones. The same number serves to
	// estimate the size of the network.
	nearKnown = 16
	// maxAlike is the most similar ones that are reckoned with.
	maxAlike = event.MaxKnown * 3 / 4
	// inquiryTime is how long an answer is awaited at most. A node gives up after less.
	inquiryTime = 2 * time.Minute
	// sampleBytes is how much of a summary an introduction carries, unless a first part is larger.
	sampleBytes = 1 << 10
)

// introduction is the first parts of what is held of an entry.
func introduction(e *directory.Entry) (Introduction, bool) {
	p := e.Newest()
	if p == nil || p.Parts() == 0 || e.Record().Envelope == nil {
		return Introduction{}, false
	}
	end := 1
	for end < p.Parts() && p.Plan().EncodedBytes(end+1) <= sampleBytes {
		end++
	}
	run, err := p.Run(0, end)
	return Introduction{Envelope: e.Envelope(p), Record: e.Record().Envelope, Run: run}, err == nil
}
