package routing

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestSeenRemembers compares batches with a list of all sightings: nothing is invented, and nothing forgotten that is
// among the last 8,192 and less than a minute old.
func TestSeenRemembers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var b batches
		last := map[sighting]time.Duration{}
		now := time.Duration(0)
		for range rapid.IntRange(0, 300).Draw(t, "n") {
			now += time.Duration(rapid.IntRange(0, 2000).Draw(t, "ms")) * time.Millisecond
			s := sighting{"o", rapid.Uint64Range(0, 50).Draw(t, "nonce")}
			at, before := last[s]
			isNew := b.Add(now, s.origin, s.nonce)
			if !before && !isNew {
				t.Fatalf("%v was never seen, but is said to have been", s)
			}
			if before && isNew && now-at < seenFor {
				t.Fatalf("%v was seen %v ago and is forgotten", s, now-at)
			}
			if isNew {
				last[s] = now
			}
		}
	})
}

func TestSeenIsBounded(t *testing.T) {
	var b batches
	for i := range uint64(100_000) {
		b.Add(0, "o", i)
		if n := len(b.young) + len(b.old); n > 2*seenBatch {
			t.Fatalf("%d sightings held", n)
		}
	}
	if b.Add(0, "o", 100_000-seenBatch) {
		t.Error("one of the last 8,192 is forgotten")
	}
}
