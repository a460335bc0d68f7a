package wire

import (
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/venn-p2p/venn/overlay"
)

const (
	MaxPeer     = 64   // bytes of a peer id
	MaxEnvelope = 1024 // bytes of a signed header
	MaxRecord   = 2048 // bytes of a signed PeerRecord
)

// maxRecordField bounds an encoded Record with its tag and length.
const maxRecordField = MaxPeer + MaxRecord + 16

func appendRecords(b []byte, num protowire.Number, records []overlay.Record) []byte {
	for _, r := range records {
		m := make([]byte, 0, sizeBytes(len(r.Peer))+sizeBytes(len(r.Envelope)))
		m = appendBytes(m, 1, []byte(r.Peer))
		b = appendBytes(b, num, appendBytes(m, 2, r.Envelope))
	}
	return b
}

// record reads one of a repeated field of records.
func (d *decoder) record(have, allowed int) overlay.Record {
	in := decode(d.name+": record", d.element(have, allowed, 1, maxRecordField), maxRecordField)
	var r overlay.Record
	for d.err == nil && in.next() {
		switch in.num {
		case 1:
			r.Peer = overlay.PeerID(in.bytes(1, MaxPeer))
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
