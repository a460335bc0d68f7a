package workload

import "math/rand/v2"

// Kind says what a query wants.
type Kind uint8

// The kinds of queries.
const (
	FindOne Kind = iota // any holder of the key is an answer
	FindAll             // every holder of the key is wanted
)

// Query asks for a key that the asker lacks and some other peer holds.
type Query struct {
	Kind  Kind
	Asker int    // number of the peer that asks
	Key   uint32 // number of the key
}

// Queries draws n queries of the kind. Askers take turns in a random order, so that the numbers of queries of two peers
// differ by one at most. The key is uniform among those that the asker lacks. A peer that holds every key asks nothing;
// there are no queries at all where every peer holds every key.
func (d *Data) Queries(kind Kind, n int, rng *rand.Rand) []Query {
	queries := make([]Query, 0, n)
	askers := d.askers()
	for len(queries) < n && len(askers) > 0 {
		rng.Shuffle(len(askers), func(i, j int) { askers[i], askers[j] = askers[j], askers[i] })
		for _, a := range askers[:min(len(askers), n-len(queries))] {
			queries = append(queries, Query{Kind: kind, Asker: a, Key: d.lacked(a, rng)})
		}
	}
	return queries
}

// askers are the peers that lack something.
func (d *Data) askers() []int {
	var askers []int
	for p, c := range d.collections {
		if len(c) < d.Keys() {
			askers = append(askers, p)
		}
	}
	return askers
}

// lacked draws one of the keys that the peer lacks. Every key has a holder, so another peer holds it.
func (d *Data) lacked(peer int, rng *rand.Rand) uint32 {
	held := d.collections[peer]
	rank := uint32(rng.IntN(d.Keys() - len(held)))
	// The key of that rank among the lacked ones: find how many held keys stand before it. held[i]-i lacked keys
	// precede held[i], and never fewer than the ones before.
	low, high := 0, len(held)
	for low < high {
		mid := (low + high) / 2
		if held[mid]-uint32(mid) <= rank {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return rank + uint32(low)
}
