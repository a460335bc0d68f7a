package exchange

import (
	"cmp"
	"slices"
	"time"

	"github.com/venn-p2p/venn/overlay/agenda"
	"github.com/venn-p2p/venn/overlay/directory"
	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// The planner decides which parts to ask for next, within the budgets of our own line and of every link. It is greedy
// by value per byte.
//
// The value of going from depth i to depth j of an origin's stream is the fall of its false-positive rate, f_i - f_j:
// the number of wasted confirmations saved for each key looked for. It is weighted by 1 + the overlap, the estimated
// part of our collection that the peer holds, because a similar peer is asked more often. It is weighted too by the
// share of its claims that the peer confirmed. The first part of an unknown origin comes before all else: without it
// the peer's keys cannot be found at all. Then come deltas, which keep summaries up to date (see sizeDelta). Where the
// line has a focus, origins beside it come later: see focus.go.
//
// Each further bit a key halves f, so value per byte falls as depth grows. Taking the best next step is then near the
// best whole choice: this is a fractional knapsack, where greedy is best except for the last item. It is worse where
// parts are large for the budget. Small collections are brought to depth first.
//
// Why these weights. A wasted confirmation costs the same for every peer, so f counts as it is. A similar peer is asked
// more often, because it has what we will want next: hence 1 + overlap, at most twice. If confirmations of a summary's
// claims failed, deeper parts of it are worth less in that proportion.

// offer is a way to get more of an origin.
type offer struct {
	e         *origin
	epoch     summary.Epoch
	from, end int
	bytes     int
	class     class
	value     float64 // value per byte; it decides between offers of one class
	links     []*link
	given     wire.Given // the base of the relative run to ask for; zero: plain parts
	doubted   bool       // offered only by links without credit: all other offers come first
}

// class is the kind of an offer. Offers of an earlier class come first.
type class uint8

const (
	unknown class = iota // the first part of an unknown origin
	newer                // a delta to a newer epoch: it costs little, and makes that epoch as deep as the one before
	deeper
)

const (
	// WellKnown is the false-positive rate at which an origin is known well: it is not dialled for more, where we hold
	// only a part of the network.
	WellKnown = 0.02
	// fewParts is the number of parts up to which the first ask for an origin takes all that is offered. Without it,
	// upkeep is 207 kB in place of 181; with four it is the same (scenario routing, 100 peers),
	// but where all lines have 256 kbit/s directories hold 3 % less (mixed-lines).
	fewParts = 2
)

// unknownSample is the predicted size of a signed header, record and sample, in bytes.
var unknownSample = summary.DefaultShape(1).SampleBytes + headerBytes

// planAsks chooses the asks to each link, best value per byte first, until our own line's budget is spent.
func (x *Exchange) planAsks(now time.Duration, short func() bool) {
	x.asked = x.asked[:0]
	if now < x.gathers || !x.due.Take(duePlan, now) {
		return
	}
	offers := x.offers[:0]
	x.doubted = slices.ContainsFunc(x.links, func(l *link) bool { return !x.trusts(l) })
	next := agenda.Never
	for i, until := range x.rests {
		if now >= until {
			e := x.origin(i)
			if i < x.owns || !mayAsk(e) {
				until = agenda.Never
			} else if e.Unwanted(now) {
				until = e.UnwantedUntil()
			} else if of, ok := x.bestOffer(now, e, short); ok {
				offers = append(offers, of)
			} else {
				until = now + quietFor(e)
			}
			x.rests[i] = until
		}
		next = min(next, until)
	}
	x.due.By(duePlan, next)
	x.offers = offers
	slices.SortFunc(offers, func(a, b offer) int {
		switch {
		case a.doubted && !b.doubted:
			return 1
		case b.doubted && !a.doubted:
			return -1
		}
		return cmp.Or(cmp.Compare(a.class, b.class), cmp.Compare(b.value, a.value), cmp.Compare(a.e.Index(), b.e.Index()))
	})
	for _, of := range offers {
		if !x.down.allowsWhole(of.bytes) {
			x.gathers = now + x.down.gather(of.bytes)
			break
		}
		x.take(now, of)
	}
}

// wake makes the next plan consider an origin.
func (x *Exchange) wake(e *origin) {
	x.rests[e.Index()] = 0
	x.due.By(duePlan, 0)
}

// mayAsk reports whether there is an origin that may be asked about and has no outstanding ask.
func mayAsk(e *origin) bool {
	return e != nil && e.State() != directory.Foreign && !e.ask.open()
}

// quietFor returns the time for which an origin without offers is passed over, unless somebody announces more of it: a
// second, and a minute if the origin is held whole.
func quietFor(e *origin) time.Duration {
	if p := e.Newest(); p != nil && (p.Parts() == p.Plan().Parts() || e.Covered()) && !e.newerThan.After(p.Header().Epoch) {
		return agenda.Seldom
	}
	return agenda.Beat
}

// bestOffer finds the newest epoch of an origin of which links offer more, and the next run worth asking for. If none
// has offered more for long, and the origin is known, it returns an offer without links. Then [Exchange.fetch] asks for
// the run.
func (x *Exchange) bestOffer(now time.Duration, e *origin, short func() bool) (offer, bool) {
	of, most := x.meshOffer(now, e, x.trusts)
	if len(of.links) == 0 && x.doubted {
		of, most = x.meshOffer(now, e, func(l *link) bool { return !x.trusts(l) })
		of.doubted = len(of.links) > 0
	}
	if len(of.links) == 0 {
		if !x.mayFetch(now, e) {
			return of, false
		}
		most = e.Newest().Plan().Parts()
	}
	if e.Limit() > 0 {
		most = min(most, e.Limit())
	}
	if e.Covered() {
		most = min(most, 1)
	}
	ok := x.sizeDelta(&of, most) || x.size(&of, most, short)
	return of, ok
}

// meshOffer finds the newest epoch of an origin of which some of the links offer more, and the most parts of it that
// one of them claims to hold. Only links for which among is true count.
func (x *Exchange) meshOffer(now time.Duration, e *origin, among func(*link) bool) (of offer, most int) {
	ep, parts := e.Epoch()
	of = offer{e: e, epoch: ep, from: parts}
	for _, l := range x.links {
		t := l.trade(e.Index())
		if !l.Heard || t.have == 0 || l.shuns(now, e.Tag()) || ep.After(t.theirs) || !t.theirs.After(e.Past()) || !among(l) {
			continue
		}
		if t.theirs.After(of.epoch) {
			of.epoch, of.from, of.links, most = t.theirs, 0, of.links[:0], 0
		}
		if t.theirs == of.epoch && int(t.have) > of.from {
			of.links = append(of.links, l)
			most = max(most, int(t.have))
		}
	}
	return of, most
}

// mayFetch reports whether an origin may be asked for directly: it is known, and the mesh has brought nothing for long.
func (x *Exchange) mayFetch(now time.Duration, e *origin) bool {
	p := e.Newest()
	if p != nil && x.directory.Range().Depth() > 0 && p.FalsePositiveRate() <= WellKnown && !x.directory.IsLinked(e.Peer()) {
		return false // a connection would cost more than it brings
	}
	return p != nil && p.Parts() < p.Plan().Parts() && x.direct < x.maxDirect() && x.down.spare() &&
		now-e.Grown() >= agenda.Patience && now >= e.fetchAt && (x.mayDial(e) || x.holder(e) != nil)
}

// mayDial reports whether an origin itself can be asked: it has a record, and its last dial did not fail.
func (x *Exchange) mayDial(e *origin) bool { return e.Record().Envelope != nil && e.DialFails() == 0 }

// maxDirect returns the most direct fetches at a time: as many whole runs as the line carries in a second.
func (x *Exchange) maxDirect() int { return max(1, int(x.down.rate)/maxRunBytes) }

// size sets the end, the bytes, the class and the value of an offer. It returns false if there is nothing to gain.
func (x *Exchange) size(of *offer, most int, short func() bool) bool {
	p := of.e.At(of.epoch)
	if p == nil { // a new origin, or a new epoch: its header and sample
		if of.e.Held() == nil && short() {
			return false
		}
		of.end, of.bytes = 1, unknownSample
		if most <= fewParts { // perhaps all parts, and small: this saves a message
			of.end = most
		}
		of.value = 1 / float64(unknownSample)
		if of.e.Held() != nil || of.e.Covered() || x.focus.beside(of.e.place) {
			of.class = deeper
		}
		return true
	}
	most = min(most, p.Plan().Parts())
	if most <= of.from {
		return false
	}
	weight := x.weight(of.e)
	if weight == 0 {
		return false
	}
	m := &of.e.step
	if m.of != of.epoch || m.from != p.Parts() || m.most != most {
		*m = x.nextStep(p, most)
	}
	of.class, of.end, of.bytes = deeper, m.end, m.bytes+rpcOverhead+runOverhead
	of.value = weight * m.fall / float64(m.bytes)
	return true
}

// step is the next run to ask for beyond a prefix, when up to most parts are on offer. It is kept, because it costs
// more to find than the rest of planning.
type step struct {
	of              summary.Epoch
	from, most, end int
	bytes           int
	fall            float64 // fall of the false-positive rate
}

func (x *Exchange) nextStep(p *summary.Prefix, most int) step {
	plan, from := p.Plan(), p.Parts()
	end, limit := from+1, min(maxRunBytes, int(x.down.rate))
	for end < most && plan.EncodedBytes(end+1)-plan.EncodedBytes(from) <= limit {
		end++
	}
	bytes := max(1, plan.EncodedBytes(end)-plan.EncodedBytes(from))
	return step{p.Header().Epoch, from, most, end, bytes, plan.ExpectedRate(from) - plan.ExpectedRate(end)}
}

// take turns an offer into an ask: of the link that would deliver first, or of the origin itself.
func (x *Exchange) take(now time.Duration, of offer) {
	if len(of.links) == 0 {
		x.fetch(now, of)
		return
	}
	e, links := of.e, slices.DeleteFunc(of.links, (*link).busy)
	if of.given == (wire.Given{}) && len(links) > 0 {
		if b := x.baseFor(links, e, e.At(of.epoch), of.end); b.p != nil {
			of.given, of.bytes = b.given(), of.bytes-int(b.saves)
			links = slices.DeleteFunc(links, func(l *link) bool { return !b.knows(l) })
		} else { // a link may hold a base that it has not announced; else it sends plain parts
			of.given = x.baseFor(nil, e, e.At(of.epoch), of.end).given()
		}
	}
	l := soonest(links, of.bytes)
	if l == nil {
		return
	}
	if !l.out.allows(rpcOverhead + itemBytes) {
		return
	}
	end := min(of.end, int(l.trade(e.Index()).have))
	e.ask = ask{peer: l.Peer, way: event.Pubsub, epoch: of.epoch, from: of.from, end: end, deadline: now + askPatience(l, 0)}
	x.reserve(l, e, of.bytes)
	it := wire.Item{Group: wire.NewGroup(e.Tag(), of.epoch), Have: uint16(of.from), Want: uint16(end), Given: of.given}
	if l.appliesNo(e.Tag(), of.epoch) {
		it.Given = wire.Given{}
	}
	x.owes(l, e, it)
	x.asked = append(x.asked, e.Index())
	l.asks = append(l.asks, it)
}

// soonest returns the link that would deliver n bytes first; nil if there is none.
func soonest(links []*link, n int) (best *link) {
	least := 0.0
	for _, l := range links {
		if wait := float64(l.inFlight+n) / max(1, l.inRate); best == nil || wait < least {
			best, least = l, wait
		}
	}
	return best
}

// busy reports whether a link has enough to deliver. One that has brought nothing at all, and has used up its credit,
// gets one ask at a time.
func (l *link) busy() bool {
	return l.inFlight > 0 && (!l.useful && l.unkept >= fullCredit || float64(l.inFlight) >= maxBacklog.Seconds()*max(1, l.inRate))
}

// maxBacklog is the most that may be asked of a link at a time, as time at its rate.
const maxBacklog = agenda.Soon

// askPatience returns the time after which an ask that brought nothing goes to another link. bytes are added to those
// in flight on its link.
func askPatience(l *link, bytes int) time.Duration {
	return agenda.Patience + time.Duration(float64(l.inFlight+bytes)/max(1, l.inRate)*2*float64(time.Second))
}
