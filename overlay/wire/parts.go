package wire

import (
	"github.com/venn-p2p/venn/overlay/group"
	"github.com/venn-p2p/venn/summary"
)

const (
	MaxPartsRequest = 64        // bytes of a PartsRequest
	MaxParts        = 512 << 10 // bytes of a Parts on a stream
	MaxPartsRPC     = 136 << 10 // bytes of a Parts in pubsub
	MaxSample       = 4 << 10   // bytes of a Parts in an ordinary message
	MaxPart         = 1<<16 - 1 // number of a part, and of parts
	groupBytes      = len(group.ID{})
)

// PartsRequest asks for parts First to End-1 of a group; fewer may come.
type PartsRequest struct {
	Group      group.ID
	First, End int
	Bases      Bases // a delta from one of these may answer
}

// AppendPartsRequest appends the message to b.
func AppendPartsRequest(b []byte, r PartsRequest) []byte {
	b = appendBytes(b, 1, r.Group[:])
	b = appendUint(b, 2, uint64(r.First))
	b = appendUint(b, 3, uint64(r.End))
	return appendUint(b, 4, uint64(r.Bases))
}

// ParsePartsRequest reads a whole message.
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
		case 4:
			r.Bases = Bases(d.uint(uint64(MaxBases)))
		}
	}
	d.required(1)
	if r.First >= r.End {
		d.malformed("parts %d to %d", r.First, r.End)
	}
	if d.err != nil {
		return PartsRequest{}, d.err
	}
	return r, nil
}

// Parts is a run of parts; with part 0 also the origin's signed header and PeerRecord. Or a delta, with the header, and
// with the record if the receiver has another. Or the word that nothing is sent.
type Parts struct {
	Refused          bool
	Envelope, Record []byte
	Run              summary.Run
	Delta            []byte // nil: it is a run
	More             bool   // another message to the same peer follows at once
}

// AppendParts appends the message to b.
func AppendParts(b []byte, p Parts) []byte {
	if p.Refused {
		return appendBool(b, 1, true)
	}
	b = appendBytes(b, 2, p.Envelope)
	b = appendBytes(b, 3, p.Record)
	if len(p.Delta) > 0 {
		b = appendBytes(b, 5, p.Delta)
	} else {
		b = appendNested(b, 4, p.Run.AppendBinary)
	}
	return appendBool(b, 6, p.More)
}

// ParseParts reads a whole message of at most limit bytes (MaxParts, MaxPartsRPC or MaxSample).
func ParseParts(b []byte, limit int) (Parts, error) {
	var p Parts
	var run []byte
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
		case 5:
			p.Delta = d.bytes(1, limit)
		case 6:
			p.More = d.bool()
		}
	}
	if p.Delta != nil && run != nil {
		d.malformed("a delta and a run")
	}
	if p.Refused && (p.Envelope != nil || p.Record != nil || p.Delta != nil || run != nil || p.More) {
		d.malformed("a refusal and more")
	}
	if d.err == nil && !p.Refused && p.Delta == nil {
		p.Run, d.err = summary.ParseRun(run)
	}
	if d.err != nil {
		return Parts{}, d.err
	}
	return p, nil
}
