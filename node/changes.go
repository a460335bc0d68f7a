package node

import (
	"context"
	"slices"

	"github.com/venn-p2p/venn/summary"
)

// atOnce is the number of keys that go to a key store in one call: enough that a disk's delay matters little, and so
// few that the end of a context is soon noticed, and that readers of the store do not wait for long.
const atOnce = 1 << 14

// Add adds keys, each of 1 to wire.MaxKey bytes, and returns the number of new ones. It hashes in the caller's
// goroutine. Others learn of the keys within a second, by a tail or a new summary, which is made in the background. If
// a key has another length, none is added. If the key store fails or ctx ends, the keys added until then stay.
func (n *Node) Add(ctx context.Context, keys ...[]byte) (added int, err error) {
	return n.change(ctx, keys, func(keys [][]byte) (int, error) { return n.keys.Add(keys, n.fingerprintsOf(keys)) })
}

func (n *Node) fingerprintsOf(keys [][]byte) []summary.Fingerprint {
	fps := make([]summary.Fingerprint, len(keys))
	for i, k := range keys {
		fps[i] = n.hasher.Fingerprint(k)
	}
	return fps
}

// Remove drops keys, private ones too, and returns the number that were there. Others learn of it as with Add. The
// errors are those of Add.
func (n *Node) Remove(ctx context.Context, keys ...[]byte) (removed int, err error) {
	removed, err = n.change(ctx, keys, n.keys.Remove)
	if err != nil {
		return removed, err
	}
	private, err := n.RemovePrivate(ctx, keys...)
	return removed + private, err
}

// change does what inTurns does, and has the changes that f makes announced.
func (n *Node) change(ctx context.Context, keys [][]byte, f func([][]byte) (int, error)) (changed int, err error) {
	changed, err = n.inTurns(ctx, keys, func(some [][]byte) (int, error) { return n.unannounced.change(some, f) })
	if changed > 0 {
		n.in.Wake()
	}
	return changed, err
}

// inTurns calls f, which changes a key store, with up to atOnce keys at a time. It returns the number of changes. If
// the length of any key is not allowed, it does not call f.
func (n *Node) inTurns(ctx context.Context, keys [][]byte, f func([][]byte) (int, error)) (changed int, err error) {
	if err := checkKeys(keys); err != nil {
		return 0, err
	}
	for some := range slices.Chunk(keys, atOnce) {
		if err := n.alive(ctx); err != nil {
			return changed, err
		}
		did, err := f(some)
		changed += did
		if err := n.noted(writing, err); err != nil {
			return changed, err
		}
	}
	return changed, nil
}
