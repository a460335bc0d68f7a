package overlay

import (
	"slices"
	"time"

	"github.com/venn-p2p/venn/overlay/rank"
	"github.com/venn-p2p/venn/summary"
)

// Kind says why a peer is a neighbour.
type Kind uint8

const (
	// Random neighbours are drawn from all peers known: they keep the network connected and cannot be chosen by an attacker.
	Random Kind = iota
	// Similar neighbours hold the most of our collection, by estimate.
	Similar
	// Near neighbours have the shortest round trips.
	Near
	// Inbound neighbours chose us.
	Inbound
	// Complementary neighbours hold the most that we lack, by estimate.
	Complementary

	kinds // how many there are
)

// byOverlap says whether a kind is chosen by what summaries claim.
func (k Kind) byOverlap() bool { return k == Similar || k == Complementary }

// String returns the name of the kind.
func (k Kind) String() string {
	return [...]string{"random", "overlap", "near", "inbound", "complementary"}[k]
}

// neighbour is a peer that we keep, or are about to keep, a connection with.
type neighbour struct {
	kind     Kind
	since    time.Duration
	accepted bool // it has said that we are its neighbour too
}

const (
	redialAfter      = 15 * time.Second // after a failed dial, times the failures in a row
	refusedFor       = time.Minute      // a peer that is full, or was given up for its false claims, is not chosen again for so long
	connectsATime    = 2                // new neighbours in one round
	settledOrigins   = 3 * time.Second  // no new origin for so long: the samples are in, overlap can be compared
	latestChoice     = 20 * time.Second // and if new ones keep coming, after so long
	firstEstimates   = 64               // overlap estimates in one round, of peers without one
	furtherEstimates = 3                // and of peers with one
	keepFor          = 10 * time.Second // a neighbour by overlap is kept at least so long
	sureMatch        = 0.9              // as package routing/match counts misses
	auditEvery       = 10 * time.Minute // of a neighbour by overlap
	swapEvery        = 4 * time.Second  // between looks for a better one, after a look that found none
	swapLazily       = time.Minute      // and when no estimate has changed since
)

// chooseNeighbours fills the slots and swaps neighbours by overlap whose intervals separate.
func (o *Overlay) chooseNeighbours(now time.Duration) {
	o.estimateShares()
	room := connectsATime
	if o.comparable(now) {
		room = o.fillSimilar(now, room)
		room = o.fill(now, Complementary, o.cfg.ComplementSlots, room, rank.Complementary)
		o.swap(now)
		room = o.fill(now, Near, o.cfg.NearSlots, room, rank.Near)
		o.dropExtra()
	}
	random := o.cfg.slots() - o.count(Similar) - o.count(Near) - o.count(Complementary)
	o.fill(now, Random, random, room, func(c []rank.Candidate, n int) []rank.Candidate {
		return rank.Random(c, n, o.cfg.Rand)
	})
	o.auditNeighbours(now)
}

// comparable says whether the samples of most peers are in: neighbours chosen by overlap before that would soon be
// found wanting, but stay because a swap needs intervals that separate.
func (o *Overlay) comparable(now time.Duration) bool {
	return o.origins > 0 && o.Own() != nil &&
		(now-o.lastLearned >= settledOrigins && now-o.started >= settledOrigins || now-o.started >= latestChoice)
}

func (o *Overlay) count(k Kind) int { return o.kinds[k] }

// candidates lists the peers that could become neighbours of a kind now. Neighbours of another kind are among them when
// may says so.
func (o *Overlay) candidates(now time.Duration, k Kind, may func(*neighbour) bool) []rank.Candidate {
	out := make([]rank.Candidate, 0, len(o.entries))
	for _, e := range o.others() {
		if o.eligible(now, e, k, may) {
			out = append(out, o.candidate(e))
		}
	}
	return out
}

// eligible says whether an entry is among the candidates. What an audit has refuted bars only from places by overlap.
func (o *Overlay) eligible(now time.Duration, e *entry, k Kind, may func(*neighbour) bool) bool {
	if e == nil || e.banned || e.record.Envelope == nil || now < e.retryAt || o.covered(e) || k.byOverlap() && e.audit().Refuted() {
		return false
	}
	nb, is := o.neighbours[e.peer]
	return !is || may(nb)
}

func (o *Overlay) candidate(e *entry) rank.Candidate {
	return rank.Candidate{Index: e.index, Share: e.share.interval(), Lacks: e.lacks.interval(), Known: e.shareParts > 0, RTT: e.rtt}
}

// fillSimilar gives the free slots for overlap to the best candidates, neighbours of other kinds included.
func (o *Overlay) fillSimilar(now time.Duration, room int) int {
	free := o.cfg.OverlapSlots - o.count(Similar)
	if free <= 0 {
		return room
	}
	cands := o.candidates(now, Similar, func(nb *neighbour) bool { return nb.kind != Similar })
	for _, c := range rank.Similar(cands, free) {
		if room == 0 {
			break
		}
		if o.choose(now, o.entries[c.Index], Similar) {
			room--
		}
	}
	return room
}

