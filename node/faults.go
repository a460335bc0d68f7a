package node

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/venn-p2p/venn/summary/counting"
)

// faults holds the key store's last error of each kind of use, until a use of that kind succeeds.
type faults [2]atomic.Pointer[error]

const (
	reading = iota
	writing
)

// noted records whether err shows a failing key store, logs it if that is new, and returns err or a wrapped err.
func (n *Node) noted(kind int, err error) error {
	if errors.Is(err, counting.ErrOverflow) { // the key is at fault, not the store
		return err
	}
	if err == nil {
		if old := n.faults[kind].Swap(nil); old != nil {
			n.log.Info("the key store works again")
		}
		return nil
	}
	err = fmt.Errorf("node: key store: %w", err)
	if old := n.faults[kind].Swap(&err); old == nil {
		n.log.Error("the key store fails", "err", err)
	}
	return err
}

// fault returns the error with which the key store fails; nil: it works.
func (n *Node) fault() error {
	if s := n.cfg.store; s != nil && s.Fault() == nil && n.faults[writing].Load() != nil {
		_ = n.noted(writing, nil) // the store has repeated the write by itself
	}
	for i := range n.faults {
		if err := n.faults[i].Load(); err != nil {
			return *err
		}
	}
	return nil
}
