package wire

import (
	"bytes"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/venn-p2p/venn/summary"
)

// PeerID names a peer. The driver defines its bytes; here they are only compared.
type PeerID string

// Record is a peer with its certified addresses: a record that the peer itself signed. Of its bytes only the signer's
// key is looked at here. Nodes dial only addresses from such a record.
type Record struct {
	Peer     PeerID
	Envelope []byte
}

// RecordOf returns the record in an envelope, with the peer of the key that the envelope begins with: "" for none. It
// does not verify the signature.
func RecordOf(envelope []byte) Record {
	id, _ := summary.Signer(envelope)
	return Record{PeerID(id), envelope}
}

// fields writes the peer only where the envelope does not begin with its key.
func (r Record) fields(w *writer) {
	if len(r.Envelope) == 0 || RecordOf(r.Envelope).Peer != r.Peer {
		w.bytes(1, []byte(r.Peer))
	}
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
	var peer PeerID
	var r Record
	for d.err == nil && in.next() {
		switch in.num {
		case 1:
			peer = PeerID(in.bytes(1, MaxPeer))
		case 2:
			r = RecordOf(in.bytes(1, MaxRecord))
		}
	}
	switch peer {
	case "":
		if r.Peer == "" {
			in.lacks("no peer")
		}
	case r.Peer:
		in.malformed("a peer that its envelope names")
	default:
		r.Peer = peer
	}
	if d.err == nil {
		d.err = in.err
	}
	return r
}

// sharedKey returns the number of bytes that both envelopes begin with, if these are one signer's key and its length;
// else 0.
func sharedKey(a, b []byte) int {
	id, rest := summary.Signer(a)
	if n := len(a) - len(rest); id != "" && len(b) > n && bytes.HasPrefix(b, a[:n]) {
		return n
	}
	return 0
}
