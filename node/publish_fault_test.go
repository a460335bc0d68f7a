package node

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/venn-p2p/venn/node/core"
	"github.com/venn-p2p/venn/node/keystore"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// slowKeys are those of a store whose disk does not answer while slow is held.
type slowKeys struct {
	keystore.Memory
	slow  sync.Mutex
	asked chan struct{}
}

func (k *slowKeys) Has(key []byte) (bool, error) {
	select {
	case k.asked <- struct{}{}:
	default:
	}
	k.slow.Lock()
	defer k.slow.Unlock()
	return k.Memory.Has(key)
}

func (k *slowKeys) Len() (int, error) {
	k.slow.Lock()
	defer k.slow.Unlock()
	return k.Memory.Len()
}

// TestTailsAreLookedUpOutside: a node whose disk does not answer, when it looks up what the next update tells of, still
// answers itself, and goes on through the work of each second. The update comes when the disk does.
func TestTailsAreLookedUpOutside(t *testing.T) {
	t.Parallel()
	keys := &slowKeys{asked: make(chan struct{}, 1)}
	n, friend := newNode(t, WithKeys(keys)), newNode(t)
	add(t, n, keysOf("old", 100)...)
	connect(t, n, friend)
	eventually(t, "the friend knows the summary", func() bool { return knows(friend, n) })
	keys.slow.Lock()
	select {
	case <-keys.asked: // by the look-ups before
	default:
	}
	add(t, n, []byte("new"))
	<-keys.asked
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	time.Sleep(1500 * time.Millisecond)
	if _, err := n.Neighbours(ctx); err != nil {
		t.Error(err)
	}
	keys.slow.Unlock()
	eventually(t, "the friend knows the new key", func() bool { return says(t, friend, n, []byte("new")) == "added" })
}

// failingEpochs are those of a store that fails while failing is set.
type failingEpochs struct {
	clockEpochs
	failing atomic.Bool
}

func (e *failingEpochs) NextEpoch() (summary.Epoch, error) {
	if e.failing.Load() {
		return summary.Epoch{}, errDisk
	}
	return e.clockEpochs.NextEpoch()
}

// TestSearchesAreLookedUpOutside: a node whose disk does not answer, when it looks up the key of another's search, goes
// on with all else.
func TestSearchesAreLookedUpOutside(t *testing.T) {
	t.Parallel()
	keys := &slowKeys{asked: make(chan struct{}, 1)}
	n := newNode(t, WithKeys(keys))
	r := newRaw(t, n)
	keys.slow.Lock()
	var asking sync.WaitGroup
	defer asking.Wait()
	defer keys.slow.Unlock()
	asking.Go(func() {
		q := wire.Query{Kind: wire.Search, Nonce: 1, Origin: wire.PeerID(r.h.ID()), Key: []byte("k"), Want: 1, Budget: 10, Within: 20 * time.Second, Hops: 1}
		_, _ = r.exchange(n, QueryID, frame(q.Append(nil)))
	})
	<-keys.asked
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if _, err := n.Neighbours(ctx); err != nil {
		t.Error(err)
	}
}

// TestFaultIsTold: a summary that cannot be made shows in Status until one is made.
func TestFaultIsTold(t *testing.T) {
	t.Parallel()
	e := &failingEpochs{}
	e.failing.Store(true)
	n := newNode(t, func(c *config) error { c.epochs = e; return nil }, spaced(core.LeastSpacing))
	add(t, n, []byte("k"))
	fault := func() string { return statusOf(t, n).Fault }
	eventually(t, "the fault is told", func() bool { return fault() == errDisk.Error() })
	e.failing.Store(false)
	eventually(t, "it is over", func() bool { return fault() == "" })
}
