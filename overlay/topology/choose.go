package topology

import (
	"slices"
	"time"

	"github.com/venn-p2p/venn/overlay/agenda"
	"github.com/venn-p2p/venn/overlay/directory"
	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/rank"
	"github.com/venn-p2p/venn/overlay/region"
	"github.com/venn-p2p/venn/overlay/wire"
)

const (
	// connectsATime is the most new connections in one round, besides a swap and spread neighbours. With eight, their
	// hellos take 15 kB more than the budget of a line of 256 kbit/s has (TestBudgets).
	connectsATime = 2
	// latestChoice is the time after the start from which new origins delay the comparison no more. With half of it, a
	// peer with a tenth of our keys becomes the neighbour by overlap, and one with eight tenths does not (transcript
	// neighbours). With 30 s a query takes 3.08 messages in place of 2.97 (scenario routing, 200 peers, origins=24).
	latestChoice = 20 * time.Second
	// auditMost is the longest time between audits, while the summary does not change.
	auditMost = agenda.Day
)

// Known has the facts that a choice depends on besides the directory.
type Known struct {
	Idle func(wire.PeerID) bool // reports whether a peer owes us nothing that we asked for

	// Within reports whether an entry is in our range; nil: the range is everybody.
	Within func(*directory.Entry) bool
	// Depth is the depth of our range. If the range is far wider than others, Parts is the depth of its parts, each of
	// which needs a neighbour; else 0.
	Parts, Depth int
	// Starting is set while our range may soon change: links into it would be of no use, nor most others.
	Starting bool
}

// Choose fills the slots, and swaps a neighbour by overlap for a clearly better peer. Call it about once a second.
func (t *Topology) Choose(now time.Duration, known Known) {
	t.dropSilent(now)
	room := connectsATime
	random := func(c []rank.Candidate, n int) []rank.Candidate { return rank.Random(c, n, t.cfg.Rand) }
	linkedFirst := func(c []rank.Candidate, n int) []rank.Candidate {
		c = rank.Random(c, len(c), t.cfg.Rand)
		slices.SortStableFunc(c, func(a, b rank.Candidate) int { return t.unlinked(a) - t.unlinked(b) })
		return c[:min(n, len(c))]
	}
	t.within = known.Within
	t.recast()
	if t.within != nil && !known.Starting {
		room = t.fill(now, Ranged, t.rangedSlots(), room, linkedFirst)
	}
	if t.comparable(now, known) {
		room = t.fillSimilar(now, room)
		t.swap(now)
		if t.within == nil {
			room = t.fill(now, Near, t.cfg.Near, room, rank.Near)
		}
		t.dropExtra(known.Idle)
	}
	free := t.cfg.slots() - t.count(Similar) - t.count(Near) - t.count(Ranged)
	if t.within != nil || known.Starting { // the slots by overlap stay free until gossip finds similar peers
		free = min(free, t.cfg.slots()-t.similarSlots()-region.RangeLinks)
		random = linkedFirst
	}
	t.fill(now, Random, free, room, random)
	t.spread(now, known)
	t.audit(now)
}

// comparable reports whether the samples of most peers are in. Neighbours chosen by overlap before that would soon be
// worse than others, but stay because a swap needs intervals that separate.
func (t *Topology) comparable(now time.Duration, known Known) bool {
	running := now - t.started
	return t.directory.Origins() > 0 && t.directory.Own().Held() != nil && !known.Starting &&
		(now-t.directory.LastLearned() >= region.Settled && running >= region.Settled || running >= latestChoice)
}

// candidates lists the peers that could become neighbours of kind k now. Peers that are neighbours already are among
// them only if may returns true.
func (t *Topology) candidates(now time.Duration, k Kind, may func(*neighbour) bool) []rank.Candidate {
	others := t.directory.Others()
	out := make([]rank.Candidate, 0, len(others))
	for _, e := range others {
		if t.eligible(now, e, k, may) {
			out = append(out, candidate(e))
		}
	}
	return out
}

