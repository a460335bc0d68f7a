package testnet

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/venn-p2p/venn/node/keystore"

	"github.com/venn-p2p/venn/summary"
	"github.com/venn-p2p/venn/testnet/scenario"
)

// drawn returns the plan of a configuration.
func drawn(t *testing.T, c Config) *scenario.Plan {
	t.Helper()
	if err := c.check(); err != nil {
		t.Fatal(err)
	}
	return must(c.plan())
}

// A collection behaves as node's own store does, and changes nobody else's.
func TestCollectionAgainstMemoryKeys(t *testing.T) {
	rng, plan := rand.New(rand.NewPCG(1, 0)), drawn(t, Config{Peers: 3, Chunk: 1 << 22})
	data := plan.Data
	hasher := summary.Seed{Network: Network}.Hasher()
	now := newTruth(plan)
	var slow keystore.Memory
	for _, n := range data.Collection(1) {
		k := plan.Keys[n]
		if _, err := slow.Add([][]byte{k}, []summary.Fingerprint{hasher.Fingerprint(k)}); err != nil {
			t.Fatal(err)
		}
	}
	var fast keystore.Keys = now.keysOf(1)
	for range 1000 {
		key := plan.Keys[rng.IntN(data.Keys())]
		if must(fast.Has(key)) != must(slow.Has(key)) {
			t.Fatalf("has %x: %v", key, must(fast.Has(key)))
		}
		var a, b int
		var err error
		if one, f := [][]byte{key}, []summary.Fingerprint{hasher.Fingerprint(key)}; rng.IntN(2) == 0 {
			a, err = fast.Add(one, f)
			b, _ = slow.Add(one, f)
		} else {
			a, err = fast.Remove(one)
			b, _ = slow.Remove(one)
		}
		if a != b || err != nil || must(fast.Len()) != must(slow.Len()) {
			t.Fatalf("changed %v, %v, %v; %d keys, want %d", a, b, err, must(fast.Len()), must(slow.Len()))
		}
	}
	got, want := slices.Sorted(fast.Fingerprints()), slices.Sorted(slow.Fingerprints())
	if !slices.Equal(got, want) {
		t.Errorf("%d fingerprints differ from %d", len(got), len(want))
	}
	if again := newTruth(plan).keysOf(1); again.count() != len(data.Collection(1)) || again.count() == must(fast.Len()) {
		t.Errorf("a new collection has %d keys, the data %d, the changed one %d", again.count(), len(data.Collection(1)), must(fast.Len()))
	}
	if other := now.keysOf(0); other.count() != len(data.Collection(0)) {
		t.Errorf("another peer has %d keys, had %d", other.count(), len(data.Collection(0)))
	}
	listed := 0
	for key, err := range fast.(keystore.Lists).Keys(t.Context()) {
		if err != nil || !must(slow.Has(key)) {
			t.Fatalf("lists %x, %v", key, err)
		}
		listed++
	}
	if listed != must(slow.Len()) {
		t.Errorf("lists %d keys of %d", listed, must(slow.Len()))
	}
	if removed, err := fast.Remove([][]byte{[]byte("strange")}); removed > 0 || err != nil || must(fast.Has([]byte("strange"))) {
		t.Errorf("holds a key that the data does not have, %v", err)
	}
	if _, err := fast.Add([][]byte{[]byte("strange")}, []summary.Fingerprint{1}); err == nil {
		t.Error("took in a key that the data does not have")
	}
}

// must returns v of what cannot fail.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
