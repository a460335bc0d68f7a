package directory

import (
	"time"

	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/wire"
)

// LearnRecord stores a peer's certified addresses, that the peer from sent, if there is room. It returns a fault of the
// sender if the record does not verify, else "".
func (d *Directory) LearnRecord(now time.Duration, from wire.PeerID, r wire.Record) event.Fault {
	if r.Peer == d.cfg.Self {
		return ""
	}
	e := d.Lookup(r.Peer)
	if e != nil && string(e.record) == string(r.Envelope) {
		d.second(e, from)
		return ""
	}
	p, err := d.cfg.OpenRecord(r.Envelope)
	if err != nil || p != r.Peer {
		return event.FaultRecord
	}
	if r.Envelope = d.newest(e, r); e != nil && string(e.record) == string(r.Envelope) {
		return ""
	}
	if e == nil {
		e = d.name(now, from, wire.Tag(d.cfg.Seed, string(p)))
	}
	if e != nil && (e.peer == "" || e.peer == p) && d.joinGroup(now, e, r, false) {
		before := e.signedBytes()
		e.peer, e.record = p, d.Keep(r.Envelope)
		d.countSigned(e, before)
		e.recordEpoch, _ = e.Epoch()
		d.touch()
	}
	return ""
}

// newest returns the newer of two records of a peer: the verified r, and the one that is or was held. e is the peer's
// entry, nil if there is none.
func (d *Directory) newest(e *Entry, r wire.Record) []byte {
	if d.cfg.Newest == nil {
		return r.Envelope
	}
	var held []byte
	if e != nil && e.peer == r.Peer {
		held = e.record
	}
	return d.cfg.Newest(r.Peer, held, r.Envelope)
}

// Keep returns the copy that is kept of a signed header or record.
func (d *Directory) Keep(signed []byte) []byte {
	if d.cfg.Keep == nil {
		return signed
	}
	return d.cfg.Keep(signed)
}

// introducible reports whether the record of an entry is worth passing on.
func (e *Entry) introducible() bool {
	return e != nil && e.record != nil && e.dialFails == 0 && !e.Covered()
}

// Drawn yields records of peers drawn at random, each once. It copies none of the others, so its time does not grow
// with the directory.
func (d *Directory) Drawn(yield func(wire.Record) bool) {
	others := d.Others()
	moved := make(map[int]int) // from the index of an entry that was drawn to the index of the entry drawn in its place
	at := func(i int) int {
		if j, ok := moved[i]; ok {
			return j
		}
		return i
	}
	for left := len(others); left > max(0, len(others)-LookedAt); left-- {
		i := d.cfg.Rand.IntN(left)
		e := others[at(i)]
		moved[i] = at(left - 1)
		if e.introducible() && !yield(e.Record()) {
			return
		}
	}
}

// signedBytes returns the size of an entry's signed bytes: its record and envelopes.
func (e *Entry) signedBytes() int {
	return len(e.record) + len(e.envelope) + len(e.oldEnvelope)
}

// countSigned adds a change of an entry's signed bytes to the total; before is their number before the change.
func (d *Directory) countSigned(e *Entry, before int) {
	if !d.isOwn(e) {
		d.signed += e.signedBytes() - before
	}
}

// RecordOf returns the certified addresses of a peer; false if none are known.
func (d *Directory) RecordOf(p wire.PeerID) (wire.Record, bool) {
	e := d.Lookup(p)
	if e == nil || e.Record().Envelope == nil {
		return wire.Record{}, false
	}
	return e.Record(), true
}