// eligible reports whether an entry is a candidate for kind k. Refuted entries are not eligible for Similar.
func (t *Topology) eligible(now time.Duration, e *directory.Entry, k Kind, may func(*neighbour) bool) bool {
	if e == nil || e.Record().Envelope == nil || now < t.retry[e.Index()].End() || e.Covered() ||
		k == Similar && e.Refuted() || k == Ranged && !t.within(e) {
		return false
	}
	nb, is := t.neighbours[e.Peer()]
	return !is || may(nb)
}

func candidate(e *directory.Entry) rank.Candidate {
	return rank.Candidate{Index: e.Index(), Overlap: e.Overlap(), Known: e.Judged(), RTT: e.RTT()}
}

// unlinked returns 1 for a candidate without a connection, else 0.
func (t *Topology) unlinked(c rank.Candidate) int {
	if t.directory.IsLinked(t.directory.Entry(c.Index).Peer()) {
		return 0
	}
	return 1
}

// recast turns ranged neighbours that are no longer in our range into random ones. It gives them up if random
// neighbours already fill all slots.
func (t *Topology) recast() {
	for p, nb := range t.linkedOf(Ranged) {
		if e := t.directory.Lookup(p); t.within != nil && (e == nil || t.within(e)) {
			continue
		}
		if t.count(Random) >= t.cfg.slots() {
			t.giveUp(p)
			continue
		}
		nb.kind = Random
	}
}

// rangedSlots returns the number of neighbours to choose in our range: fewer where others have chosen us, but at least
// half of RangeLinks.
func (t *Topology) rangedSlots() int {
	theirs := 0
	for p := range t.linkedOf(Inbound) {
		if e := t.directory.Lookup(p); e != nil && t.within(e) {
			theirs++
		}
	}
	return max(region.RangeLinks/2, region.RangeLinks-theirs)
}

// keepFor returns the least time that a neighbour by overlap is kept: longer where gossip keeps finding better ones.
func (t *Topology) keepFor() time.Duration {
	if t.within != nil {
		return agenda.Faded
	}
	return agenda.Attempt
}

// similarSlots returns the number of slots by overlap: half as many where gossip finds similar peers.
func (t *Topology) similarSlots() int {
	if t.within != nil {
		return t.cfg.Overlap / 2
	}
	return t.cfg.Overlap
}

// fillSimilar gives the free slots for overlap to the best candidates, neighbours of other kinds included. It makes at
// most room new connections, and returns the room that is left.
func (t *Topology) fillSimilar(now time.Duration, room int) int {
	free := t.similarSlots() - t.count(Similar)
	if free <= 0 {
		return room
	}
	cands := t.candidates(now, Similar, func(nb *neighbour) bool { return nb.kind != Similar })
	for _, c := range rank.Similar(cands, free) {
		if room == 0 {
			break
		}
		if t.choose(now, t.directory.Entry(c.Index), Similar) {
			room--
		}
	}
	return room
}

// fill gives the free slots of a kind to the candidates that a rule picks among peers that are no neighbours yet. For
// Near, random neighbours are candidates, too: they stood in for others. It makes at most room new connections, and
// returns the room that is left.
func (t *Topology) fill(now time.Duration, k Kind, slots, room int, rule func([]rank.Candidate, int) []rank.Candidate) int {
	n := min(room, slots-t.count(k))
	if n <= 0 {
		return room
	}
	may := func(nb *neighbour) bool { return nb.kind == Random && k == Near }
	for _, c := range rule(t.candidates(now, k, may), n) {
		if t.choose(now, t.directory.Entry(c.Index), k) {
			room--
		}
	}
	return room
}

// choose makes a peer a neighbour of kind k. It reports whether that needs a new connection.
func (t *Topology) choose(now time.Duration, e *directory.Entry, k Kind) bool {
	p := e.Peer()
	if nb, is := t.neighbours[p]; is {
		t.due.By(dueSwap, now+t.keepFor())
		nb.kind, nb.since = k, now
		return false
	}
	t.add(now, p, neighbour{kind: k, since: now})
	t.do(event.Connect{To: e.Record()})
	linked := t.directory.IsLinked(p)
	if linked {
		t.greet(p)
	}
	return !linked
}

