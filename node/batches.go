package node

import (
	"context"
	"fmt"

	"github.com/venn-p2p/venn/summary"
)

// KeyBatches is what Keys may be besides: faster with many keys at a time. AddMany and RemoveMany do what Add and Remove would,
// one key after the other; they keep no reference to the keys.
type KeyBatches interface {
	AddMany(keys [][]byte, fps []summary.Fingerprint) (added int, err error)
	RemoveMany(keys [][]byte) (removed int, err error)
}

// oneByOne makes KeyBatches of Keys that are none.
type oneByOne struct{ Keys }

func (o oneByOne) AddMany(keys [][]byte, fps []summary.Fingerprint) (added int, err error) {
	for i, k := range keys {
		did, err := o.Add(k, fps[i])
		if err != nil {
			return added, err
		}
		if did {
			added++
		}
	}
	return added, nil
}

func (o oneByOne) RemoveMany(keys [][]byte) (removed int, err error) {
	for _, k := range keys {
		did, err := o.Remove(k)
		if err != nil {
			return removed, err
		}
		if did {
			removed++
		}
	}
	return removed, nil
}

// batches is k, or what makes it a KeyBatches.
func batches(k Keys) KeyBatches {
	if b, ok := k.(KeyBatches); ok {
		return b
	}
	return oneByOne{k}
}

// atOnce is how many keys go to the store at a time: enough to make up for the wait for a disk, few enough that a context
// that ends is heeded soon.
const atOnce = 1 << 14

// Add is AddKeys that says how many keys are new.
func (n *Node) Add(ctx context.Context, keys ...[]byte) (added int, err error) {
	store := batches(n.keys)
	fps := make([]summary.Fingerprint, 0, min(len(keys), atOnce))
	return n.change(ctx, keys, func(keys [][]byte) (int, error) {
		fps = fps[:0]
		for _, k := range keys {
			fps = append(fps, n.hasher.Fingerprint(k))
		}
		return store.AddMany(keys, fps)
	})
}

// Remove is RemoveKeys that says how many keys were there.
func (n *Node) Remove(ctx context.Context, keys ...[]byte) (removed int, err error) {
	removed, err = n.change(ctx, keys, batches(n.keys).RemoveMany)
	if err != nil {
		return removed, err
	}
	private, err := n.removePrivate(keys)
	return removed + private, err
}

// change gives keys to f, some at a time, and has a new summary made if f says that some have changed.
func (n *Node) change(ctx context.Context, keys [][]byte, f func([][]byte) (int, error)) (changed int, err error) {
	if err := checkKeys(keys); err != nil {
		return 0, err
	}
	defer func() {
		if changed > 0 {
			n.changes.Add(int64(changed))
			n.in.poke()
		}
	}()
	for len(keys) > 0 {
		if err := n.alive(ctx); err != nil {
			return changed, err
		}
		k := min(len(keys), atOnce)
		did, err := f(keys[:k])
		changed += did
		if err != nil {
			return changed, fmt.Errorf("node: key store: %w", err)
		}
		keys = keys[k:]
	}
	return changed, nil
}
