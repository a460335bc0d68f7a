package visits

import (
	"math/bits"

	"github.com/venn-p2p/venn/testnet/strategy"
)

// Table holds a value for each of some queries. It is a hash table with linear probing, at most half full. Queries of
// successive numbers stand beside each other, so a peer's values for queries under way at one time lie in one or two
// lines of a processor's cache. The zero value is empty.
type Table[V any] struct {
	slots []slot[V] // a power of two of them
	n     int
}

type slot[V any] struct {
	query strategy.QueryID // 0: empty
	value V
}

// groupBits is the logarithm of the number of successive queries that stand beside each other.
const groupBits = 3

// At returns the value of a query; nil: there is none, as for query 0. It is valid until the next Put.
func (t *Table[V]) At(q strategy.QueryID) *V {
	if len(t.slots) == 0 || q == 0 {
		return nil
	}
	if s := t.find(q); s.query == q {
		return &s.value
	}
	return nil
}

// Put sets the value of a query. The result is valid until the next call. It panics if the query is 0, which marks an
// empty slot.
func (t *Table[V]) Put(q strategy.QueryID, value V) *V {
	if q == 0 {
		panic("visits: Put of query 0")
	}
	if 2*t.n >= len(t.slots) {
		t.grow()
	}
	s := t.find(q)
	if s.query != q {
		s.query = q
		t.n++
	}
	s.value = value
	return &s.value
}

// find returns the slot of a query, or the empty one where it would go. Multiples of the golden ratio spread the groups
// of a range of queries evenly.
func (t *Table[V]) find(q strategy.QueryID) *slot[V] {
	const golden, size = 0x9e3779b9, 1 << groupBits
	group := uint32(q) >> groupBits * golden >> (32 + groupBits - bits.Len(uint(len(t.slots)-1)))
	for i := int(group<<groupBits | uint32(q)%size); ; i++ {
		if s := &t.slots[i&(len(t.slots)-1)]; s.query == q || s.query == 0 {
			return s
		}
	}
}

func (t *Table[V]) grow() {
	old := t.slots
	t.slots = make([]slot[V], max(2<<groupBits, 2*len(old)))
	for _, s := range old {
		if s.query != 0 {
			*t.find(s.query) = s
		}
	}
}