// swap gives up the weakest neighbour by overlap for a peer that is better beyond doubt. A neighbour whose claims were
// refuted goes at once.
func (t *Topology) swap(now time.Duration) {
	if !t.due.Take(dueSwap, now) {
		return
	}
	t.due.By(dueSwap, now+agenda.Seldom)
	t.dropRefuted(now)
	var incumbents []rank.Candidate
	for p, nb := range t.linkedOf(Similar) {
		if e := t.directory.Lookup(p); e != nil && e.Judged() && now-nb.since >= t.keepFor() {
			incumbents = append(incumbents, candidate(e))
		}
	}
	challengers := t.candidates(now, Similar, func(nb *neighbour) bool { return nb.kind != Similar })
	if out, in, ok := rank.Swap(incumbents, challengers); ok {
		t.giveUp(t.directory.Entry(out.Index).Peer())
		t.choose(now, t.directory.Entry(in.Index), Similar)
		t.due.By(dueSwap, now)
	}
}

// dropRefuted gives up neighbours by overlap that do not hold what they claim. Any that comes back is audited at once.
func (t *Topology) dropRefuted(now time.Duration) {
	for p := range t.linkedOf(Similar) {
		if e := t.directory.Lookup(p); e != nil && e.Refuted() {
			t.rest(now, p)
			delete(t.audits, e.Index())
			t.giveUp(p)
		}
	}
}

// dropSilent gives up the linked neighbours that have not accepted in time.
func (t *Topology) dropSilent(now time.Duration) {
	for _, l := range t.directory.Links() {
		if nb, is := t.neighbours[l.Peer]; is && !nb.accepted && now-nb.since >= t.cfg.Accept {
			t.rest(now, l.Peer)
			t.refused(l.Peer)
			t.giveUp(l.Peer)
		}
	}
}

// audit asks each neighbour by overlap for keys that its summary claims. It begins once enough of the neighbour's
// summary is known, and repeats from time to time.
func (t *Topology) audit(now time.Duration) {
	for p := range t.linkedOf(Similar) {
		if e := t.directory.Lookup(p); e != nil {
			t.auditOf(now, e)
		}
	}
}

// auditOf audits a peer if enough of its summary is known. While the summary does not change, the time between audits
// doubles.
func (t *Topology) auditOf(now time.Duration, e *directory.Entry) {
	p := t.audits[e.Index()]
	if now < p.End() || !e.SureMatches() {
		return
	}
	p.Begin(now, agenda.Faded, auditMost)
	t.audits[e.Index()] = p
	t.do(event.Audit{Of: e.Record(), Claims: e.Held()})
}

// Missed notes that a peer did not hold a key that its summary was sure to claim. A peer without a confirmed hit is
// audited at once: queries alone would find out slowly, at their askers' expense.
func (t *Topology) Missed(now time.Duration, e *directory.Entry) {
	if hits, _ := e.Answers(); hits > 0 || e.Refuted() {
		return
	}
	t.auditOf(now, e)
}

// dropExtra gives up one neighbour of kind Random once neighbours by overlap that have accepted need its slot. The
// neighbour is drawn by lot: an attacker could make an identity that a fixed order spares. Neighbours with an ask
// outstanding stay.
func (t *Topology) dropExtra(idle func(wire.PeerID) bool) {
	accepted := 0
	for _, nb := range t.neighbours {
		if nb.kind == Similar && nb.accepted {
			accepted++
		}
	}
	if t.count(Random) <= t.cfg.slots()-accepted-t.count(Near)-t.count(Ranged) {
		return
	}
	var all []wire.PeerID
	for p := range t.linkedOf(Random) {
		if idle(p) {
			all = append(all, p)
		}
	}
	if len(all) > 0 {
		t.giveUp(all[t.cfg.Rand.IntN(len(all))])
	}
}
