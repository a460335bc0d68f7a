package directory

import (
	"time"

	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
	"github.com/venn-p2p/venn/summary/estimate"
)

// State is the state of an entry: what is held of it, and what can still come.
type State uint8

const (
	// Empty is our own entry before the first epoch is published.
	Empty State = iota
	// Named is an entry known by its record alone: nobody has announced a summary.
	Named
	// Pending is an entry whose summary was announced; none of it has come.
	Pending
	// Foreign is a pending entry whose summary is under a seed unknown here. It is not asked for.
	Foreign
	// Held is an entry with one epoch held. It answers queries.
	Held
	// Replaced is an entry with two epochs held. The older one answers until the newer one is as deep.
	Replaced
	// Expired is an entry whose summary outlived its lifetime. Its last epoch is remembered, so that no epoch up to it
	// is accepted again.
	Expired
)

// String returns the name of the state.
func (s State) String() string {
	return [...]string{"empty", "named", "pending", "foreign", "held", "replaced", "expired"}[s]
}

// pending reports whether an entry in this state counts as pending.
func (s State) pending() bool { return s == Pending || s == Foreign }

// gone reports whether nothing is expected of an entry in this state.
func (s State) gone() bool { return s == Foreign || s == Expired }

// Entry is the record of one origin's summary. Others read it by its methods; only its [Directory] changes it.
type Entry struct {
	index  int32
	tag    uint64
	peer   wire.PeerID // empty until a record or header came
	group  string      // address group that counts the entry; "": none
	state  State
	old    bool            // its summary is under the previous seed
	cur    *summary.Prefix // prefix that answers queries
	next   *summary.Prefix // in state Replaced, the prefix of the newer epoch
	bases  []base          // prefixes of earlier epochs, the oldest first
	limit  uint16          // most parts to hold, once memory ran short; 0: no limit
	judged uint16          // parts at the last try to estimate the overlap; 0: not tried, or outdated
	answers

	record      []byte // the peer's signed record; nil: none came
	envelope    []byte // the signed header of the newest epoch
	oldEnvelope []byte // in state Replaced, the signed header of cur

	by       wire.PeerID // the link that named the entry first, while nothing is held
	session  uint32      // session of that link; 0: there was none
	seconded bool        // another link has named it since, or the peer itself
	offered  bool        // nothing was held when last looked at, and a link whose word is enough offered parts

	sibling      *Entry        // the same peer's entry under the other seed; nil: there is none
	overlap      bounds        // part of our collection that the peer holds
	overlapUntil time.Duration // a new epoch before this keeps the estimate
	recordEpoch  summary.Epoch // the epoch that the record came with
	since        time.Duration // when the newest epoch was first held; its lifetime counts from then
	touched      time.Duration // when the newest prefix last grew; while nothing is held, when it was last asked for
	outdated     time.Duration // in state Replaced, the time from which a newer epoch than cur was held
	past         summary.Epoch // last epoch of an expired summary: no epoch up to it is accepted
	forgotten    time.Duration // in state Expired, when the entry goes
	unwanted     time.Duration // nothing is learned of it before this time: its address group is full
	rtt          time.Duration // round trip to the peer; 0: not measured
	dialFails    int           // failed dials in a row
}

// bounds is an interval in the compact form that an entry keeps.
type bounds struct{ value, low, high float32 }

// Confidence is the level of the intervals of overlap.
const Confidence = 0.95

// interval returns the bounds as an interval at [Confidence]; the zero interval if there is no estimate.
func (b bounds) interval() estimate.Interval {
	if b == (bounds{}) {
		return estimate.Interval{}
	}
	return estimate.Interval{Value: float64(b.value), Low: float64(b.low), High: float64(b.high), Confidence: Confidence}
}

// Index returns the entry's number in its directory.
func (e *Entry) Index() int { return int(e.index) }

// Tag returns the origin's tag under the seed of the summary.
func (e *Entry) Tag() uint64 { return e.tag }

// State returns the state of the entry.
func (e *Entry) State() State { return e.state }

// Peer returns the origin's id; "" while only the tag is known.
func (e *Entry) Peer() wire.PeerID { return e.peer }

