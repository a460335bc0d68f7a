package node

import (
	"sync"
	"time"

	"github.com/venn-p2p/venn/summary"
)

// clockEpochs are those of a node without a disk: the second of its start, and from the microsecond of that on. A clock
// that is set back between two runs makes them go back: what is to last needs a store. Its zero value is ready.
type clockEpochs struct {
	mu   sync.Mutex
	last summary.Epoch
}

func (e *clockEpochs) NextEpoch() (summary.Epoch, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.last.Generation == 0 {
		now := time.Now()
		e.last = summary.Epoch{Generation: uint32(now.Unix()), Sequence: uint32(now.Nanosecond() / 1000)}
	}
	e.last.Sequence++
	return e.last, nil
}
