package node

import (
	"sync/atomic"
	"testing"

	"github.com/venn-p2p/venn/node/core"
	"github.com/venn-p2p/venn/summary"
)

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

// TestFaultIsTold: a summary that cannot be made shows in Status until one is made.
func TestFaultIsTold(t *testing.T) {
	t.Parallel()
	e := &failingEpochs{}
	e.failing.Store(true)
	n := newNode(t, func(c *config) error { c.epochs = e; return nil }, WithEpochSpacing(core.LeastSpacing))
	add(t, n, []byte("k"))
	fault := func() string {
		s, err := n.Status(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return s.Fault
	}
	eventually(t, "the fault is told", func() bool { return fault() == errDisk.Error() })
	e.failing.Store(false)
	eventually(t, "it is over", func() bool { return fault() == "" })
}
