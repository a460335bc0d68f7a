package store

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"sync"

	ds "github.com/ipfs/go-datastore"

	"github.com/venn-p2p/venn/summary"
)

// reserve is the number of sequence numbers reserved at a time. A crash loses the unused ones.
const reserve = 64

// epochs gives out the numbers of summaries.
type epochs struct {
	mu       sync.Mutex
	last     summary.Epoch
	reserved uint32 // sequence numbers up to this one are reserved on disk
}

func encodeEpoch(generation, reserved uint32) []byte {
	return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, generation), reserved)
}

// openEpochs reads the reserved numbers. For a new store it begins a generation, which is the Unix time in seconds.
func (s *Store) openEpochs(ctx context.Context) error {
	b, err := s.ds.Get(ctx, epochName)
	switch {
	case errors.Is(err, ds.ErrNotFound):
		b = encodeEpoch(uint32(s.now().Unix()), 0)
		if err := s.put(ctx, epochName, b); err != nil {
			return err
		}
	case err != nil:
		return fmt.Errorf("store: %w", err)
	case len(b) != 8:
		return fmt.Errorf("%w: epoch of %d bytes", ErrDamaged, len(b))
	}
	s.epochs.last = summary.Epoch{Generation: binary.BigEndian.Uint32(b), Sequence: binary.BigEndian.Uint32(b[4:])}
	s.epochs.reserved = s.epochs.last.Sequence
	return nil
}

// NextEpoch returns the number of the next summary. It is later than all that any run has returned for this store.
func (s *Store) NextEpoch() (summary.Epoch, error) {
	e := &s.epochs
	e.mu.Lock()
	defer e.mu.Unlock()
	next := e.last
	if next.Sequence == math.MaxUint32 {
		next = summary.Epoch{Generation: next.Generation + 1}
		e.reserved = 0
	}
	next.Sequence++
	if next.Sequence > e.reserved {
		upTo := uint32(min(uint64(next.Sequence)+reserve-1, math.MaxUint32))
		if err := s.put(context.Background(), epochName, encodeEpoch(next.Generation, upTo)); err != nil {
			return summary.Epoch{}, err
		}
		e.reserved = upTo
	}
	e.last = next
	return next, nil
}
