package node

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/venn-p2p/venn/node/keystore"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// flaky is a key store on a disk that fails while it is told to.
type flaky struct {
	keystore.Memory
	fails atomic.Bool
}

func (k *flaky) err() error {
	if k.fails.Load() {
		return errDisk
	}
	return nil
}

func (k *flaky) Has(key []byte) (bool, error) {
	if err := k.err(); err != nil {
		return false, err
	}
	return k.Memory.Has(key)
}

func (k *flaky) Add(keys [][]byte, fps []summary.Fingerprint) (int, error) {
	if err := k.err(); err != nil {
		return 0, err
	}
	return k.Memory.Add(keys, fps)
}

// TestStoreFails: while the key store fails, nobody is told that a key is not held, and the node says that it fails.
func TestStoreFails(t *testing.T) {
	t.Parallel()
	keys := new(flaky)
	n, other := newNode(t, WithKeys(keys)), newNode(t)
	add(t, n, []byte("k"))
	connect(t, other, n)
	eventually(t, "its summary is known", func() bool { return knows(other, n) })
	r := newRaw(t, n)
	ask := func() error {
		_, err := r.exchange(n, HaveID, frame(wire.HaveRequest{Keys: [][]byte{[]byte("k")}}.Append(nil)))
		return err
	}
	if err := ask(); err != nil || !n.Ready() {
		t.Fatal(err, n.Ready())
	}
	keys.fails.Store(true)
	if err := ask(); err == nil {
		t.Error("a peer is answered")
	}
	if got := find(t, other, []byte("k"), QueryOptions{}); len(got) > 0 {
		t.Errorf("%v is found", got)
	}
	look(t, other, func(l *loop) {
		for _, c := range l.core.Overlay.Candidates([]byte("k"), other.hasher.Fingerprint([]byte("k"))) {
			if peer.ID(c.Peer) == n.ID() && c.Misses > 0 {
				t.Errorf("%d misses count against it", c.Misses)
			}
		}
	})
	if _, err := n.Has([]byte("k")); !errors.Is(err, errDisk) {
		t.Errorf("has: %v", err)
	}
	if _, err := n.Query(t.Context(), []byte("k"), QueryOptions{}); !errors.Is(err, errDisk) {
		t.Errorf("query: %v", err)
	}
	if _, err := n.Add(t.Context(), []byte("l")); !errors.Is(err, errDisk) {
		t.Errorf("add: %v", err)
	}
	if s, err := n.Status(t.Context()); err != nil || !strings.Contains(s.Fault, errDisk.Error()) || n.Ready() {
		t.Errorf("fault %q, ready %v, %v", s.Fault, n.Ready(), err)
	}
	keys.fails.Store(false)
	add(t, n, []byte("l"))
	if err := ask(); err != nil {
		t.Errorf("ask: %v", err)
	}
	if s, err := n.Status(t.Context()); err != nil || s.Fault != "" || !n.Ready() {
		t.Errorf("fault %q, ready %v, %v", s.Fault, n.Ready(), err)
	}
}
