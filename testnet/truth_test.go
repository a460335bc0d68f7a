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
		if _, err := slow.Add(k, hasher.Fingerprint(k)); err != nil {
			t.Fatal(err)
		}
	}
	var fast keystore.Keys = now.keysOf(1)
	for range 1000 {
		key := plan.Keys[rng.IntN(data.Keys())]
		if must(fast.Has(key)) != must(slow.Has(key)) {
			t.Fatalf("has %x: %v", key, must(fast.Has(key)))
		}
		var a, b bool
		var err error
		if rng.IntN(2) == 0 {
			a, err = fast.Add(key, hasher.Fingerprint(key))
			b, _ = slow.Add(key, hasher.Fingerprint(key))
		} else {
			a, err = fast.Remove(key)
			b, _ = slow.Remove(key)
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
	if _, err := fast.Add([]byte("strange"), 1); err == nil {
		t.Error("took in a key that the data does not have")
	}
}

// Where the truth takes strange keys a collection takes in any key, as node's own store does.
func TestOpenCollection(t *testing.T) {
	plan := drawn(t, Config{Peers: 2, Chunk: 1 << 24})
	now, data := newTruth(plan), plan.Data
	now.takeStrangers()
	c, of := now.keysOf(0), len(data.Collection(0))
	key := []byte("strange")
	for what, step := range []struct {
		do            func() (bool, error)
		changed, held bool
		keys          int
	}{
		{func() (bool, error) { return c.Remove(key) }, false, false, of},
		{func() (bool, error) { return c.Add(key, 7) }, true, true, of + 1},
		{func() (bool, error) { return c.Add(key, 7) }, false, true, of + 1},
		{func() (bool, error) { return c.Remove(key) }, true, false, of},
		{func() (bool, error) { return c.Add(key, 7) }, true, true, of + 1},
	} {
		if changed, err := step.do(); err != nil || changed != step.changed || must(c.Has(key)) != step.held || c.count() != step.keys {
			t.Errorf("step %d: changed %v, %v; has it: %v; %d keys, want %d", what, changed, err, must(c.Has(key)), c.count(), step.keys)
		}
	}
	listed := 0
	for k, err := range c.Keys(t.Context()) {
		if err != nil || !must(c.Has(k)) {
			t.Fatalf("lists %q, %v", k, err)
		}
		listed++
	}
	if fps := slices.Collect(c.Fingerprints()); listed != of+1 || len(fps) != of+1 || !slices.Contains(fps, 7) {
		t.Errorf("lists %d keys and %d fingerprints, want %d", listed, len(fps), of+1)
	}
	if other := now.keysOf(1); must(other.Has(key)) {
		t.Error("another peer has the key")
	}
}

// must returns v of what cannot fail.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
