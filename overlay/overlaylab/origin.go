package overlaylab

import (
	"math/rand/v2"

	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/exchange"
	"github.com/venn-p2p/venn/overlay/overlaylab/plain"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// Origin is one epoch of a peer's summary, signed as [Sign] does.
type Origin struct{ plain.Origin }

// NewOrigin makes a summary of fps. It fills in missing fields of the header: epoch 1.1, a lifetime of an hour, the
// seed of a [Network]. It panics if there is no such summary.
func NewOrigin(id wire.PeerID, fps []summary.Fingerprint, h summary.Header) Origin {
	if h.Seed == (summary.SeedTag{}) {
		h.Seed = seed.Tag()
	}
	o := plain.New(id, fps, h)
	o.Envelope, o.Record = Sign(o.Envelope), Record(id)
	return Origin{o}
}

// Sent returns the message by which a peer sends parts first to end-1. It panics if there are no such parts.
func (o *Origin) Sent(from wire.PeerID, first, end int) event.PartsReceived {
	in := o.Origin.Sent(from, first, end)
	in.Bytes = exchange.Cost(in.Parts)
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
