package node

import (
	"flag"
	"runtime"
	"testing"

	"go.uber.org/goleak"

	"github.com/venn-p2p/venn/node/leaktest"
)

var opens = flag.Int("opens", 20, "how often TestOpenAndClose opens and closes a node")

// TestOpenAndClose opens and closes nodes on one host: no goroutine is left, and no memory that grows with their
// number.
func TestOpenAndClose(t *testing.T) {
	before := goleak.IgnoreCurrent()
	h := newHost(t)
	other := newNode(t)
	add(t, other, []byte("of the other"))
	once := func() {
		n := must(New(h))
		add(t, n, keysOf("k", 10)...)
		dialTo(t, n, info(other))
		if got := find(t, n, []byte("of the other"), QueryOptions{}); len(got) != 1 {
			t.Fatalf("found %v", got)
		}
		if err := n.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for range 5 { // what is made once
		once()
	}
	start := heap()
	for range *opens {
		once()
	}
	grown := int64(heap()) - int64(start)
	_, _, _ = other.Close(), other.host.Close(), h.Close()
	leaktest.Check(t, before)
	t.Logf("%d nodes; %d bytes more in use than before", *opens, grown)
	if grown > 4<<20 {
		t.Errorf("%d bytes more in use after %d nodes", grown, *opens)
	}
}

// heap is the memory in use.
func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
