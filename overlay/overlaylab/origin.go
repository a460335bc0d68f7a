package overlaylab

import (
	"math/rand/v2"
	"time"

	"github.com/venn-p2p/venn/overlay"
	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/group"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// Origin is one epoch of a peer's summary, signed as [Sign] does.
type Origin struct {
	ID               wire.PeerID
	Stream           *summary.Prefix
	Envelope, Record []byte
}

// NewOrigin makes a summary of fps. It fills in missing fields of the header: epoch 1.1, a lifetime of an hour, the
// seed of a [Network].
func NewOrigin(id wire.PeerID, fps []summary.Fingerprint, h summary.Header) (Origin, error) {
	h.Origin = string(id)
	if h.Epoch == (summary.Epoch{}) {
		h.Epoch = summary.Epoch{Generation: 1, Sequence: 1}
	}
	if h.Lifetime == 0 {
		h.Lifetime = time.Hour
	}
	if h.Seed == (summary.SeedTag{}) {
		h.Seed = seed.Tag()
	}
	s, err := summary.Build(fps, h)
	if err != nil {
		return Origin{}, err
	}
	payload, err := s.Header().AppendBinary(nil)
	if err != nil {
		return Origin{}, err
	}
	return Origin{ID: id, Stream: s, Envelope: Sign(payload), Record: Record(id)}, nil
}

// Group returns the name of the summary.
func (o *Origin) Group() group.ID { return group.Of(o.Stream.Header()) }

// Parts returns the number of parts of the summary.
func (o *Origin) Parts() int { return o.Stream.Parts() }

// Sent returns the message by which a peer that holds the summary sends parts first to end-1. It panics if there are
// no such parts.
func (o *Origin) Sent(from wire.PeerID, first, end int) event.PartsReceived {
	run, err := o.Stream.Run(first, end)
	if err != nil {
		panic(err)
	}
	in := event.PartsReceived{
		From: from, Transport: event.Pubsub, Group: o.Group(), Parts: wire.Parts{Run: run},
	}
	if first == 0 {
		in.Envelope, in.Record = o.Envelope, o.Record
	}
	in.Bytes = overlay.Cost(in.Parts)
	return in
}

// Fingerprints draws n fingerprints for a peer. The first shared ones are the same for every peer.
func Fingerprints(n, shared int, peer uint64) []summary.Fingerprint {
	out := make([]summary.Fingerprint, 0, n)
	all, own := rand.New(rand.NewPCG(1, 1)), rand.New(rand.NewPCG(2, peer))
	for i := range n {
		r := own
		if i < shared {
			r = all
		}
		out = append(out, summary.Fingerprint(r.Uint64()>>16))
	}
	return out
}

// Changed returns a copy of fps in which n times a fingerprint was replaced by a new one. The seed determines both.
func Changed(fps []summary.Fingerprint, n int, seed uint64) []summary.Fingerprint {
	rng := rand.New(rand.NewPCG(7, seed))
	out := append([]summary.Fingerprint(nil), fps...)
	for range n {
		out[rng.IntN(len(out))] = summary.Fingerprint(rng.Uint64() >> 16)
	}
	return out
}
