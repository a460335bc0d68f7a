package wire

import (
	"encoding/binary"
	"math"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/venn-p2p/venn/overlay/space"
)

// Inquiry asks a peer to name other peers: some near the asker, some of ranges in which the asker has no contact,
// and the ones most similar to the asker.
type Inquiry struct {
	Depth int  // depth of the asker's own range
	Near  bool // the asker looks for peers of its own range
	// Nearer limits Near to peers no farther from the asker's place than the sixteenth nearest in Known.
	Nearer bool
	Meet   space.Place // place of the meeting that the asker looks up; 0: none
	// A bit for each range of depth Depth, the first range in the highest bit; a set bit: the asker has no contact
	// there. Nil: it has one in every range
	Lacks []byte
	Least uint16 // least overlap of interest, in units of 1/65535 of the asker's collection
	// The similar origins that the asker keeps, and the origins near it, sorted by place; at most [MaxKnown]
	Known []KnownOrigin
	Own   []Parts // the asker's own summary, at most one; none if the receiver has it
}

// KnownOrigin names an origin that an asker knows: by the first 32 bits of its place and the last 16 bits of its
// epoch's sequence number.
type KnownOrigin struct {
	Place    uint32
	Sequence uint16
}

// Names answers an [Inquiry].
type Names struct {
	Depth int     // depth of the range around the answering peer that it vouches for
	Peers []Named // peers near the asker, or of ranges that it lacks; at most [MaxNamed]

	// Introductions are first parts of summaries: of peers most similar to the asker, the most similar first, or of the
	// answering peer, if it names nobody. At most [MaxIntroduced].
	Introductions []Parts
}

// Named is a peer that can be asked about origins of its range.
type Named struct {
	Record Record
	Depth  int // depth of the peer's range, as far as known
}

// Append appends the message to b. Known must be sorted by place, and have each place once.
func (q Inquiry) Append(b []byte) []byte { return appendTo(b, q) }

// Size returns the number of bytes that Append appends.
func (q Inquiry) Size() int { return sizeOf(q) }

func (q Inquiry) fields(w *writer) {
	known := make([]byte, 0, knownBytes*len(q.Known))
	for _, k := range q.Known {
		known = binary.BigEndian.AppendUint32(known, k.Place)
		known = binary.BigEndian.AppendUint16(known, k.Sequence)
	}
	w.uint(1, uint64(q.Depth))
	w.bool(2, q.Near)
	w.bytes(3, q.Lacks)
	w.uint(4, uint64(q.Least))
	w.bytes(5, known)
	w.introductions(6, q.Own)
	w.bool(7, q.Nearer)
	w.fixed64(8, uint64(q.Meet))
}

// ParseInquiry decodes a whole message.
func ParseInquiry(b []byte) (Inquiry, error) {
	var q Inquiry
	d := decode("inquiry", b, MaxInquiry)
	for d.next() {
		switch d.num {
		case 1:
			q.Depth = d.int(space.MaxDepth)
		case 2:
			q.Near = d.bool()
		case 3:
			q.Lacks = d.bytes(1, MaxLacks)
		case 4:
			q.Least = uint16(d.uint(math.MaxUint16))
		case 5:
			q.Known = d.known()
		case 6:
			q.Own = append(q.Own, d.introduction(len(q.Own), 1))
		case 7:
			q.Nearer = d.bool()
		case 8:
			q.Meet = space.Place(d.fixed64())
		}
	}
	if d.err == nil && q.Lacks != nil && len(q.Lacks) != (1<<min(q.Depth, space.MaxBits)+7)/8 {
		d.malformed("%d bytes of ranges of depth %d", len(q.Lacks), q.Depth)
	}
	if d.err != nil {
		return Inquiry{}, d.err
	}
	return q, nil
}

// known decodes a field of origins that an asker knows.
func (d *decoder) known() []KnownOrigin {
	b := d.bytes(knownBytes, MaxKnown*knownBytes)
	if len(b)%knownBytes != 0 {
		d.malformed("field %d of %d bytes", d.num, len(b))
		return nil
	}
	out := make([]KnownOrigin, 0, len(b)/knownBytes)
	for ; len(b) > 0; b = b[knownBytes:] {
		k := KnownOrigin{Place: binary.BigEndian.Uint32(b), Sequence: binary.BigEndian.Uint16(b[4:])}
		if n := len(out); n > 0 && out[n-1].Place >= k.Place {
			d.malformed("field %d is out of order", d.num)
			return nil
		}
		out = append(out, k)
	}
	return out
}

// Append appends the message to b. It leaves out the ids of the named peers, because their records hold them.
func (n Names) Append(b []byte) []byte { return appendTo(b, n) }

// Size returns the number of bytes that Append appends.
func (n Names) Size() int { return sizeOf(n) }

func (n Names) fields(w *writer) {
	w.uint(1, uint64(n.Depth))
	for _, p := range n.Peers {
		w.bytes(2, p.Record.Envelope)
	}
	depths := make([]byte, len(n.Peers))
	for i, p := range n.Peers {
		depths[i] = byte(p.Depth)
	}
	w.bytes(3, depths)
	w.introductions(4, n.Introductions)
}

// ParseNames decodes a whole message. The caller must set the ids of the named peers, from their records.
func ParseNames(b []byte) (Names, error) {
	var n Names
	var depths []byte
	d := decode("names", b, MaxNames)
	for d.next() {
		switch d.num {
		case 1:
			n.Depth = d.int(space.MaxDepth)
		case 2:
			n.Peers = append(n.Peers, Named{Record: RecordOf(d.element(len(n.Peers), MaxNamed, 1, MaxRecord))})
		case 3:
			depths = d.bytes(1, MaxNamed)
		case 4:
			n.Introductions = append(n.Introductions, d.introduction(len(n.Introductions), MaxIntroduced))
		}
	}
	if d.err == nil && len(depths) != len(n.Peers) {
		d.malformed("%d depths of %d peers", len(depths), len(n.Peers))
	}
	for i := range n.Peers {
		if d.err != nil {
			return Names{}, d.err
		}
		if n.Peers[i].Depth = int(depths[i]); depths[i] > space.MaxDepth {
			d.fail(ErrLimit, "depth %d", depths[i])
		}
	}
	if d.err != nil {
		return Names{}, d.err
	}
	return n, nil
}

func (w *writer) introductions(num protowire.Number, all []Parts) {
	for _, p := range all {
		w.nested(num, p)
	}
}

// introduction reads one element of a repeated field of summaries that are passed on. Each must be a run from part
// 0 on, with header and record.
func (d *decoder) introduction(have, allowed int) Parts {
	b := d.element(have, allowed, 1, MaxIntroduction)
	if d.err != nil {
		return Parts{}
	}
	p, err := ParseParts(b, MaxIntroduction)
	switch {
	case err != nil:
		d.err = err
	case p.Refused || p.Delta != nil || p.More || p.Run.First != 0 || len(p.Envelope) == 0 || len(p.Record) == 0:
		d.malformed("field %d is no introduction", d.num)
	}
	if d.err != nil {
		return Parts{}
	}
	return p
}
