package testnet

import (
	"context"
	"errors"
	"iter"
	"math/rand/v2"
	"sync"

	"github.com/venn-p2p/venn/summary"
	"github.com/venn-p2p/venn/testnet/holdings"
	"github.com/venn-p2p/venn/testnet/scenario"
	"github.com/venn-p2p/venn/testnet/sim"
	"github.com/venn-p2p/venn/testnet/strategy"
)

// errForeign means that a peer of the testnet was given a key that the data does not have.
var errForeign = errors.New("testnet: no key of the data")

// truth has the collections of all peers as a run goes on. All peers share it, and their keys. It is safe for
// concurrent use.
type truth struct {
	data *sim.Data      // collections at the start
	plan *scenario.Plan // has the keys

	mu   sync.RWMutex
	held *holdings.Now[strategy.ID]
}

// newTruth returns the truth at the start of a plan.
func newTruth(p *scenario.Plan) *truth {
	return &truth{data: p.Data, plan: p, held: holdings.NewNow(p.Data.Table)}
}

// key returns a key of the data.
func (t *truth) key(number uint32) []byte { return t.plan.Keys[number] }

// lookup returns the number of a key of the data.
func (t *truth) lookup(key []byte) (number uint32, known bool) { return t.plan.Lookup(key) }

// holds reports whether a peer holds a key of the data now.
func (t *truth) holds(p strategy.ID, key uint32) bool {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.held.Holds(p, key)
}

// collection lists the keys of the data that a peer holds now, ascending. Not to be changed.
func (t *truth) collection(p strategy.ID) []uint32 {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.held.Collection(p)
}

// holders lists the peers that hold a key of the data now, ascending. Not to be changed.
func (t *truth) holders(key uint32) []strategy.ID {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.held.Holders(key)
}

// fingerprints returns the fingerprints of a peer's keys that are in the data.
func (t *truth) fingerprints(p strategy.ID) []summary.Fingerprint {
	return t.data.Fingerprints(t.collection(p))
}

// change notes that a peer adds a key of the data, or drops it; false: there was nothing to change.
func (t *truth) change(p strategy.ID, key uint32, held bool) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.held.Change(p, key, held)
}

// keys is a peer's store of keys, a keystore.Keys: the peer's collection in the truth.
type keys struct {
	*truth
	of strategy.ID
}

func (t *truth) keysOf(peer int) *keys { return &keys{t, strategy.ID(peer)} }

// Add adds keys of the data.
func (k *keys) Add(keys [][]byte, _ []summary.Fingerprint) (added int, err error) {
	for _, key := range keys {
		number, known := k.lookup(key)
		if !known {
			return added, errForeign
		}
		if k.change(k.of, number, true) {
			added++
		}
	}
	return added, nil
}

// Remove drops keys; the error is always nil.
func (k *keys) Remove(keys [][]byte) (removed int, err error) {
	for _, key := range keys {
		if number, known := k.lookup(key); known && k.change(k.of, number, false) {
			removed++
		}
	}
	return removed, nil
}

// Has reports whether the key is held; the error is always nil.
func (k *keys) Has(key []byte) (bool, error) {
	number, known := k.lookup(key)
	return known && k.holds(k.of, number), nil
}

// any draws one of the keys held; false when there is none.
func (k *keys) any(rng *rand.Rand) (number uint32, ok bool) {
	held := k.collection(k.of)
	if len(held) == 0 {
		return 0, false
	}
	return held[rng.IntN(len(held))], true
}

// Len returns count; the error is always nil.
func (k *keys) Len() (int, error) { return k.count(), nil }

// count returns the number of keys held.
func (k *keys) count() int { return len(k.collection(k.of)) }

// Keys yields the keys held when the iteration begins; the error is always nil.
func (k *keys) Keys(context.Context) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for _, n := range k.collection(k.of) {
			if !yield(k.key(n), nil) {
				return
			}
		}
	}
}

// Fingerprints yields the fingerprints of the keys held when the iteration begins.
func (k *keys) Fingerprints() iter.Seq[summary.Fingerprint] {
	return func(yield func(summary.Fingerprint) bool) {
		for _, n := range k.collection(k.of) {
			if !yield(k.data.Key(n).Fingerprint) {
				return
			}
		}
	}
}
