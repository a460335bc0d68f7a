package overlay

import (
	"cmp"
	"slices"
	"time"

	"github.com/venn-p2p/venn/summary"
)

// The planner decides which parts to ask for next, within the budget of the own line and of every link. It is greedy by
// value per byte.
//
// The value of going from depth i to depth j of an origin's stream is the fall of its false-positive rate, f_i - f_j: so
// many wasted confirmations are saved for each key looked for. It is weighted by 1 + the share of our collection that the
// peer is estimated to hold (a peer like us is asked more often), and by how often its summary has kept what it promised. The first
// part of an origin nobody has told us of comes before all else: without it the peer's keys cannot be found at all. Then come
// deltas, which keep what is known true (see deltaOffer).
//
// Each further bit a key halves f, so value per byte falls as depth grows, and taking the best next step is near the best
// whole choice (a fractional knapsack, where greedy is best but for the last item): against all choices for four origins
// it leaves the same false matches in the median and 1.2 times as many in the worst tenth, where parts are large for the
// budget (TestGreedyIsNearlyBest). Small collections are brought to depth first.
//
// Why these weights. A wasted confirmation costs the same whatever the peer; so f counts as it is. A peer like us is asked
// more often than others, for what we want next its like has: hence 1 + share, at most twice. Where confirmations failed that
// the summary promised, deeper parts of it are worth less in that proportion.

// offer is a way to get more of an origin.
type offer struct {
	e         *entry
	epoch     summary.Epoch
	from, end int
	bytes     int
	value     float64 // per byte
	links     []*link
	bases     Bases // a delta from one of these is asked for
}

const (
	// fetchAfter is how long the mesh may bring nothing more of an origin before its parts are fetched from it, if the line
	// has bytes to spare.
	fetchAfter = 4 * time.Second
	// refetchAfter is how long an origin that could not send is left alone.
	refetchAfter = 10 * time.Second
	directWait   = 10 * time.Second
	// quietFor is how long an origin of which nobody offers more is passed over, unless somebody announces more of it.
	quietFor = time.Second
	// maxOffers is how many of the best offers are weighed in one tick: the others have no chance before a second is over, and
	// aren't looked at until then.
	maxOffers = 512
	// settledQuiet is the same for one of which all is held.
	settledQuiet = time.Minute
	// firstValue puts the first part of an origin before every deeper part.
	firstValue = 1e6
)

// planAsks chooses what to ask of which link, best value per byte first, until the own line's budget is spent.
func (o *Overlay) planAsks(now time.Duration) map[PeerID][]Item {
	if now < o.planAt {
		return nil
	}
	var offers []offer
	o.planAt = now + settledQuiet
	for _, e := range o.others() {
		if e == nil || e.banned || e.foreign || e.ask.peer != "" || now < e.unwanted {
			continue
		}
		if now >= e.quiet {
			of, ok := o.bestOffer(now, e)
			if ok {
				offers = append(offers, of)
				o.planAt = now
				continue
			}
			e.quiet = now + o.quietFor(e)
		}
		o.planAt = min(o.planAt, e.quiet)
	}
	slices.SortFunc(offers, func(a, b offer) int {
		return cmp.Or(cmp.Compare(b.value, a.value), cmp.Compare(a.e.index, b.e.index))
	})
	asks := map[PeerID][]Item{}
	for _, of := range offers[min(len(offers), maxOffers):] {
		of.e.quiet = now + quietFor
	}
	for _, of := range offers[:min(len(offers), maxOffers)] {
		if !o.down.allowsWhole(of.bytes) {
			break
		}
		o.take(now, of, asks)
	}
	return asks
}

// quietFor is how long an origin of which nobody offers more is passed over.
func (o *Overlay) quietFor(e *entry) time.Duration {
	if p := e.newest(); p != nil && (p.Parts() == p.Plan().Parts() || o.covered(e)) && !e.newerThan.After(p.Header().Epoch) {
		return settledQuiet
	}
	return quietFor
}

