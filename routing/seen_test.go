package routing

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/venn-p2p/venn/overlay/wire"
)

// TestSeenRemembers compares with a set: nothing is invented, and nothing that is among the last 15,360 forgotten.
func TestSeenRemembers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s sightings
		set := map[sighting]bool{}
		for range rapid.IntRange(0, 300).Draw(t, "n") {
			peers := rapid.SampledFrom([]wire.PeerID{"o", "p", "o\x00", "oo"})
			q := sighting{peers.Draw(t, "from"), peers.Draw(t, "origin"), rapid.Uint64Range(0, 50).Draw(t, "nonce")}
			if had := s.Has(q); had != set[q] {
				t.Fatalf("%v: had is %v, seen before is %v", q, had, set[q])
			}
			if !set[q] {
				s.Add(q)
			}
			set[q] = true
		}
	})
}

func TestSeenIsBounded(t *testing.T) {
	const n = 100_000
	var s sightings
	invented := 0
	for i := range uint64(n) {
		q := sighting{"p", "o", i}
		if s.Has(q) {
			invented++
			continue
		}
		s.Add(q)
		if s.filter.Len() > seenBatches*seenBatch {
			t.Fatalf("%d queries remembered", s.filter.Len())
		}
	}
	if invented > 3 { // 0.1 are expected
		t.Errorf("%d of %d new queries are taken for repeats", invented, n)
	}
	for i := uint64(n - (seenBatches-1)*seenBatch); i < n; i++ {
		if !s.Has(sighting{"p", "o", i}) {
			t.Fatalf("query %d of %d is forgotten", i, n)
		}
	}
	if kib := seenBatches * s.filter.Params().Batch.Bits() / 8 / 1024; kib > 74 {
		t.Errorf("%d KiB", kib)
	}
}
