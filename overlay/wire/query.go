package wire

import (
	"encoding/binary"
	"fmt"
	"math"
	"time"

	"github.com/venn-p2p/venn/overlay/space"
)

// Kind is the kind of a question on the query protocol.
type Kind uint8

const (
	// Candidates asks for peers that may hold the key, from the directory alone.
	Candidates Kind = iota
	// Search asks the receiver to look for holders, and to forward the query further within the budget.
	Search
)

func (k Kind) String() string { return name(int(k), "candidates", "search") }

// Mode says what ends a query.
type Mode uint8

const (
	// Any ends the query when the wanted number of providers is found.
	Any Mode = iota
	// All looks for every provider.
	All
)

func (m Mode) String() string { return name(int(m), "any", "all") }

// Query asks a peer for candidates, or to search. A receiver that does not know the Kind or Mode answers with no
// records.
type Query struct {
	Kind         Kind
	Mode         Mode
	Nonce        uint64 // the origin draws it: Origin and Nonce name the query
	Origin       PeerID // peer that began the query
	Key          []byte
	Want, Budget int           // providers wanted; messages that the receiver may spend
	Within       time.Duration // time left, in whole milliseconds on the wire
	Hops         int           // links that the query may still travel
	Visited      []uint32      // marks of peers that received the query before, at most [MaxVisited]
	Fresh        time.Duration // greatest age of knowledge, see routing.Query; on the wire in whole ms, rounded down
}

// Append appends the message to b.
func (q Query) Append(b []byte) []byte { return appendTo(b, q) }

// Size returns the number of bytes that Append appends.
func (q Query) Size() int { return sizeOf(q) }

func (q Query) fields(w *writer) {
	w.uint(1, uint64(q.Kind)+1)
	w.uint(2, uint64(q.Mode)+1)
	w.fixed64(3, q.Nonce)
	w.bytes(4, []byte(q.Origin))
	w.bytes(5, q.Key)
	w.uint(6, count(q.Want))
	w.uint(7, count(q.Budget))
	w.uint(8, milliseconds(q.Within))
	w.uint(9, uint64(q.Hops))
	w.bytes(10, markBytes(q.Visited))
	w.uint(11, freshField(q.Fresh))
}

// count returns n, limited to the values of its field: 0 to 2^31-1.
func count(n int) uint64 { return uint64(min(max(n, 0), math.MaxInt32)) }

// freshField encodes the greatest allowed age of knowledge as milliseconds plus one. Field 0 leaves the age to the
// receiver, and 1 accepts no knowledge.
func freshField(d time.Duration) uint64 {
	if d == 0 {
		return 0
	}
	return 1 + min(milliseconds(d), math.MaxUint32-1)
}

// fresh is the inverse of freshField.
func fresh(field uint64) time.Duration {
	switch field {
	case 0:
		return 0
	case 1:
		return -1
	}
	return time.Duration(field-1) * time.Millisecond
}

// milliseconds returns the whole milliseconds of a duration, limited to 0 to MaxWithin.
func milliseconds(d time.Duration) uint64 {
	return uint64(min(max(d, 0), MaxWithin) / time.Millisecond)
}

// markBytes encodes marks as a field: four bytes each, big-endian.
func markBytes(marks []uint32) (b []byte) {
	for _, m := range marks {
		b = binary.BigEndian.AppendUint32(b, m)
	}
	return b
}

// marks decodes a field of at most limit marks.
func (d *decoder) marks(limit int) []uint32 {
	b := d.bytes(0, 4*limit)
	if len(b)%4 != 0 {
		d.malformed("field %d of %d bytes", d.num, len(b))
		return nil
	}
	var out []uint32
	for ; len(b) > 0; b = b[4:] {
		out = append(out, binary.BigEndian.Uint32(b))
	}
	return out
}

// ParseQuery decodes a whole message.
func ParseQuery(b []byte) (Query, error) {
	var q Query
	d := decode("query", b, MaxQuery)
	for d.next() {
		switch d.num {
		case 1:
			q.Kind = Kind(d.enumeration())
		case 2:
			q.Mode = Mode(d.enumeration())
		case 3:
			q.Nonce = d.fixed64()
		case 4:
			q.Origin = PeerID(d.bytes(1, MaxPeer))
		case 5:
			q.Key = d.bytes(1, MaxKey)
		case 6:
			q.Want = d.int(math.MaxInt32)
		case 7:
			q.Budget = d.int(math.MaxInt32)
		case 8:
			q.Within = time.Duration(d.uint(math.MaxUint32)) * time.Millisecond
		case 9:
			q.Hops = d.int(MaxHops)
		case 10:
			q.Visited = d.marks(MaxVisited)
		case 11:
			q.Fresh = fresh(d.uint(math.MaxUint32))
		}
	}
	d.required(1, 2, 5)
	if d.err != nil {
		return Query{}, d.err
	}
	return q, nil
}

// enumeration returns the value of a singular enumeration, counted from 0; on the wire it is counted from 1. An
// unknown value is no error, because a later version may know it. Values from 255 on are returned as 255.
func (d *decoder) enumeration() uint8 {
	v := d.uint(math.MaxUint64)
	if d.err == nil && v < 1 {
		d.malformed("field %d is %d", d.num, v)
	}
	if d.err != nil {
		return 0
	}
	return uint8(min(v-1, math.MaxUint8))
}

// Answer is one message of the answer to a query.
type Answer struct {
	Records  []Record
	Messages int // requests and answers that this query has cost so far, in all
	Final    bool
	Depth    int // depth of the range around the sender that its directory covers; 0: all places
	// Age of the oldest knowledge that the answer relies on; whole milliseconds on the wire, rounded up
	AsOf time.Duration
}

// Append appends the message to b. There must be at most MaxAnswerRecords records.
func (a Answer) Append(b []byte) []byte { return appendTo(b, a) }

// Size returns the number of bytes that Append appends.
func (a Answer) Size() int { return sizeOf(a) }

func (a Answer) fields(w *writer) {
	w.records(1, a.Records)
	w.uint(2, count(a.Messages))
	w.bool(3, a.Final)
	w.uint(4, uint64(a.Depth))
	w.uint(5, milliseconds(a.AsOf+time.Millisecond-1))
}

// ParseAnswer decodes a whole message.
func ParseAnswer(b []byte) (Answer, error) {
	var a Answer
	d := decode("answer", b, MaxAnswer)
	for d.next() {
		switch d.num {
		case 1:
			a.Records = append(a.Records, d.record(len(a.Records), MaxAnswerRecords))
		case 2:
			a.Messages = d.int(math.MaxInt32)
		case 3:
			a.Final = d.bool()
		case 4:
			a.Depth = d.int(space.MaxDepth)
		case 5:
			a.AsOf = time.Duration(d.uint(math.MaxUint32)) * time.Millisecond
		}
	}
	if d.err != nil {
		return Answer{}, d.err
	}
	return a, nil
}

func name(i int, names ...string) string {
	if i < len(names) {
		return names[i]
	}
	return fmt.Sprintf("?%d", i)
}
