package overlay

import (
	"time"

	"github.com/venn-p2p/venn/summary"
	"github.com/venn-p2p/venn/summary/estimate"
)

// entry is what is known of one peer's collection. Entries have dense indexes, so that a link's trades are a table;
// index 0 is this node's own summary.
type entry struct {
	index  int
	tag    uint64 // of the origin: all that an announcement says before the header is known
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
	ask      ask           // the one outstanding ask
	step     step          // what to ask for next
	depth    int           // parts to hold at most, once memory ran short; 0: no limit
	fetchAt  time.Duration // no direct fetch before then
	quiet    time.Duration // nobody offered more when last looked; not looked again before then
	banned   bool          // signed two summaries under one epoch
	group    string        // of addresses; see Config.Group
	unwanted time.Duration // nothing is learned of it before then: its group is full

	share      estimate.Interval // of our collection that the peer holds
	lacks      estimate.Interval // keys that it holds and we do not
	shareParts int               // the depth it was estimated at; 0: not of late
	shareUntil time.Duration     // a new epoch after this needs a new estimate

	hits, misses int
	rtt          time.Duration
	dialFails    int
	retryAt      time.Duration // not dialled as a neighbour before then
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

const (
	// maxUnverified bounds the origins that are known by announcement only.
	maxUnverified = 1 << 14
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
	return e.cur.Rate()
}

// add returns the entry of an origin, making it if it is new and there is room for one more that nobody vouches for.
func (o *Overlay) add(tag uint64) *entry {
	if i, ok := o.byTag[tag]; ok {
		return o.entries[i]
	}
	if o.unverified >= maxUnverified || len(o.byTag) > o.cfg.MaxOrigins || o.now < o.fullUntil {
		o.dropped++
		return nil
	}
	i := len(o.entries)
	if n := len(o.free); n > 0 {
		i, o.free = o.free[n-1], o.free[:n-1]
	} else {
		o.entries = append(o.entries, nil)
	}
	e := &entry{index: i, tag: tag}
	o.entries[i] = e
	o.byTag[tag] = i
	o.unverified++
	o.planAt, o.sigma = 0, unknownSigma
	return e
}

// name ties an entry to the peer that it is about.
func (o *Overlay) name(e *entry, p PeerID) {
	if e.peer == "" {
		e.peer = p
		o.unverified--
	}
}

// remove forgets an origin.
func (o *Overlay) remove(e *entry) {
	if e.peer == "" {
		o.unverified--
	}
	if e.cur != nil {
		o.origins--
	}
	o.endAsk(e)
	o.sigma = unknownSigma
	o.held -= e.memory()
	o.records -= e.recordBytes()
	o.leaveGroup(e)
	o.setAnswer(e.index, nil)
	delete(o.byTag, e.tag)
	o.entries[e.index] = nil
	o.free = append(o.free, e.index)
	for _, l := range o.order {
		if e.index < len(l.trades) {
			l.trades[e.index] = trade{}
		}
	}
}

// lookup finds what is known of a peer.
func (o *Overlay) lookup(p PeerID) (*entry, bool) {
	i, ok := o.byTag[summary.OriginTag(string(p))]
	if !ok || o.entries[i].peer != p {
		return nil, false
	}
	return o.entries[i], true
}

// learnRecord takes in a peer's certified addresses. A record that does not verify is the sender's fault.
func (o *Overlay) learnRecord(from *link, r Record) {
	if r.Peer == o.cfg.Self {
		return
	}
	if e, ok := o.lookup(r.Peer); ok && string(e.record.Envelope) == string(r.Envelope) {
		return
	}
	p, err := o.cfg.OpenRecord(r.Envelope)
	if err != nil || p != r.Peer {
		o.fault(from, FaultRecord)
		return
	}
	if e := o.add(summary.OriginTag(string(p))); e != nil && (e.peer == "" || e.peer == p) && o.joinGroup(e, r) {
		o.name(e, p)
		before := e.recordBytes()
		e.record = r
		o.countRecords(e, before)
		e.recordSince, _ = e.epoch()
	}
}

// recordsFor picks the records of a hello: our own, and others at random as far as they fit.
func (o *Overlay) recordsFor(with records) []Record {
	var out, others []Record
	if own := o.entries[0].record; with != noRecords && own.Envelope != nil {
		out = append(out, own)
	}
	if with != someRecords {
		return out
	}
	for _, e := range o.entries[1:] {
		if e != nil && e.record.Envelope != nil && e.dialFails == 0 {
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

// expire forgets summaries whose lifetime is over, and peers that are gone.
func (o *Overlay) expire(now time.Duration) {
	if now < o.expireAt {
		return
	}
	o.expireAt = forever
	for _, e := range o.entries[1:] {
		if e == nil || e.cur == nil {
			continue
		}
		if now < e.expires {
			o.expireAt = min(o.expireAt, e.expires)
			continue
		}
		if _, linked := o.links[e.peer]; !linked {
			o.remove(e)
		} else {
			o.expireAt = now
		}
	}
}

// isNewest says whether a prefix is the newest of its origin.
func (o *Overlay) isNewest(p *summary.Prefix) bool {
	i, known := o.byTag[p.Header().Group().OriginTag()]
	return known && o.entries[i].newest() == p
}
