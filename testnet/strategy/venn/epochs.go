package venn

import (
	"encoding/binary"
	"errors"
	"sync"
	"time"

	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
	"github.com/venn-p2p/venn/testnet/misdeed"
	"github.com/venn-p2p/venn/testnet/strategy"
)

const (
	reserve = 64 // sequence numbers reserved on disk at a time; a restart loses the unused ones

	keyBytes    = 36 // bytes of an Ed25519 key in libp2p's protocol buffer
	recordBytes = 94 // bytes of a signed PeerRecord of two addresses behind its key
	peerIDBytes = 38 // bytes of a peer id made from an Ed25519 key
)

// origin is a peer as the origin of summaries. Its epochs have the same parts while its collection stays as it is.
type origin struct {
	sessions uint64 // number of sessions so far
	last     uint32 // latest sequence number used
	reserved uint32 // sequence numbers up to it may be used

	epoch   *epoch // the latest; nil: none yet
	changed bool   // the collection differs from the epoch's
}

// epoch is a summary that was published.
type epoch struct {
	misdeed.Claim
	twin *epoch // an adversary's second summary under the same number; nil: none
}

// right is the last byte of an envelope: it stands for a signature that is right.
const right = 0

var errSignature = errors.New("strategy: venn: wrong signature")

// restart begins a session. The number of the session's first request is one more than the number returned.
func (o *origin) restart() uint64 {
	o.sessions++
	o.last = o.reserved
	return o.sessions << 32
}

// next returns the sequence number of the next epoch.
func (o *origin) next() uint32 {
	if o.last++; o.last > o.reserved {
		o.reserved = o.last + reserve - 1
	}
	return o.last
}

// publish returns a peer's next summary with a lifetime: the last one under a new number if the collection is the same.
func (r *run) publish(p strategy.ID, lifetime time.Duration) event.Published {
	o := &r.origins[p]
	var h summary.Header
	if o.epoch != nil {
		h = o.epoch.Stream.Header()
	}
	h.Epoch, h.Lifetime = summary.Epoch{Generation: 1, Sequence: o.next()}, lifetime
	if o.epoch != nil && !o.changed {
		stream, err := o.epoch.Stream.Under(h)
		o.epoch = sealed(p, stream, err)
	} else {
		o.epoch = r.build(p, r.claims(p), h)
	}
	o.changed = false
	return event.Published{Envelope: o.epoch.Envelope, Record: o.epoch.Record, Stream: o.epoch.Stream}
}

// build makes a summary of keys with the epoch and lifetime of a header, and in the header's shape if the keys fit it.
func (r *run) build(p strategy.ID, keys []summary.Fingerprint, of summary.Header) *epoch {
	h := summary.Header{
		Seed: r.seed.Tag(), Origin: string(peerID(p)), Epoch: of.Epoch, Lifetime: of.Lifetime, Shape: of.Shape,
	}
	var err error
	if !h.Shape.Fits(len(keys)) {
		if h.Shape, err = r.shape(len(keys)); err != nil {
			panic(err) // the parameters were checked
		}
	}
	stream, err := summary.Build(keys, h)
	return sealed(p, stream, err)
}

// sealed returns a peer's summary as it is sent: the header with the bytes of a signature, and the peer's record. It
// panics on an error, which the run's keys cannot cause.
func sealed(p strategy.ID, stream *summary.Prefix, err error) *epoch {
	var envelope []byte
	if err == nil {
		envelope, err = stream.Header().Sign(func([]byte) (key, signature []byte, err error) {
			return keyOf(p), make([]byte, signatureBytes), nil
		})
	}
	if err != nil {
		panic(err)
	}
	return &epoch{Claim: misdeed.Claim{Stream: stream, Envelope: envelope, Record: recordOf(p)}}
}

// recordOf returns the bytes of a peer's signed record.
func recordOf(p strategy.ID) []byte {
	return append(append([]byte{keyBytes}, keyOf(p)...), make([]byte, recordBytes)...)
}

// keyOf returns the bytes of a peer's public key.
func keyOf(p strategy.ID) []byte { return []byte(peerID(p)[peerIDBytes-keyBytes:]) }

// twin returns a peer's second summary under the number of an epoch, without one of its keys.
func (r *run) twin(p strategy.ID, e *epoch) *epoch {
	if e.twin == nil {
		keys, h := r.claims(p), e.Stream.Header()
		keys = keys[:min(len(keys), max(1, len(keys)-1))]
		e.twin = r.build(p, keys, summary.Header{Epoch: h.Epoch, Lifetime: h.Lifetime})
	}
	return e.twin
}

// peerID returns the name of a peer: 38 bytes that end with its number. Names of the first peers share their memory,
// for every machine keeps the names of its links and of all origins that it knows.
func peerID(p strategy.ID) wire.PeerID {
	if 0 <= p && p < sharedNames {
		all, at := allNames(), int(p)*peerIDBytes
		return wire.PeerID(all[at : at+peerIDBytes])
	}
	return wire.PeerID(appendName(nil, p))
}

// sharedNames is the number of peers whose names share their memory: more than a run has.
const sharedNames = 1 << 17

// allNames are the names of the first peers, one after the other.
var allNames = sync.OnceValue(func() string {
	all := make([]byte, 0, sharedNames*peerIDBytes)
	for p := range strategy.ID(sharedNames) {
		all = appendName(all, p)
	}
	return string(all)
})

func appendName(b []byte, p strategy.ID) []byte {
	b = append(b, make([]byte, peerIDBytes-4)...)
	b[len(b)-keyBytes+4-1] = keyBytes
	return binary.BigEndian.AppendUint32(b, uint32(p))
}

// idOf returns the peer of a name.
func idOf(p wire.PeerID) strategy.ID {
	return strategy.ID(binary.BigEndian.Uint32([]byte(p[peerIDBytes-4:])))
}

// openHeader returns the header in an envelope.
func openHeader(envelope []byte) (summary.Header, error) {
	if envelope[len(envelope)-1] != right {
		return summary.Header{}, errSignature
	}
	h, _, _, _, err := summary.ParseSigned(envelope)
	return h, err
}

func openRecord(envelope []byte) (wire.PeerID, error) {
	return wire.RecordOf(envelope).Peer, nil
}
