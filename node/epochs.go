package node

import (
	"sync"
	"time"

	"github.com/venn-p2p/venn/summary"
)

// clockEpochs numbers the epochs of a node without a disk: by the second of its start, then upwards from the
// microsecond of that. If the clock is set back between two runs, the numbers go back: lasting ones need a store. Its
// zero value is ready.
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
