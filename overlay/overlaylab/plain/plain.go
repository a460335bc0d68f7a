// Package plain makes summaries of peers, which nobody signs, for tests of the packages below overlay.
package plain

import (
	"math/rand/v2"
	"time"

	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// Tag is the seed of summaries for which no other is stated.
var Tag = summary.Seed{Network: "slow"}.Tag()

// Origin is one epoch of a peer's summary. Nobody signed it: its envelope is the header, and its record the peer's id.
type Origin struct {
	ID               wire.PeerID
	Stream           *summary.Prefix
	Envelope, Record []byte
}

// Of makes a summary of fps, with a header like that of any other.
func Of(id wire.PeerID, fps []summary.Fingerprint) Origin { return New(id, fps, summary.Header{}) }

// New makes a summary of fps. It fills in missing fields of the header: epoch 1.1, a lifetime of an hour, [Tag]. It
// panics if there is no such summary.
func New(id wire.PeerID, fps []summary.Fingerprint, h summary.Header) Origin {
	h.Origin = string(id)
	if h.Epoch == (summary.Epoch{}) {
		h.Epoch = summary.Epoch{Generation: 1, Sequence: 1}
	}
	if h.Lifetime == 0 {
		h.Lifetime = time.Hour
	}
	if h.Seed == (summary.SeedTag{}) {
		h.Seed = Tag
	}
	s := must(summary.Build(fps, h))
	return Origin{ID: id, Stream: s, Envelope: must(s.Header().AppendBinary(nil)), Record: []byte(id)}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// Group returns the name of the summary.
func (o *Origin) Group() wire.GroupID { return wire.GroupOf(o.Stream.Header()) }

// Parts returns the number of parts of the summary.
func (o *Origin) Parts() int { return o.Stream.Parts() }

// Sent returns the message by which a peer sends parts first to end-1, without its size. It panics if there are no such
// parts.
func (o *Origin) Sent(from wire.PeerID, first, end int) event.PartsReceived {
	in := event.PartsReceived{From: from, Transport: event.Pubsub, Group: o.Group(), Parts: wire.Parts{Run: must(o.Stream.Run(first, end))}}
	if first == 0 {
		in.Envelope, in.Record = o.Envelope, o.Record
	}
	return in
}

// Turn returns what happens to a peer after its last effects. Links answer four of five of its asks for parts of some
// origins, and one announces an origin. Now and then it learns how often a peer was right, or a round trip. A tick ends
// the turn. cost returns the bytes of a message.
func Turn(rng *rand.Rand, origins []Origin, links []wire.PeerID, last []event.Effect, cost func(wire.Message) int) (in []event.Input) {
	for _, e := range last {
		c, ok := e.(event.SendCatalogue)
		if !ok || rng.IntN(5) == 0 {
			continue
		}
		for _, it := range c.Items {
			for _, o := range origins {
				if it.Want > it.Have && it.Group == o.Group() && int(it.Have) < o.Parts() {
					sent := o.Sent(c.To, int(it.Have), min(int(it.Want), o.Parts()))
					sent.Bytes = cost(wire.Parts{Run: sent.Run})
					in = append(in, sent)
				}
			}
		}
	}
	o := origins[rng.IntN(len(origins))]
	item := wire.Item{Group: o.Group(), Have: uint16(1 + rng.IntN(o.Parts()))}
	in = append(in, event.CatalogueReceived{From: links[rng.IntN(len(links))], Items: []wire.Item{item}, Bytes: 100})
	if rng.IntN(10) == 0 {
		in = append(in, event.Outcome{Peer: o.ID, Hits: rng.IntN(3), Misses: rng.IntN(5)})
	}
	if rng.IntN(10) == 0 {
		in = append(in, event.RoundTrip{Peer: o.ID, RTT: time.Duration(rng.IntN(200)) * time.Millisecond})
	}
	return append(in, event.Tick{})
}

// OpenRecord opens the record of an [Origin].
func OpenRecord(record []byte) (wire.PeerID, error) { return wire.PeerID(record), nil }

// Keys draws n fingerprints.
func Keys(rng *rand.Rand, n int) []summary.Fingerprint {
	fps := make([]summary.Fingerprint, n)
	for i := range fps {
		fps[i] = summary.Fingerprint(rng.Uint64() >> (64 - summary.FingerprintBits))
	}
	return fps
}
