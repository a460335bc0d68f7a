package wire

import (
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/venn-p2p/venn/summary"
)

// PartsRequest asks for parts First to End-1 of a group. The answer may have fewer.
type PartsRequest struct {
	Group      GroupID
	First, End int
	Given      Given // a summary of any origin that the asker holds: parts may be coded given it; zero: none
}

// Append appends the message to b.
func (r PartsRequest) Append(b []byte) []byte { return appendTo(b, r) }

// Size returns the number of bytes that Append appends.
func (r PartsRequest) Size() int { return sizeOf(r) }

func (r PartsRequest) fields(w *writer) {
	w.bytes(1, r.Group[:])
	w.uint(2, uint64(r.First))
	w.uint(3, uint64(r.End))
	if r.Given != (Given{}) {
		w.bytes(6, r.Given.append(nil))
	}
}

// ParsePartsRequest decodes a whole message.
func ParsePartsRequest(b []byte) (PartsRequest, error) {
	var r PartsRequest
	d := decode("parts request", b, MaxPartsRequest)
	for d.next() {
		switch d.num {
		case 1:
			copy(r.Group[:], d.bytes(groupBytes, groupBytes))
		case 2:
			r.First = d.int(MaxPart)
		case 3:
			r.End = d.int(MaxPart)
		case 6:
			if b := d.bytes(givenBytes, givenBytes); b != nil {
				r.Given = givenOf(b)
			}
		}
	}
	d.required(1)
	if r.First >= r.End {
		d.lacks("parts %d to %d", r.First, r.End)
	}
	if d.err != nil {
		return PartsRequest{}, d.err
	}
	return r, nil
}

// Parts carries a run of parts, a delta, or a refusal. A run that starts at part 0 comes with the origin's signed
// header and PeerRecord. A delta comes with the header, and with the record if the receiver has another. A refusal
// carries nothing else.
type Parts struct {
	Refused          bool
	Envelope, Record []byte
	Run              summary.Run
	Delta            []byte // relative run in place of Run; nil: none
	More             bool   // another message to the same peer follows at once
}

// Append appends the message to b.
func (p Parts) Append(b []byte) []byte { return appendTo(b, p) }

// Size returns the number of bytes that Append appends.
func (p Parts) Size() int { return sizeOf(p) }

func (p Parts) fields(w *writer) {
	if p.Refused {
		w.bool(1, true)
		return
	}
	w.bytes(2, p.Envelope)
	shared := sharedKey(p.Envelope, p.Record)
	if shared == 0 {
		w.bytes(3, p.Record)
	}
	if len(p.Delta) > 0 {
		w.bytes(7, p.Delta)
	} else {
		w.made(4, runBytes(p.Run), p.Run.AppendBinary)
	}
	w.bool(6, p.More)
	if shared > 0 {
		w.bytes(8, p.Record[shared:])
	}
}

// joinRecord puts the key that p's header begins with before the rest of a record. A record that has the key itself is
// malformed.
func (p *Parts) joinRecord(d *decoder, rest []byte) {
	switch id, header := summary.Signer(p.Envelope); {
	case rest == nil:
		if sharedKey(p.Envelope, p.Record) > 0 {
			d.malformed("the key of header and record twice")
		}
	case id == "" || p.Record != nil:
		d.malformed("a record without a key")
	default:
		key := p.Envelope[:len(p.Envelope)-len(header)]
		if p.Record = slices.Concat(key, rest); len(p.Record) > MaxRecord {
			d.fail(ErrLimit, "record of %d bytes, at most %d", len(p.Record), MaxRecord)
		}
	}
}

// ParseParts decodes a whole message of at most limit bytes (MaxParts, MaxPartsRPC or MaxIntroduction).
func ParseParts(b []byte, limit int) (Parts, error) {
	var p Parts
	var run, keyless []byte
	d := decode("parts", b, limit)
	for d.next() {
		switch d.num {
		case 1:
			p.Refused = d.bool()
		case 2:
			p.Envelope = d.bytes(1, MaxEnvelope)
		case 3:
			p.Record = d.bytes(1, MaxRecord)
		case 4:
			run = d.bytes(1, limit)
		case 6:
			p.More = d.bool()
		case 7:
			p.Delta = d.bytes(1, limit)
		case 8:
			keyless = d.bytes(1, MaxRecord)
		}
	}
	p.joinRecord(&d, keyless)
	if p.Delta != nil && run != nil {
		d.malformed("a delta and a run")
	}
	if p.Refused && (p.Envelope != nil || p.Record != nil || p.Delta != nil || run != nil || p.More) {
		d.malformed("a refusal and more")
	}
	if !p.Refused && p.Delta == nil && run == nil && d.later {
		d.lacks("neither run nor delta")
	}
	if d.err == nil && !p.Refused && p.Delta == nil {
		p.Run, d.err = summary.ParseRun(run)
	}
	if d.err != nil {
		return Parts{}, d.err
	}
	return p, nil
}

// runBytes returns the number of bytes of a run's encoding.
func runBytes(r summary.Run) int {
	n := protowire.SizeVarint(uint64(r.First)) + protowire.SizeVarint(uint64(len(r.Parts))) + len(r.Next)
	for _, p := range r.Parts {
		n += protowire.SizeBytes(len(p))
	}
	return n
}
