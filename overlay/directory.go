package overlay

import (
	"slices"
	"time"

	"github.com/venn-p2p/venn/summary"
	"github.com/venn-p2p/venn/summary/estimate"
)

// entry is what is known of one peer's collection. Entries have dense indexes, so that a link's trades are a table;
// index 0 is this node's own summary.
type entry struct {
	index  int
	tag    uint64 // of the origin: all that an announcement says before the header is known
	old    bool   // its summary is under the previous seed
	peer   PeerID // empty until a record or header came
	record Record

	envelope    []byte          // signed header of the newest epoch
	oldEnvelope []byte          // and, while next is held, that of cur
	cur         *summary.Prefix // answers queries
	next        *summary.Prefix // a newer epoch, not yet as deep as cur
	bases       []base          // earlier epochs, the oldest first, for deltas
	recordSince summary.Epoch   // the epoch that the record came with
	newerThan   summary.Epoch   // the last epoch heard of that was later than the newest held
	newerSince  time.Duration   // and when
	deltaBytes  int             // of the last delta; 0: there was none

	expires  time.Duration // lifetime counted from first receipt
	since    time.Duration // when the newest epoch was first held
	grown    time.Duration // when the newest prefix last grew
	ask      *ask          // the one outstanding ask; noAsk, never nil
	step     step          // what to ask for next
	depth    int           // parts to hold at most, once memory ran short; 0: no limit
	fetchAt  time.Duration // no direct fetch before then
	quiet    time.Duration // nobody offered more when last looked; not looked again before then
	banned   bool          // signed two summaries under one epoch
	foreign  bool          // its summary is under a seed that is not known here
	past     summary.Epoch // the last verified one of a summary that has expired: none up to it is learned again
	pending  bool          // no summary has come yet
	by       PeerID        // which link first told of it, while it is pending
	tried    time.Duration // when it was last asked for
	group    string        // of addresses; see Config.Group
	unwanted time.Duration // nothing is learned of it before then: its group is full

	share      bounds        // of our collection that the peer holds
	lacks      bounds        // keys that it holds and we do not
	shareParts int           // the depth it was estimated at; 0: not of late
	shareUntil time.Duration // a new epoch after this needs a new estimate

	answers
	auditAt   time.Duration // it is not asked for keys that its summary claims before then
	rtt       time.Duration
	dialFails int
	retryAt   time.Duration // not dialled as a neighbour before then
}

// ask is an outstanding request for parts from..end-1 of one epoch.
type ask struct {
	peer     PeerID
	way      Way
	epoch    summary.Epoch
	from     int
	end      int
	bytes    int // predicted, and reserved
	deadline time.Duration
}

// noAsk is that of every entry that nothing is asked about; never changed.
var noAsk = &ask{}

// bounds is an estimate's interval as an entry keeps it.
type bounds struct{ value, low, high float32 }

// interval is the estimate at [Confidence]; the zero interval for none.
func (b bounds) interval() estimate.Interval {
	if b == (bounds{}) {
		return estimate.Interval{}
	}
	return estimate.Interval{Value: float64(b.value), Low: float64(b.low), High: float64(b.high), Confidence: Confidence}
}

const (
	// maxPending bounds the origins that are known by announcement or record only, and maxPendingLink those of one link.
	maxPending     = 1 << 14
	maxPendingLink = maxPending / 4
	// pendingFor is how long after the last ask an origin that nobody offers any more is kept in mind.
	pendingFor = 30 * time.Second
	// unreachableAfter so many failed dials, a peer of which there is nothing but a record is forgotten.
	unreachableAfter = 3
	// unknownSample is the predicted size of a signed header, record and sample.
	unknownSample = 1024 + 512
)

// newest returns the prefix of the newest epoch known, nil when none is.
func (e *entry) newest() *summary.Prefix {
	if e.next != nil {
		return e.next
	}
	return e.cur
}

