package venn

import (
	"encoding/binary"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
	"github.com/venn-p2p/venn/testnet/strategy"
)

const (
	reserve = 64 // sequence numbers reserved on disk at a time; a restart loses the unused ones

	envelopeOverhead = 36 + 64 + 2 + 24 // key, signature, type and lengths of a signed libp2p envelope
	recordOverhead   = 190              // a signed PeerRecord of two addresses, without the peer id
	peerIDBytes      = 38               // of an Ed25519 key
)

// origin is a peer as the origin of summaries. Its epochs have the same parts while its collection stays as it is.
type origin struct {
	sessions uint64 // so far
	last     uint32 // sequence number used
	reserved uint32 // sequence numbers up to it may be used

	// epochs are the ones published so far, ascending. Others read them while the peer itself adds one.
	epochs  atomic.Pointer[[]*epoch]
	changed bool // the collection differs from the last epoch's
}

// epoch is a summary that was published.
type epoch struct {
	stream           *summary.Prefix
	envelope, record []byte

	twin *epoch // an adversary's second one under the same number; nil: none. Read only by peers that got parts of it
}

// The byte before the last signatureEnd-1 of an envelope stands for its signature.
const (
	signatureEnd = 9

	right  = 0
	ofTwin = 1 // right, for the twin
	wrong  = 2
)

var errSignature = errors.New("strategy: venn: wrong signature")

// origin returns the origin of a peer's summaries, or of an identity that an adversary has made up.
func (r *run) origin(p strategy.ID) *origin {
	if int(p) < len(r.origins) {
		return &r.origins[p]
	}
	return r.invented.origin(p)
}

// restart begins a session, and returns the first number of its requests.
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

// epoch returns the epoch of a sequence number; nil: it was never published.
func (o *origin) epoch(sequence uint32) *epoch {
	all := o.epochs.Load()
	if all == nil {
		return nil
	}
	i, found := slices.BinarySearchFunc(*all, sequence, func(e *epoch, s uint32) int {
		return int(int64(e.stream.Header().Epoch.Sequence) - int64(s))
	})
	if !found {
		return nil
	}
	return (*all)[i]
}

// publish gives a peer its next summary, with a lifetime.
func (r *run) publish(p strategy.ID, lifetime time.Duration) (event.Published, error) {
	o := r.origin(p)
	number := summary.Epoch{Generation: 1, Sequence: o.next()}
	var old []*epoch
	if all := o.epochs.Load(); all != nil {
		old = *all
	}
	e, err := r.make(p, number, lifetime, old)
	if err != nil {
		return event.Published{}, err
	}
	all := append(slices.Clone(old), e)
	o.epochs.Store(&all)
	return event.Published{Envelope: e.envelope, Record: e.record, Stream: e.stream}, nil
}

// make makes an epoch: from the collection, or from an epoch before.
func (r *run) make(p strategy.ID, number summary.Epoch, lifetime time.Duration, old []*epoch) (*epoch, error) {
	e := &epoch{}
	var err error
	o := r.origin(p)
	if len(old) > 0 && !o.changed {
		last := old[len(old)-1]
		e.record = last.record
		h := last.stream.Header()
		h.Epoch, h.Lifetime = number, lifetime
		e.stream, err = last.stream.Under(h)
	} else {
		e.record = append(make([]byte, recordOverhead, recordOverhead+peerIDBytes), peerID(p)...)
		e.stream, err = r.build(p, number, lifetime, old)
		o.changed = false
	}
	if err != nil {
		return nil, err
	}
	payload, err := e.stream.Header().AppendBinary(nil)
	if err != nil {
		return nil, err
	}
	e.envelope = append(payload, make([]byte, envelopeOverhead-8)...)
	e.envelope = binary.BigEndian.AppendUint32(e.envelope, number.Sequence)
	e.envelope = binary.BigEndian.AppendUint32(e.envelope, uint32(p))
	return e, nil
}

// twin returns a second summary under the number of an epoch, without one of its keys.
func (r *run) twin(p strategy.ID, e *epoch) *epoch {
	if e.twin != nil {
		return e.twin
	}
	fps := r.claims(p)
	fps = fps[:min(len(fps), max(1, len(fps)-1))]
	h := e.stream.Header()
	stream, err := summary.Build(fps, summary.Header{
		Seed: h.Seed, Origin: h.Origin, Lifetime: h.Lifetime, Shape: summary.DefaultShape(len(fps)), Epoch: h.Epoch,
	})
	if err != nil {
		panic(err) // the keys are the run's
	}
	t := &epoch{stream: stream, record: e.record, envelope: slices.Clone(e.envelope)}
	t.envelope[len(t.envelope)-signatureEnd] = ofTwin
	e.twin = t
	return t
}

// build makes a summary of the collection, in the shape of the last one while it fits.
func (r *run) build(p strategy.ID, number summary.Epoch, lifetime time.Duration, old []*epoch) (*summary.Prefix, error) {
	fps := r.claims(p)
	shape, err := r.shape(len(fps))
	if err != nil {
		return nil, err
	}
	if len(old) > 0 {
		if last := old[len(old)-1].stream.Header().Shape; last.Fits(len(fps)) {
			shape = last
		}
	}
	return summary.Build(fps, summary.Header{
		Seed: r.seed.Tag(), Origin: string(peerID(p)), Lifetime: lifetime, Shape: shape, Epoch: number,
	})
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
	return binary.BigEndian.AppendUint32(append(b, make([]byte, peerIDBytes-4)...), uint32(p))
}

// idOf returns the peer of a name.
func idOf(p wire.PeerID) strategy.ID {
	return strategy.ID(binary.BigEndian.Uint32([]byte(p[peerIDBytes-4:])))
}

// openHeader returns the header in an envelope, with its origin and epoch.
func (r *run) openHeader(envelope []byte) (summary.Header, error) {
	at := len(envelope) - 8
	e := r.origin(strategy.ID(binary.BigEndian.Uint32(envelope[at+4:]))).epoch(binary.BigEndian.Uint32(envelope[at:]))
	switch envelope[len(envelope)-signatureEnd] {
	case wrong:
		return summary.Header{}, errSignature
	case ofTwin:
		e = e.twin
	}
	return e.stream.Header(), nil
}

func (r *run) openRecord(envelope []byte) (wire.PeerID, error) {
	return peerID(strategy.ID(binary.BigEndian.Uint32(envelope[len(envelope)-4:]))), nil
}