// swap gives up the weakest neighbour by overlap for a peer that is better beyond doubt: of one kind, then of the other. A
// neighbour whose claims an audit refuted goes at once.
func (o *Overlay) swap(now time.Duration) {
	if now < o.swapAt {
		return
	}
	o.swapAt = now + swapLazily
	o.dropRefuted(now)
	if o.swapKind(now, Similar, rank.Shared) || o.swapKind(now, Complementary, rank.Lacked) {
		o.swapAt = 0
	}
}

func (o *Overlay) swapKind(now time.Duration, k Kind, by rank.Measure) bool {
	var incumbents []rank.Candidate
	for _, l := range o.order {
		nb, is := o.neighbours[l.peer]
		if !is || nb.kind != k || now-nb.since < keepFor {
			continue
		}
		if e, known := o.other(l); known && e.shareParts > 0 {
			incumbents = append(incumbents, o.candidate(e))
		}
	}
	if len(incumbents) == 0 {
		return false
	}
	out, in, ok := rank.Swap(incumbents, o.challengers(now, k, by, by(rank.Weakest(incumbents, by)).High), by)
	if ok {
		o.giveUp(o.entries[out.Index].peer)
		o.choose(now, o.entries[in.Index], k)
	}
	return ok
}

// challengers are the candidates for a neighbour's place whose low bound is above one's high bound: few of many.
func (o *Overlay) challengers(now time.Duration, k Kind, by rank.Measure, high float64) []rank.Candidate {
	var out []rank.Candidate
	for _, e := range o.others() {
		if e == nil || e.shareParts <= 0 {
			continue
		}
		c := o.candidate(e)
		if by(c).Low > high && o.eligible(now, e, k, func(nb *neighbour) bool { return !nb.kind.byOverlap() }) {
			out = append(out, c)
		}
	}
	return out
}

// swapSoon has a look for a better neighbour after a time at the latest, for something it depends on has changed.
func (o *Overlay) swapSoon(after time.Duration) { o.swapAt = min(o.swapAt, o.now+after) }

// dropRefuted gives up the neighbours by overlap that do not hold what they claim. Each is audited at once if it comes back.
func (o *Overlay) dropRefuted(now time.Duration) {
	for _, l := range slices.Clone(o.order) {
		nb, is := o.neighbours[l.peer]
		if !is || !nb.kind.byOverlap() {
			continue
		}
		if e, known := o.other(l); known && e.audit().Refuted() {
			e.retryAt, e.auditAt = now+refusedFor, 0
			o.giveUp(l.peer)
		}
	}
}

// auditNeighbours has each neighbour by overlap show that it holds what it claims, as soon as enough of its summary is known, and
// again from time to time.
func (o *Overlay) auditNeighbours(now time.Duration) {
	for _, l := range o.order {
		nb, is := o.neighbours[l.peer]
		if !is || !nb.kind.byOverlap() {
			continue
		}
		if e, known := o.other(l); known && now >= e.auditAt && e.sureMatches() {
			e.auditAt = now + auditEvery
			o.emit(Audit{Of: e.record, Claims: e.cur})
		}
	}
}

// sureMatches says whether a key of ours that matches an entry is held, if its share of ours is true, with probability sureMatch.
func (e *entry) sureMatches() bool {
	if e.cur == nil || e.shareParts == 0 {
		return false
	}
	held := float64(e.share.value)
	return held > 0 && held >= sureMatch*(held+(1-held)*e.rate())
}

// fill gives the free slots of a kind to the candidates that a rule picks among peers that are no neighbours yet.
func (o *Overlay) fill(now time.Duration, k Kind, slots, room int, rule func([]rank.Candidate, int) []rank.Candidate) int {
	n := min(room, slots-o.count(k))
	if n <= 0 {
		return room
	}
	for _, c := range rule(o.candidates(now, k, func(*neighbour) bool { return false }), n) {
		if o.choose(now, o.entries[c.Index], k) {
			room--
		}
	}
	return room
}

// choose makes a peer a neighbour; it says whether that needs a new connection.
func (o *Overlay) choose(now time.Duration, e *entry, k Kind) bool {
	if nb, is := o.neighbours[e.peer]; is {
		o.kinds[nb.kind]--
		o.kinds[k]++
		o.swapSoon(keepFor)
		nb.kind, nb.since = k, now
		return false
	}
	o.addNeighbour(e.peer, neighbour{kind: k, since: now})
	o.emit(Connect{To: e.record})
	l, linked := o.links[e.peer]
	if linked {
		o.sayHello(now, l, noRecords)
	}
	return !linked
}

// dropExtra gives up a random neighbour that stood in for one by overlap, once that one has accepted; not one that is
// about to send something.
func (o *Overlay) dropExtra() {
	accepted := 0
	for _, nb := range o.neighbours {
		if nb.kind == Similar && nb.accepted {
			accepted++
		}
	}
	if o.count(Random) <= o.cfg.slots()-accepted-o.count(Near) {
		return
	}
	for _, l := range slices.Backward(o.order) {
		if nb, is := o.neighbours[l.peer]; is && nb.kind == Random && l.inFlight == 0 {
			o.giveUp(l.peer)
			return
		}
	}
}