// epoch returns the newest epoch known (zero: none) and how many of its parts are held.
func (e *entry) epoch() (summary.Epoch, int) {
	p := e.newest()
	if p == nil {
		return summary.Epoch{}, 0
	}
	return p.Header().Epoch, p.Parts()
}

// at returns the prefix held of an epoch.
func (e *entry) at(ep summary.Epoch) *summary.Prefix {
	for _, p := range []*summary.Prefix{e.next, e.cur} {
		if p != nil && p.Header().Epoch == ep {
			return p
		}
	}
	return nil
}

// rate returns the false-positive rate of what is held: 1 when nothing is.
func (e *entry) rate() float64 {
	if e.cur == nil {
		return 1
	}
	return e.cur.FalsePositiveRate()
}

// gone says whether an origin has expired, or was banned, or cannot be understood: nothing is expected of it.
func (e *entry) gone() bool {
	return e.banned || e.foreign || e.cur == nil && e.past != (summary.Epoch{})
}

// add returns the entry of an origin that a link tells of, making it if it is new and there is room for one more that nobody
// vouches for: not when memory is short, unless it is the peer itself that we are connected with.
func (o *Overlay) add(l *link, tag uint64) *entry {
	if i, ok := o.byTag[tag]; ok {
		return o.entries[i]
	}
	if o.pending >= maxPending || l.brought >= maxPendingLink ||
		!o.isTag(tag, l) && (len(o.byTag) > o.cfg.MaxOrigins || o.pendingFull() || o.short()) {
		o.dropped++
		return nil
	}
	i := len(o.entries)
	if n := len(o.free); n > 0 {
		i, o.free = o.free[n-1], o.free[:n-1]
	} else {
		o.entries = append(o.entries, nil)
	}
	e := &entry{index: i, tag: tag, ask: noAsk, pending: true, by: l.peer, tried: o.now}
	o.entries[i] = e
	o.byTag[tag] = i
	o.pending++
	l.brought++
	o.planAt, o.sigma = 0, unknownSigma
	o.expireAt = min(o.expireAt, o.now+pendingFor)
	return e
}

// settle notes that an entry is no longer pending.
func (o *Overlay) settle(e *entry) {
	if !e.pending {
		return
	}
	e.pending = false
	o.pending--
	if l, ok := o.links[e.by]; ok {
		l.brought = max(0, l.brought-1)
	}
}

// drop forgets all that is held of an origin.
func (o *Overlay) drop(e *entry) {
	if e.cur != nil && o.standsAlone(e) {
		o.origins--
	}
	o.endAsk(e)
	o.sigma = unknownSigma
	o.held -= e.memory()
	e.cur, e.next, e.bases = nil, nil, nil
	o.setAnswer(e)
	o.tellSibling(e)
}

// remove forgets an origin.
func (o *Overlay) remove(e *entry) {
	o.settle(e)
	o.drop(e)
	o.records -= e.recordBytes()
	o.leaveGroup(e)
	delete(o.byTag, e.tag)
	o.entries[e.index] = nil
	o.free = append(o.free, e.index)
	for _, l := range o.order {
		l.forget(e.index)
	}
}

// lookup finds what is known of a peer: the entry that stands for it.
func (o *Overlay) lookup(p PeerID) (*entry, bool) {
	return o.standing(o.cfg.Seed.OriginTag(string(p)), p)
}

// other is lookup for a linked peer, of which the tag is known.
func (o *Overlay) other(l *link) (*entry, bool) { return o.standing(l.tag, l.peer) }

func (o *Overlay) standing(tag uint64, p PeerID) (*entry, bool) {
	e := o.entryOf(tag, p)
	if o.previous != nil && (e == nil || e.cur == nil) {
		if old := o.entryOf(o.cfg.Seed.Rotated(tag, o.previous.tag), p); old != nil && (e == nil || old.cur != nil) {
			e = old
		}
	}
	return e, e != nil
}

