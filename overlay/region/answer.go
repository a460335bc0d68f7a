package region

import (
	"cmp"
	"iter"
	"math"
	"slices"

	"github.com/venn-p2p/venn/overlay/compare"
	"github.com/venn-p2p/venn/overlay/directory"
	"github.com/venn-p2p/venn/overlay/space"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

const (
	// mostSample is the size up to which an introduction carries parts of a summary. A summary with a larger first part is
	// not passed on: the answer would be too long, and the asker would blame us.
	mostSample = 2 << 10
)

// Answer names peers to an asker: near its place, nearer than we are to the place that it looks up, and in the ranges
// where it lacks contacts. It adds the summaries of peers similar to the asker.
func (s *Region) Answer(from wire.PeerID, q wire.Inquiry) wire.Names {
	out := wire.Names{Depth: s.seen.vouched}
	asker := from.Place()
	known := make(map[uint32]uint16, len(q.Known))
	for _, k := range q.Known {
		known[k.Place] = k.Sequence
	}
	if q.Near {
		s.seeker.asks(from)
		within := uint64(math.MaxUint64)
		if q.Nearer {
			within = nearness(asker, known)
		}
		out.Peers = s.namesNear(space.Around(asker, q.Depth), within, asker, from, known)
	}
	if q.Meet != 0 {
		out.Peers = append(out.Peers, s.nearerThanWe(q.Meet, from)...)
	}
	out.Peers = append(out.Peers, s.namesOf(q, from, wire.MaxNamed-len(out.Peers))...)
	out.Introductions = s.alike(from, q, known)
	return out
}

// namesNear returns peers in the asker's range own that it does not know, nearest first, at distances up to within.
func (s *Region) namesNear(own space.Range, within uint64, asker space.Place, from wire.PeerID, known map[uint32]uint16) []wire.Named {
	news := func(l located) bool {
		_, knows := known[uint32(l.place>>32)]
		return !knows && l.Record.Peer != from && own.Contains(l.place) && asker.Distance(l.place) <= within
	}
	all := func(yield func(located) bool) {
		for l := range s.askable() {
			if news(l) && !yield(l) {
				return
			}
		}
		self := located{wire.Named{Record: s.directory.Own().Record(), Depth: s.depth}, s.place}
		if self.Record.Envelope != nil && news(self) {
			yield(self)
		}
	}
	var out []wire.Named
	for _, l := range nearest(asker, all, wire.MaxNamed/2) {
		out = append(out, l.Named)
	}
	return out
}

// nearness returns the distance within which a peer is of use to an asker: the distance of the space.Countable-th nearest
// peer that the asker knows.
func nearness(asker space.Place, known map[uint32]uint16) uint64 {
	if len(known) < space.Countable {
		return math.MaxUint64
	}
	distances := make([]uint64, 0, len(known))
	for p := range known {
		distances = append(distances, asker.Distance(space.Place(p)<<32))
	}
	slices.Sort(distances)
	return distances[space.Countable-1]
}

// namesOf returns peers of the ranges where an asker lacks contacts, one each, in random order, and in all no more than
// most. Up to ContactsEach peers come first: the widest that cover any of these ranges, and far more than the asker
// does.
func (s *Region) namesOf(q wire.Inquiry, from wire.PeerID, most int) []wire.Named {
	depth := min(max(q.Depth, 0), space.MaxBits)
	if len(q.Lacks) == 0 || len(q.Lacks) != (1<<depth+7)/8 || most <= 0 {
		return nil
	}
	lacks := func(p space.Place) (int, bool) {
		i := int(uint64(p) >> (64 - depth))
		return i, q.Lacks[i/8]&(0x80>>(i%8)) != 0
	}
	if depth == 0 {
		return nil
	}
	byRange := map[int]wire.Named{}
	var order []int
	out := s.widest(q, from, min(most, ContactsEach))
	for l := range s.askable() {
		i, wanted := lacks(l.place)
		_, has := byRange[i]
		isOut := func(n wire.Named) bool { return n.Record.Peer == l.Record.Peer }
		if !wanted || l.Record.Peer == from || slices.ContainsFunc(out, isOut) || has && s.cfg.Rand.IntN(2) == 0 {
			continue
		}
		if !has {
			order = append(order, i)
		}
		byRange[i] = l.Named
	}
	s.cfg.Rand.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	for _, i := range order[:min(len(order), most-len(out))] {
		out = append(out, byRange[i])
	}
	return out
}

// widest returns up to n peers that cover far more than an asker, ranges where it lacks contacts among them. The widest
// come first. Equals go by nearness to the asker, so that not all askers get the same peers. It returns none while our
// range may soon change: then other peers may not know their range yet, either.
func (s *Region) widest(q wire.Inquiry, from wire.PeerID, n int) (out []wire.Named) {
	if s.Starting(s.now) {
		return nil
	}
	asker := from.Place()
	var all []located
	for l := range s.askable() {
		if l.Depth+FarWider <= min(q.Depth, space.MaxBits) && l.Record.Peer != from && lacksIn(q, space.Around(l.place, l.Depth)) {
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

// alike returns the summaries of the peers most similar to an asker, if they hold a larger part of its collection than
// q.Least. Without the asker's summary it returns none. Of many entries it compares only some, see someOthers.
func (s *Region) alike(from wire.PeerID, q wire.Inquiry, known map[uint32]uint16) []wire.Parts {
	asker := s.directory.Lookup(from)
	if asker == nil || asker.Held() == nil || asker.Old() || q.Least == math.MaxUint16 {
		return nil
	}
	var samples compare.Samples
	samples.SetOwn(asker.Held())
	n, least := float64(asker.Held().Header().N), float64(q.Least)/math.MaxUint16
	var all []likeness
	consider := func(l likeness, held *summary.Prefix) {
		common, ok := samples.With(held, directory.Confidence)
		l.overlap = common.Value / max(1, n)
		if ok && common.Low > 0 && l.overlap > least {
			all = append(all, l)
		}
	}
	for p, e := range s.unknownTo(asker, known) {
		consider(likeness{place: p, entry: e}, e.Held())
	}
	if q.Meet != 0 {
		for v := range s.visitorsFor(from, known) {
			consider(likeness{place: v.place, visitor: v}, v.prefix)
		}
	}
	var out []wire.Parts
	for _, l := range mostAlike(from.Place(), all) {
		if l.visitor != nil {
			out = append(out, l.visitor.says)
		} else if i, ok := introduction(l.entry); ok {
			out = append(out, i)
		}
	}
	return out
}

// unknownTo yields, by place, the entries that an asker can be introduced to: it knows no summary of theirs, or only an
// earlier epoch.
func (s *Region) unknownTo(asker *directory.Entry, known map[uint32]uint16) iter.Seq2[space.Place, *directory.Entry] {
	return func(yield func(space.Place, *directory.Entry) bool) {
		for _, e := range s.someOthers() {
			if e == nil || e.Held() == nil || e.Old() || e == asker || e.Record().Envelope == nil || e.DialFails() > 0 {
				continue
			}
			p := s.directory.Place(e)
			ep, _ := e.Epoch()
			if seq, knows := known[uint32(p>>32)]; knows && int16(uint16(ep.Sequence)-seq) <= 0 {
				continue
			}
			if !yield(p, e) {
				return
			}
		}
	}
}

// someOthers returns the entries of other peers. If there are more than directory.LookedAt, it returns that many in a
// row, from a random entry on.
func (s *Region) someOthers() []*directory.Entry {
	all := s.directory.Others()
	if len(all) <= directory.LookedAt {
		return all
	}
	return window(all, directory.LookedAt, s.cfg.Rand.IntN(len(all)))
}

// window returns n elements of all in a row, starting at from. After the last element it goes on with the first.
func window[T any](all []T, n, from int) []T {
	some := all[from:min(from+n, len(all))]
	return slices.Concat(some, all[:n-len(some)])
}

// introduction returns the first parts held of an entry; false without parts or record, or if the first is too large.
func introduction(e *directory.Entry) (wire.Parts, bool) {
	p := e.Newest()
	if p == nil || p.Parts() == 0 || e.Record().Envelope == nil {
		return wire.Parts{}, false
	}
	end := 1
	for end < p.Parts() && p.Plan().EncodedBytes(end+1) <= mostSample {
		end++
	}
	run, err := p.Run(0, end)
	if err != nil || run.EncodedBytes() > mostSample {
		return wire.Parts{}, false
	}
	return wire.Parts{Envelope: e.Envelope(p), Record: e.Record().Envelope, Run: run}, true
}
