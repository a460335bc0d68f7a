package routing

import (
	"encoding/binary"

	"github.com/venn-p2p/venn/overlay"
	"github.com/venn-p2p/venn/summary/bloom"
)

const (
	// seenBatch queries fill a batch, seenBatches are kept: the last 15,872 queries at least are remembered, which is longer than
	// one travels unless hundreds come a second.
	seenBatch   = 512
	seenBatches = 32
	// seenRate is the false-positive rate of one batch: of all, one new query in a million is taken for a repeat.
	seenRate = 1e-6 / seenBatches
)

// sightings remembers which forwarded queries came by, in a dynamic block-partitioned filter (Papapetrou et al., section 4), of
// which the oldest batch goes when there are too many. A batch takes 2.3 KiB, all 74 KiB; none is made before the first query. The
// key of its hash is the node's secret: nobody can make queries that are taken for others'.
type sightings struct {
	key    bloom.Key
	filter *bloom.Dynamic // nil: none seen yet
}

// Add takes in a query and says whether it is new.
func (s *sightings) Add(origin overlay.PeerID, nonce uint64) bool {
	if s.filter == nil {
		s.filter = newSightings(s.key)
	}
	h := s.key.Hash(binary.BigEndian.AppendUint64([]byte(origin), nonce))
	if s.filter.ContainsHash(h) {
		return false
	}
	s.filter.AddHash(h)
	if s.filter.Batches() > seenBatches {
		s.filter.DropOldest()
	}
	return true
}

func newSightings(key bloom.Key) *bloom.Dynamic {
	p, err := bloom.PartitionedRate(seenBatch, seenRate)
	if err != nil {
		panic(err) // constants
	}
	p.Key = key
	d, err := bloom.NewDynamic(bloom.DynamicParams{Batch: p, Threshold: seenBatch})
	if err != nil {
		panic(err)
	}
	return d
}
