package node

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	ds "github.com/ipfs/go-datastore"
	dssync "github.com/ipfs/go-datastore/sync"
	"github.com/libp2p/go-libp2p/core/peer"
)

// TestRestartsDuringAdds has a node with a store end and start again while it adds keys. In the end another knows all
// that it holds, and has never taken the same tail of it, or an earlier one, again. VENN_RESTARTS=100 does it that
// often.
func TestRestartsDuringAdds(t *testing.T) {
	t.Parallel()
	restarts, err := strconv.Atoi(os.Getenv("VENN_RESTARTS"))
	if err != nil {
		if restarts = 3; testing.Short() {
			t.Skip("takes some seconds")
		}
	}
	other := newNode(t)
	tails := subscribe(t, other, new(EvtTailLearned))
	d, h := dssync.MutexWrap(ds.NewMapDatastore()), newHost(t)
	id := h.ID()
	var last EvtTailLearned
	check := func() {
		for _, e := range waiting(tails) {
			e := e.(EvtTailLearned)
			if e.Origin != id {
				continue
			}
			if last.Epoch.After(e.Epoch) || e.Epoch == last.Epoch && e.Number <= last.Number {
				t.Errorf("tail %d of %v came after %d of %v", e.Number, e.Epoch, last.Number, last.Epoch)
			}
			last = e
		}
	}
	var held [][]byte
	var n *Node
	taken := 0
	for life := range restarts + 1 {
		if life > 0 {
			h = hostLike(t, h)
		}
		n = nodeOn(t, h, WithDatastore(d))
		connect(t, n, other)
		more := func() {
			key := fmt.Appendf(nil, "key %d", len(held))
			add(t, n, key)
			held = append(held, key)
		}
		for range 3 {
			more()
			time.Sleep(20 * time.Millisecond)
		}
		if before := last; life%2 == 0 { // the other lives are too short for a summary, or for tails
			eventually(t, "the other takes a tail", func() bool {
				more()
				time.Sleep(100 * time.Millisecond)
				check()
				return last != before
			})
			taken++
		}
		check()
		if life < restarts {
			_ = n.Close()
			_ = h.Close()
		}
	}
	for _, key := range held {
		eventually(t, string(key)+" is found", func() bool { return slices.Equal(find(t, other, key, QueryOptions{}), []peer.ID{id}) })
	}
	check()
	t.Logf("%d restarts, %d keys, all found; tails came in %d lives", restarts, len(held), taken)
}
