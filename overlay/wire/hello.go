package wire

import (
	"math"

	"github.com/venn-p2p/venn/overlay/space"
)

// Hello tells the peer at the other end of a link the sender's state. Both ends send it when the link opens, and
// after changes.
type Hello struct {
	Up, Down     uint64  // declared rates of the sender's line, bit/s; 0: not declared
	Measured     uint64  // rate at which trains of the receiver's messages arrived, bit/s; 0: not measured
	FalseMatches float64 // expected false matches of the sender's directory, see Overlay.FalseMatches
	Origins      int     // peers of which the sender holds at least the sample
	Neighbour    bool    // the sender counts the receiver among its neighbours
	Full         bool    // the sender accepts no more neighbours
	Tails        bool    // the sender understands tails (package tails), on streams of their own
	// The sender had no room for some origins of its range before, and has now: the receiver is to announce all of
	// them again
	Again bool
	// First hello on a link on which the sender has not received a hello: the receiver forgets earlier exchanges
	New     bool
	Parted  bool     // the sender has ended the link, for want of room; the other fields do not count
	Session uint64   // random number, drawn at each start of the sender
	Depth   int      // depth of the range around the sender that it wants announced; 0: all places
	Network int      // the sender's estimate of the number of origins in the whole network; 0: not stated
	Seed    uint32   // number of the seed of the sender's summaries
	Records []Record // the sender's own and some of peers that it knows, at most [MaxHelloRecords]
}

// Append appends the message to b.
func (h Hello) Append(b []byte) []byte { return appendTo(b, h) }

// Size returns the number of bytes that Append appends.
func (h Hello) Size() int { return sizeOf(h) }

func (h Hello) fields(w *writer) {
	w.uint(1, h.Up)
	w.uint(2, h.Down)
	w.fixed64(3, math.Float64bits(h.FalseMatches))
	w.uint(4, uint64(h.Origins))
	w.bool(5, h.Neighbour)
	w.fixed64(6, h.Session)
	w.records(7, h.Records)
	w.bool(8, h.Full)
	w.uint(9, h.Measured)
	w.uint(11, uint64(h.Depth))
	w.uint(12, uint64(h.Network))
	w.bool(13, h.Again)
	w.bool(14, h.New)
	w.bool(15, h.Tails)
	w.bool(16, h.Parted)
	w.uint(17, uint64(h.Seed))
	// Field 18 is kept for the newest format that the sender reads; absent means 2.
}

// ParseHello decodes a whole message.
func ParseHello(b []byte) (Hello, error) {
	var h Hello
	d := decode("hello", b, MaxHello)
	for d.next() {
		switch d.num {
		case 1:
			h.Up = d.uint(math.MaxUint64)
		case 2:
			h.Down = d.uint(math.MaxUint64)
		case 3:
			h.FalseMatches = d.double()
		case 4:
			h.Origins = d.int(math.MaxInt32)
		case 5:
			h.Neighbour = d.bool()
		case 6:
			h.Session = d.fixed64()
		case 7:
			h.Records = append(h.Records, d.record(len(h.Records), MaxHelloRecords))
		case 8:
			h.Full = d.bool()
		case 9:
			h.Measured = d.uint(math.MaxUint64)
		case 11:
			h.Depth = d.int(space.MaxDepth)
		case 12:
			h.Network = d.int(math.MaxInt32)
		case 13:
			h.Again = d.bool()
		case 14:
			h.New = d.bool()
		case 15:
			h.Tails = d.bool()
		case 16:
			h.Parted = d.bool()
		case 17:
			h.Seed = uint32(d.uint(math.MaxUint32))
		}
	}
	if d.err != nil {
		return Hello{}, d.err
	}
	return h, nil
}