// bestOffer finds the newest epoch of an origin that mesh peers offer more of, and the next run worth asking for.
// When none does for long, and the origin is known, the origin itself is the offer: one without links.
func (o *Overlay) bestOffer(now time.Duration, e *entry) (offer, bool) {
	ep, parts := e.epoch()
	of := offer{e: e, epoch: ep, from: parts}
	most := 0
	for _, l := range o.order {
		t := l.known(e.index)
		if !l.heard || t.have == 0 || l.shunned(now, e.index) || ep.After(t.theirs) || !t.theirs.After(e.past) {
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
	if len(of.links) == 0 {
		if !o.mayFetch(now, e) {
			return of, false
		}
		most = e.newest().Plan().Parts()
	}
	if e.depth > 0 {
		most = min(most, e.depth)
	}
	if o.covered(e) {
		most = min(most, 1)
	}
	if o.deltaOffer(now, &of) {
		return of, false
	}
	if of.bases != 0 {
		return of, true
	}
	return of, o.size(&of, most)
}

// mayFetch says whether an origin's own line may be asked directly: it is known, the mesh has brought nothing for long.
func (o *Overlay) mayFetch(now time.Duration, e *entry) bool {
	p := e.newest()
	return p != nil && p.Parts() < p.Plan().Parts() && e.record.Envelope != nil && e.dialFails == 0 &&
		o.direct < o.maxDirect() && o.down.spare() && now-e.grown >= fetchAfter && now >= e.fetchAt
}

// maxDirect is how many direct fetches may be under way: as many whole runs as the line carries in a second.
func (o *Overlay) maxDirect() int { return max(1, int(o.down.rate)/maxRunBytes) }

// size fixes the end, the bytes and the value of an offer; false when there is nothing to gain.
func (o *Overlay) size(of *offer, most int) bool {
	p := of.e.at(of.epoch)
	if p == nil { // a new origin, or a new epoch: its header and sample
		if of.e.cur == nil && o.short() {
			return false
		}
		of.end, of.bytes = 1, unknownSample
		of.value = firstValue / unknownSample
		if of.e.cur != nil || o.covered(of.e) {
			of.value = 1.0 / unknownSample
		}
		return true
	}
	most = min(most, p.Plan().Parts())
	if most <= of.from {
		return false
	}
	m := &of.e.step
	if m.prefix != p || int(m.most) != most {
		*m = o.nextStep(p, most)
	}
	of.end, of.bytes = int(m.end), int(m.bytes)+rpcOverhead+runOverhead
	of.value = o.weight(of.e) * m.fall / float64(m.bytes)
	return true
}

// short says whether memory is full of samples, or was until a moment ago.
func (o *Overlay) short() bool {
	o.crowded = o.crowded && o.used() > o.cfg.Memory/8*7
	return o.crowded
}

// step is what to ask for next beyond a prefix, when up to most parts are on offer. It is kept, for it costs more to find
// than the rest of planning.
type step struct {
	prefix    *summary.Prefix
	most, end uint16
	bytes     uint32
	fall      float64 // of the false-positive rate
}

func (o *Overlay) nextStep(p *summary.Prefix, most int) step {
	plan, from := p.Plan(), p.Parts()
	end, limit := from+1, min(maxRunBytes, int(o.down.rate))
	for end < most && plan.EncodedBytes(end+1)-plan.EncodedBytes(from) <= limit {
		end++
	}
	bytes := max(1, plan.EncodedBytes(end)-plan.EncodedBytes(from))
	return step{p, uint16(most), uint16(end), uint32(bytes), plan.FalsePositiveRate(from) - plan.FalsePositiveRate(end)}
}

// weight is how much a fall of a peer's false-positive rate matters.
func (o *Overlay) weight(e *entry) float64 {
	kept := float64(1+e.hits) / float64(1+e.hits+e.misses)
	return (1 + float64(e.share.value)) * kept
}

// value is what parts from..end-1 of a peer's stream are worth, per byte.
func (o *Overlay) value(e *entry, p *summary.Prefix, from, end int) float64 {
	plan := p.Plan()
	return o.weight(e) * (plan.FalsePositiveRate(from) - plan.FalsePositiveRate(end)) / float64(max(1, plan.EncodedBytes(end)-plan.EncodedBytes(from)))
}

// take turns an offer into an ask: of the link with the least waiting, or of the origin itself.
func (o *Overlay) take(now time.Duration, of offer, asks map[PeerID][]Item) {
	if len(of.links) == 0 {
		o.fetch(now, of)
		return
	}
	l := soonest(of.links, of.bytes)
	if l == nil {
		return
	}
	e := of.e
	if !l.out.allows(CatalogueBytes(1)) {
		return
	}
	end := min(of.end, int(l.known(e.index).have))
	e.tried = now
	e.ask = &ask{peer: l.peer, way: Pubsub, epoch: of.epoch, from: of.from, end: end, deadline: now + askPatience(l)}
	o.reserve(l, e, of.bytes)
	l.asks(e.index, of.epoch)
	asks[l.peer] = append(asks[l.peer], Item{
		Group: summary.NewGroupID(e.tag, of.epoch), Have: uint16(of.from), Want: uint16(end), Bases: of.bases,
	})
}

// soonest returns the link that would deliver n bytes first, nil when all have as much to deliver as they should.
func soonest(links []*link, n int) *link {
	var best *link
	least := 0.0
	for _, l := range links {
		rate := max(1, l.inRate)
		if l.inFlight > 0 && (!l.useful && l.unkept >= distrustAfter || float64(l.inFlight) >= maxBacklog.Seconds()*rate) {
			continue
		}
		if wait := float64(l.inFlight+n) / rate; best == nil || wait < least {
			best, least = l, wait
		}
	}
	return best
}

// maxBacklog is how much may be asked of a link at a time, in time at its rate.
const maxBacklog = 2 * time.Second

// askPatience is how long an ask may bring nothing before it is put to somebody else.
func askPatience(l *link) time.Duration {
	return 4*time.Second + time.Duration(float64(l.inFlight)/max(1, l.inRate)*2*float64(time.Second))
}

// fetch asks the origin itself for parts, on a stream of their own.
func (o *Overlay) fetch(now time.Duration, of offer) {
	if o.direct >= o.maxDirect() {
		return
	}
	e := of.e
	e.ask = &ask{peer: e.peer, way: Direct, epoch: of.epoch, from: of.from, end: of.end, deadline: now + directWait}
	o.direct++
	o.reserve(nil, e, of.bytes)
	o.emit(RequestParts{From: e.record, Group: e.newest().Header().Group(), First: of.from, End: of.end, Bases: of.bases})
}

// reserve sets the predicted bytes of an entry's ask aside.
func (o *Overlay) reserve(l *link, e *entry, n int) {
	e.ask.bytes = n
	o.down.take(n)
	o.askUntil = min(o.askUntil, e.ask.deadline)
	if l != nil {
		l.inFlight += n
	}
}

// release gives back what is set aside for an entry's ask.
func (o *Overlay) release(e *entry) {
	if e.ask == noAsk {
		return
	}
	o.down.take(-e.ask.bytes)
	if l, ok := o.links[e.ask.peer]; ok && e.ask.way == Pubsub {
		l.inFlight -= e.ask.bytes
	}
	e.ask.bytes = 0
}

// endAsk forgets an entry's ask.
func (o *Overlay) endAsk(e *entry) {
	if e.ask.peer == "" {
		return
	}
	o.release(e)
	if e.ask.way == Direct {
		o.direct--
	}
	e.ask = noAsk
	o.planAt = 0
}

// timeOut ends the asks that brought nothing; the peer is not asked about that origin again for a while.
func (o *Overlay) timeOut(now time.Duration) {
	if now < o.askUntil {
		return
	}
	o.askUntil = forever
	for _, e := range o.others() {
		if e == nil || e.ask.peer == "" {
			continue
		}
		if now < e.ask.deadline {
			o.askUntil = min(o.askUntil, e.ask.deadline)
			continue
		}
		if e.ask.way == Direct {
			e.fetchAt = now + refetchAfter
		}
		l := o.links[e.ask.peer]
		o.endAsk(e)
		o.failed(now, l, e)
	}
}

const (
	// doublings is how often the time for which a link is left alone about an origin doubles.
	doublings = 3
	// distrustAfter so many asks, a link that has brought nothing at all is asked for one thing at a time.
	distrustAfter = 8
	// claimsUnkept is how many of these are a fault. A useful one that is busy with its own summary brings nothing of others for a
	// while.
	claimsUnkept = 128
)

// failed notes that a link has not brought what it was asked of an origin: it is left alone about that origin for a while, and from
// the second failure in a row on twice as long each time, for else one that lies would keep those that don't from being asked.
func (o *Overlay) failed(now time.Duration, l *link, e *entry) {
	if l == nil {
		return
	}
	b := l.blame(e.index)
	o.shun(l, e, now+shunFor<<max(0, int(b.failures)-1))
	b.failures = min(b.failures+1, doublings+1)
	if l.unkept++; !l.useful && l.unkept%claimsUnkept == 0 {
		o.fault(l, FaultClaim)
	}
}

// kept notes that a link has brought what it was asked.
func (l *link) kept(e *entry) {
	l.unkept, l.useful = 0, true
	if l.known(e.index).blamed {
		b := l.blames[e.index]
		b.failures, b.shunned = 0, 0
	}
}
