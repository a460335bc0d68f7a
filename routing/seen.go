package routing

import (
	"encoding/binary"

	"github.com/venn-p2p/venn/overlay/bound"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary/bloom"
)

const (
	// A batch holds seenBatch queries, and seenBatches batches are kept. At least the last 15,360 queries are remembered,
	// for longer than a query travels unless hundreds come a second.
	seenBatch   = bound.Many
	seenBatches = bound.Most / seenBatch
	// seenRate is the false-positive rate of one batch: over all batches, one new query in a million is taken for a
	// repeat.
	seenRate = bound.Unlikely / seenBatches
)

// sightings remembers the forwarded queries that came by, in a dynamic block-partitioned filter (Papapetrou et al.,
// section 4) of the last batches. A batch takes 2.3 KiB, all 74 KiB; none is made before the first query. The key of
// its hash is the node's secret, so nobody can make queries that are taken for others'.
type sightings struct {
	key    bloom.Hasher
	filter *bloom.Dynamic // nil: none seen yet
}

// sighting names a search that came by: its sender, its origin, and its number at the origin.
type sighting struct {
	from, origin wire.PeerID
	nonce        uint64
}

func (s sighting) bytes() []byte {
	b := binary.AppendUvarint(nil, uint64(len(s.from)))
	b = append(append(b, s.from...), s.origin...)
	return binary.BigEndian.AppendUint64(b, s.nonce)
}

// Has reports whether a search came by before.
func (s *sightings) Has(q sighting) bool {
	return s.filter != nil && s.filter.ContainsHash(s.key.Hash(q.bytes()))
}

// Add remembers a search that came by for the first time.
func (s *sightings) Add(q sighting) {
	if s.filter == nil {
		s.filter = newSightings(s.key)
	}
	s.filter.AddHash(s.key.Hash(q.bytes()))
}

func newSightings(key bloom.Hasher) *bloom.Dynamic {
	p, err := bloom.Goal{Keys: seenBatch, Rate: seenRate, Partitioned: true}.Params()
	if err != nil {
		panic(err) // constants
	}
	p.Hasher = key
	d, err := bloom.NewDynamic(bloom.DynamicParams{Batch: p, Threshold: seenBatch, Window: seenBatches})
	if err != nil {
		panic(err)
	}
	return d
}
