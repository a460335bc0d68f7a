package bloom

import "sync/atomic"

// Concurrent is a Filter that many goroutines may add to and ask at once, without locks: bits are set by atomic
// instructions. A key whose Add has returned is found by every Contains that begins afterwards. Adding costs up to
// twice as much as with a Filter, asking the same.
type Concurrent struct {
	f *Filter
}

// NewConcurrent returns an empty filter, or an error that names the parameters out of range. O(m).
func NewConcurrent(p Params) (*Concurrent, error) {
	f, err := New(p)
	if err != nil {
		return nil, err
	}
	return &Concurrent{f}, nil
}

// Add adds a key. No allocation. O(k).
func (s *Concurrent) Add(key []byte) {
	h := s.f.params.Seed.Hash(key)
	for _, p := range s.f.probes {
		s.set(p.at(h, s.f.params.BlockBits))
	}
}

// set sets a bit. Most bits of a well-used filter are set already, and reading does not take the cache line from
// others.
func (s *Concurrent) set(at uint64) {
	w, bit := &s.f.words[at/64], uint64(1)<<(at%64)
	if atomic.LoadUint64(w)&bit == 0 {
		atomic.OrUint64(w, bit)
	}
}

// Contains reports whether the key may have been added. No allocation. O(k).
func (s *Concurrent) Contains(key []byte) bool {
	h := s.f.params.Seed.Hash(key)
	for _, p := range s.f.probes {
		if !s.get(p.at(h, s.f.params.BlockBits)) {
			return false
		}
	}
	return true
}

func (s *Concurrent) get(at uint64) bool {
	return atomic.LoadUint64(&s.f.words[at/64])&(1<<(at%64)) != 0
}

// Snapshot returns a Filter with all keys whose Add returned before the call, and perhaps parts of later ones. O(m).
func (s *Concurrent) Snapshot() *Filter {
	c := *s.f
	c.words = make([]uint64, len(s.f.words))
	for i := range c.words {
		c.words[i] = atomic.LoadUint64(&s.f.words[i])
	}
	return &c
}