// giveUp ends a neighbourhood from our side.
func (o *Overlay) giveUp(p PeerID) {
	o.loseNeighbour(p)
	if l, ok := o.links[p]; ok {
		o.sayHello(o.now, l, noRecords)
	}
	o.emit(Disconnect{Peer: p})
}

func (o *Overlay) addNeighbour(p PeerID, nb neighbour) {
	o.neighbours[p] = &nb
	o.kinds[nb.kind]++
	o.swapSoon(keepFor)
}

// loseNeighbour forgets a neighbour, if it is one.
func (o *Overlay) loseNeighbour(p PeerID) {
	if nb, is := o.neighbours[p]; is {
		o.kinds[nb.kind]--
		delete(o.neighbours, p)
	}
}

// full says whether no more peers may choose us: room for our own choices is kept.
func (o *Overlay) full() bool { return o.count(Inbound) >= o.cfg.MaxLinks-o.cfg.slots() }

// heardNeighbour acts on what a hello says about neighbourhood.
func (o *Overlay) heardNeighbour(now time.Duration, l *link) {
	nb, is := o.neighbours[l.peer]
	h := l.hello
	switch {
	case !is && h.Neighbour:
		if !o.full() {
			o.addNeighbour(l.peer, neighbour{kind: Inbound, since: now, accepted: true})
			o.emit(Protect{Peer: l.peer})
		}
		o.sayHello(now, l, noRecords) // accepted, or full
	case is && h.Neighbour:
		nb.accepted = true
	case is && (nb.accepted || h.Full): // it gave us up, or takes nobody
		o.loseNeighbour(l.peer)
		o.emit(Disconnect{Peer: l.peer})
		if e, ok := o.lookup(l.peer); ok {
			e.retryAt = now + refusedFor
		}
	}
}

// estimateShares estimates how much of our collection the peers hold: of every peer by its sample, once that has come, and
// again, a few in each round, of those that may be chosen, by all that is known of them.
func (o *Overlay) estimateShares() {
	if o.Own() == nil || !o.estimate {
		return
	}
	o.estimate = false
	first, again := firstEstimates, 0
	best := make([]*entry, 0, 3*o.cfg.OverlapSlots) // of those with an estimate
	for _, e := range o.others() {
		if e == nil || e.cur == nil || e.cur.Parts() == 0 || o.covered(e) {
			continue
		}
		own := o.ownUnder(e)
		switch {
		case own == nil:
		case e.shareParts <= 0 && o.compareSample(own, e):
			best = insertShare(best, e)
		case e.shareParts <= 0 && first > 0:
			o.estimateShare(own, e)
			first--
			o.estimate = o.estimate || first == 0
		case e.shareParts > 0:
			best = insertShare(best, e)
		}
	}
	for _, e := range best {
		if again < furtherEstimates && e.cur.Parts() >= 2*e.shareParts {
			o.estimateShare(o.ownUnder(e), e)
			again++
			o.estimate = true
		}
	}
}

// insertShare puts an entry in its place among the best so far, as many as best has room for, those before it being of lower
// index; as rank.Similar does, without looking at the whole of every candidate.
func insertShare(best []*entry, e *entry) []*entry {
	at := len(best)
	for at > 0 && best[at-1].share.value < e.share.value {
		at--
	}
	switch {
	case at == cap(best):
		return best
	case len(best) == cap(best):
		best = best[:len(best)-1]
	}
	return slices.Insert(best, at, e)
}

// compareSample sets an entry's share by its sample alone; false when that cannot be done.
func (o *Overlay) compareSample(own *summary.Prefix, e *entry) bool {
	overlap := &o.overlap
	if e.old {
		overlap = &o.previous.overlap
	}
	ov, ok := overlap.Overlap(e.index, Confidence)
	if ok {
		o.setOverlap(e, own, ov, 1)
	}
	return ok
}

// estimateShare sets an entry's share by the AND-merge of both summaries.
func (o *Overlay) estimateShare(own *summary.Prefix, e *entry) {
	ov, err := summary.EstimateOverlap(own, e.cur, Confidence)
	if err == nil {
		o.setOverlap(e, own, ov, e.cur.Parts())
	}
	e.shareParts = e.cur.Parts()
}

func (o *Overlay) setOverlap(e *entry, own *summary.Prefix, ov summary.Overlap, parts int) {
	e.shareParts, e.share = parts, bounds{}
	o.swapSoon(swapEvery)
	if n := float64(own.Header().N); n > 0 {
		i := ov.Intersection
		share := func(keys float64) float32 { return float32(min(1, keys/n)) }
		lacks := func(keys float64) float32 { return float32(max(0, ov.N2-keys)) }
		e.share = bounds{share(i.Value), share(i.Low), share(i.High)}
		e.lacks = bounds{lacks(i.Value), lacks(i.High), lacks(i.Low)}
	}
}
