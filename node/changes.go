package node

import (
	"context"

	"github.com/venn-p2p/venn/summary"
)

// atOnce is the number of keys that go to the store at a time: enough to make up for the wait for a disk, and few
// enough that the end of a context is soon noticed.
const atOnce = 1 << 14

// Add adds keys, each of 1 to wire.MaxKey bytes, and returns the number of new ones. It hashes in the caller's
// goroutine. Others learn of the keys within a second, by a tail or a new summary, which is made in the background. If
// a key has another length, none is added. On error, of the key store or of ctx, the keys before are held.
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

// Remove drops keys, private ones too, and returns the number that were there. It is announced to others as Add is. The
// errors are those of Add.
func (n *Node) Remove(ctx context.Context, keys ...[]byte) (removed int, err error) {
	removed, err = n.change(ctx, keys, n.keys.Remove)
	if err != nil {
		return removed, err
	}
	private, err := n.removePrivate(keys)
	return removed + private, err
}

// change gives keys to f, some at a time, and has a new summary made if f reports changes.
func (n *Node) change(ctx context.Context, keys [][]byte, f func([][]byte) (int, error)) (changed int, err error) {
	if err := checkKeys(keys); err != nil {
		return 0, err
	}
	defer func() {
		if changed > 0 {
			n.in.Wake()
		}
	}()
	for len(keys) > 0 {
		if err := n.alive(ctx); err != nil {
			return changed, err
		}
		k := min(len(keys), atOnce)
		n.changing.Add(1) // the store holds some of the keys before they are noted as unannounced
		did, err := f(keys[:k])
		changed += did
		if did > 0 {
			n.unannounced.add(keys[:k])
		}
		n.changing.Add(-1)
		if err := n.noted(writing, err); err != nil {
			return changed, err
		}
		keys = keys[k:]
	}
	return changed, nil
}