// entryOf is the entry with a tag, if it is known to be a peer's.
func (o *Overlay) entryOf(tag uint64, p PeerID) *entry {
	i, ok := o.byTag[tag]
	if !ok || o.entries[i].peer != p {
		return nil
	}
	return o.entries[i]
}

// learnRecord takes in a peer's certified addresses. A record that does not verify is the sender's fault.
func (o *Overlay) learnRecord(from *link, r Record) {
	if r.Peer == o.cfg.Self {
		return
	}
	e, known := o.lookup(r.Peer)
	if known && string(e.record.Envelope) == string(r.Envelope) {
		return
	}
	p, err := o.cfg.OpenRecord(r.Envelope)
	if err != nil || p != r.Peer {
		o.fault(from, FaultRecord)
		return
	}
	if !known {
		e = o.add(from, o.cfg.Seed.OriginTag(string(p)))
	}
	if e != nil && (e.peer == "" || e.peer == p) && o.joinGroup(e, r) {
		before := e.recordBytes()
		e.peer, e.record = p, r
		o.countRecords(e, before)
		e.recordSince, _ = e.epoch()
	}
}

// recordsFor picks the records of a hello: our own, and others at random as far as they fit.
func (o *Overlay) recordsFor(with records) []Record {
	var out []Record
	if own := o.entries[0].record; with != noRecords && own.Envelope != nil {
		out = append(out, own)
	}
	if with != someRecords {
		return out
	}
	others := make([]Record, 0, len(o.entries))
	for _, e := range o.others() {
		if e != nil && e.record.Envelope != nil && e.dialFails == 0 && !o.covered(e) {
			others = append(others, e.record)
		}
	}
	o.cfg.Rand.Shuffle(len(others), func(i, j int) { others[i], others[j] = others[j], others[i] })
	room := int(helloShare * min(Burst(o.up.rate), o.up.tokens-reserve))
	for _, r := range others {
		if room -= recordBytes(r); room < 0 || len(out) >= MaxHelloRecords/2 {
			break
		}
		out = append(out, r)
	}
	return out
}

// expire forgets summaries whose lifetime is over, and origins that nobody offers anything of. The epoch of an expired summary is
// remembered for one more lifetime: others, who received it later, may still hold it, and it would go round for ever.
func (o *Overlay) expire(now time.Duration) {
	if now < o.expireAt {
		return
	}
	o.expireAt = forever
	for _, e := range o.others() {
		if e == nil || e.banned {
			continue
		}
		_, linked := o.links[e.peer]
		switch {
		case linked:
		case e.cur != nil && now >= e.expires:
			e.past, _ = e.epoch()
			e.expires = now + e.newest().Header().Lifetime
			before := e.recordBytes()
			e.record = Record{}
			o.countRecords(e, before)
			o.drop(e)
		case e.cur == nil && e.past != (summary.Epoch{}) && now >= e.expires:
			o.remove(e)
		case e.pending && now >= e.tried+pendingFor && (e.peer == "" || e.dialFails >= unreachableAfter) && !o.offered(e):
			o.remove(e)
			continue
		}
		o.expireAt = min(o.expireAt, max(e.nextExpiry(), now+neighbourEvery))
	}
}

// offered says whether a link says that it holds anything of an origin.
func (o *Overlay) offered(e *entry) bool {
	return slices.ContainsFunc(o.order, func(l *link) bool { return l.known(e.index).have > 0 })
}

// nextExpiry is when an entry may have to go.
func (e *entry) nextExpiry() time.Duration {
	at := forever
	if e.cur != nil || e.past != (summary.Epoch{}) {
		at = e.expires
	}
	if e.pending {
		at = min(at, e.tried+pendingFor)
	}
	return at
}

// isNewest says whether a prefix is the newest of its origin.
func (o *Overlay) isNewest(p *summary.Prefix) bool {
	i, known := o.byTag[p.Header().Group().OriginTag()]
	return known && o.entries[i].newest() == p
}