// Record returns the peer's addresses; its envelope is nil while none are known.
func (e *Entry) Record() wire.Record {
	if e.record == nil {
		return wire.Record{}
	}
	return wire.Record{Peer: e.peer, Envelope: e.record}
}

// RecordEpoch returns the epoch that the record came with: peers that hold this epoch have the record.
func (e *Entry) RecordEpoch() summary.Epoch { return e.recordEpoch }

// Held returns the prefix that answers queries, nil if there is none.
func (e *Entry) Held() *summary.Prefix { return e.cur }

// Newest returns the held prefix of the newest epoch; nil if there is none.
func (e *Entry) Newest() *summary.Prefix {
	if e.next != nil {
		return e.next
	}
	return e.cur
}

// Gone reports whether nothing is expected of the entry.
func (e *Entry) Gone() bool { return e.state.gone() }

// Epoch returns the newest epoch of which a prefix is held, and its number of parts held; zeros if there is none.
func (e *Entry) Epoch() (summary.Epoch, int) {
	p := e.Newest()
	if p == nil {
		return summary.Epoch{}, 0
	}
	return p.Header().Epoch, p.Parts()
}

// At returns the prefix held of an epoch, bases excluded; nil if there is none.
func (e *Entry) At(ep summary.Epoch) *summary.Prefix {
	switch {
	case e.next != nil && e.next.Header().Epoch == ep:
		return e.next
	case e.cur != nil && e.cur.Header().Epoch == ep:
		return e.cur
	}
	return nil
}

// Envelope returns the signed header of a prefix that [Entry.At] returned.
func (e *Entry) Envelope(p *summary.Prefix) []byte {
	if p == e.Newest() {
		return e.envelope
	}
	return e.oldEnvelope
}

// Past returns the last epoch of an expired summary; zero if none has expired. No epoch up to it is accepted.
func (e *Entry) Past() summary.Epoch { return e.past }

// Since returns when the newest epoch was first held.
func (e *Entry) Since() time.Duration { return e.since }

// Grown returns when the newest prefix last grew.
func (e *Entry) Grown() time.Duration { return e.touched }

// Limit returns the most parts that may be held while memory is short; 0: any number.
func (e *Entry) Limit() int { return int(e.limit) }

// Unwanted reports whether nothing is to be learned of the origin now, because its address group is full.
func (e *Entry) Unwanted(now time.Duration) bool { return now < e.unwanted }

// UnwantedUntil returns when there may be room in its address group.
func (e *Entry) UnwantedUntil() time.Duration { return e.unwanted }

// Rate returns the false-positive rate of the prefix that answers queries (see Held); 1 if there is none.
func (e *Entry) Rate() float64 {
	if e.cur == nil {
		return 1
	}
	return e.cur.FalsePositiveRate()
}

// Overlap returns the part of our collection that the peer holds, as estimated; the zero interval if it is not known.
func (e *Entry) Overlap() estimate.Interval { return e.overlap.interval() }

// Judged reports whether [Entry.Overlap] is up to date.
func (e *Entry) Judged() bool { return e.judged > 0 }

// Answers returns the recent hits and misses of confirmations with the peer.
func (e *Entry) Answers() (hits, misses int) { return int(e.hits), int(e.misses) }

// RTT returns the round trip to the peer; 0: not measured.
func (e *Entry) RTT() time.Duration { return e.rtt }

// DialFails returns the number of failed dials of the peer since it was last heard of.
func (e *Entry) DialFails() int { return e.dialFails }

// Weight returns the weight of the peer's false-positive rate: 1 for a peer that has nothing in common with us, up to 2
// for one that holds all that we do, and less for one whose claims failed.
func (e *Entry) Weight() float64 {
	kept := float64(1+e.hits) / float64(1+e.hits+e.misses)
	return (1 + float64(e.overlap.value)) * kept
}

// value returns the fall of the weighted false-positive rate per byte that parts from..end-1 of a stream bring.
func (e *Entry) value(p *summary.Prefix, from, end int) float64 {
	plan := p.Plan()
	return e.Weight() * (plan.ExpectedRate(from) - plan.ExpectedRate(end)) / float64(max(1, plan.EncodedBytes(end)-plan.EncodedBytes(from)))
}
