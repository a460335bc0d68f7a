package node

import (
	"sync"
	"time"

	"github.com/venn-p2p/venn/summary"
)

// clockEpochs numbers the epochs of a node without a disk. Generation is the second of the first epoch; Sequence counts
// up from the microsecond in that second. If the clock is set back between two runs, the numbers go back, too: only a
// store prevents this. The zero value is ready.
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
