package wire

import (
	"encoding/binary"
	"math"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/venn-p2p/venn/overlay"
	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/space"
)

const (
	MaxIntroduction = MaxSample + MaxRecord                                             // bytes of a summary that is passed on
	MaxInquiry      = event.MaxLacks + event.MaxKnown*knownBytes + MaxIntroduction + 64 // bytes of an Inquiry
	MaxNames        = event.MaxNamed*(MaxRecord+8) + event.MaxSimilar*(MaxIntroduction+8) + 64

	knownBytes = 6 // of an origin that an asker knows
)

// AppendInquiry appends the message to b. Known must be sorted by place, each place once.
func AppendInquiry(b []byte, q overlay.Inquiry) []byte {
	known := make([]byte, 0, knownBytes*len(q.Known))
	for _, k := range q.Known {
		known = binary.BigEndian.AppendUint32(known, k.Place)
		known = binary.BigEndian.AppendUint16(known, k.Sequence)
	}
	b = appendUint(b, 1, uint64(q.Depth))
	b = appendBool(b, 2, q.Near)
	b = appendBytes(b, 3, q.Lacks)
	b = appendUint(b, 4, uint64(q.Least))
	b = appendBytes(b, 5, known)
	b = appendIntroductions(b, 6, q.Own)
	b = appendBool(b, 7, q.Nearer)
	return appendFixed64(b, 8, uint64(q.Meet))
}

// ParseInquiry reads a whole message.
func ParseInquiry(b []byte) (overlay.Inquiry, error) {
	var q overlay.Inquiry
	d := decode("inquiry", b, MaxInquiry)
	for d.next() {
		switch d.num {
		case 1:
			q.Depth = d.int(space.MaxDepth)
		case 2:
			q.Near = d.bool()
		case 3:
			q.Lacks = d.bytes(1, event.MaxLacks)
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
		return overlay.Inquiry{}, d.err
	}
	return q, nil
}

// known reads the origins that an asker knows.
func (d *decoder) known() []overlay.KnownOrigin {
	b := d.bytes(knownBytes, event.MaxKnown*knownBytes)
	if len(b)%knownBytes != 0 {
		d.malformed("field %d of %d bytes", d.num, len(b))
		return nil
	}
	out := make([]overlay.KnownOrigin, 0, len(b)/knownBytes)
	for ; len(b) > 0; b = b[knownBytes:] {
		k := overlay.KnownOrigin{Place: binary.BigEndian.Uint32(b), Sequence: binary.BigEndian.Uint16(b[4:])}
		if n := len(out); n > 0 && out[n-1].Place >= k.Place {
			d.malformed("field %d is out of order", d.num)
			return nil
		}
		out = append(out, k)
	}
	return out
}

// AppendNames appends the message to b. The ids of the named peers are left out: their records say whose they are.
func AppendNames(b []byte, n overlay.Names) []byte {
	b = appendUint(b, 1, uint64(n.Depth))
	for _, p := range n.Peers {
		b = appendBytes(b, 2, p.Record.Envelope)
	}
	depths := make([]byte, len(n.Peers))
	for i, p := range n.Peers {
		depths[i] = byte(p.Depth)
	}
	b = appendBytes(b, 3, depths)
	return appendIntroductions(b, 4, n.Similar)
}

// ParseNames reads a whole message. The ids of the named peers are for the caller to fill in, from their records.
func ParseNames(b []byte) (overlay.Names, error) {
	var n overlay.Names
	var depths []byte
	d := decode("names", b, MaxNames)
	for d.next() {
		switch d.num {
		case 1:
			n.Depth = d.int(space.MaxDepth)
		case 2:
			n.Peers = append(n.Peers, overlay.Named{Record: overlay.Record{Envelope: d.element(len(n.Peers), event.MaxNamed, 1, MaxRecord)}})
		case 3:
			depths = d.bytes(1, event.MaxNamed)
		case 4:
			n.Similar = append(n.Similar, d.introduction(len(n.Similar), event.MaxSimilar))
		}
	}
	if d.err == nil && len(depths) != len(n.Peers) {
		d.malformed("%d depths of %d peers", len(depths), len(n.Peers))
	}
	for i := range n.Peers {
		if d.err != nil {
			return overlay.Names{}, d.err
		}
		if n.Peers[i].Depth = int(depths[i]); depths[i] > space.MaxDepth {
			d.fail(ErrLimit, "depth %d", depths[i])
		}
	}
	if d.err != nil {
		return overlay.Names{}, d.err
	}
	return n, nil
}

func appendIntroductions(b []byte, num protowire.Number, all []overlay.Introduction) []byte {
	for _, i := range all {
		b = appendBytes(b, num, AppendParts(nil, Parts{Envelope: i.Envelope, Record: i.Record, Run: i.Run}))
	}
	return b
}

// introduction reads one of a repeated field of summaries that are passed on: a run from part 0, with header and
// record.
func (d *decoder) introduction(have, allowed int) overlay.Introduction {
	b := d.element(have, allowed, 1, MaxIntroduction)
	if d.err != nil {
		return overlay.Introduction{}
	}
	p, err := ParseParts(b, MaxIntroduction)
	switch {
	case err != nil:
		d.err = err
	case p.Refused || p.Delta != nil || p.More || p.Run.First != 0 || len(p.Envelope) == 0 || len(p.Record) == 0:
		d.malformed("field %d is no introduction", d.num)
	}
	if d.err != nil {
		return overlay.Introduction{}
	}
	return overlay.Introduction{Envelope: p.Envelope, Record: p.Record, Run: p.Run}
}
