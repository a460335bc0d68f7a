package node

import (
	"sync"
	"time"

	"github.com/venn-p2p/venn/summary"
)

// Epochs numbers a node's summaries. Peers keep the latest they have seen of a node, so a number that goes back, or is
// used twice, is ignored at best: each returned must be later than all before, those of earlier runs included.
type Epochs interface {
	NextEpoch() (summary.Epoch, error)
}

// WithEpochs sets what numbers the node's summaries. Default: every start is a new generation, by the clock.
func WithEpochs(e Epochs) Option {
	return func(c *config) error { c.epochs = e; return nil }
}

// clockEpochs are those of a node without a disk. Its zero value is ready.
type clockEpochs struct {
	mu   sync.Mutex
	last summary.Epoch
}

func (e *clockEpochs) NextEpoch() (summary.Epoch, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.last.Generation == 0 {
		e.last.Generation = uint32(time.Now().Unix())
	}
	e.last.Sequence++
	return e.last, nil
}
