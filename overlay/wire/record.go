package wire

import (
	"google.golang.org/protobuf/encoding/protowire"
)

const (
	MaxPeer     = 64   // most bytes of a peer id
	MaxEnvelope = 1024 // most bytes of a signed header
	MaxRecord   = 2048 // most bytes of a signed PeerRecord
)

// PeerID names a peer. The driver defines its bytes; here they are only compared.
type PeerID string

// Record is a peer with its certified addresses: a record that the peer itself signed. Its bytes are opaque here.
// Nodes dial only addresses from such a record.
type Record struct {
	Peer     PeerID
	Envelope []byte
}

// maxRecordField bounds the bytes of an encoded Record, with its tag and length.
const maxRecordField = MaxPeer + MaxRecord + 16

func (r Record) fields(w *writer) {
	w.bytes(1, []byte(r.Peer))
	w.bytes(2, r.Envelope)
}

func (w *writer) records(num protowire.Number, records []Record) {
	for _, r := range records {
		w.nested(num, r)
	}
}

// record reads one element of a repeated field of records.
func (d *decoder) record(have, allowed int) Record {
	in := decode(d.name+": record", d.element(have, allowed, 1, maxRecordField), maxRecordField)
	var r Record
	for d.err == nil && in.next() {
		switch in.num {
		case 1:
			r.Peer = PeerID(in.bytes(1, MaxPeer))
		case 2:
			r.Envelope = in.bytes(1, MaxRecord)
		}
	}
	in.required(1)
	if d.err == nil {
		d.err = in.err
	}
	return r
}
