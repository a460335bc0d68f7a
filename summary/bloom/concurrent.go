package bloom

import "sync/atomic"

// Concurrent is a Filter that many goroutines may add to and ask at once, without locks: bits are set by atomic
// instructions. A key whose Add has returned is found by every Contains that begins afterwards. Add takes up to twice
// the time of Filter.Add, Contains the same time. No other method may run during UnmarshalBinary.
type Concurrent struct{ f Filter }

// NewConcurrent returns an empty filter, or an error that names the parameters out of range. O(m).
func NewConcurrent(p Params) (*Concurrent, error) {
	f, err := New(p)
	if err != nil {
		return nil, err
	}
	return &Concurrent{*f}, nil
}

// Add adds a key. No allocation. O(k).
func (s *Concurrent) Add(key []byte) { s.testAndAdd(s.f.params.Hasher.Hash(key)) }

// AddHash adds a key by its hash under the filter's Hasher. O(k).
func (s *Concurrent) AddHash(h Hash) { s.testAndAdd(h) }

// TestAndAdd adds a key and reports whether it may have been there before. If several goroutines add one new key at a
// time, at least one call returns false. O(k), no allocation.
func (s *Concurrent) TestAndAdd(key []byte) bool { return s.testAndAdd(s.f.params.Hasher.Hash(key)) }

func (s *Concurrent) testAndAdd(h Hash) bool {
	if len(s.f.probes) == 0 {
		panic(zeroValue)
	}
	there := true
	for _, p := range s.f.probes {
		there = s.set(p.at(h, s.f.params.BlockBits)) && there
	}
	return there
}

// set sets a bit and reports whether it was set before. It reads first, because most bits of a well-used filter are
// set, and reading does not take the cache line from others.
func (s *Concurrent) set(at uint64) bool {
	w, bit := &s.f.words[at/64], uint64(1)<<(at%64)
	return atomic.LoadUint64(w)&bit != 0 || atomic.OrUint64(w, bit)&bit != 0
}

// Contains reports whether the key may have been added. No allocation. O(k).
func (s *Concurrent) Contains(key []byte) bool { return s.ContainsHash(s.f.params.Hasher.Hash(key)) }

// ContainsHash does what Contains does, by the key's hash under the filter's Hasher. O(k).
func (s *Concurrent) ContainsHash(h Hash) bool {
	for _, p := range s.f.probes {
		at := p.at(h, s.f.params.BlockBits)
		if atomic.LoadUint64(&s.f.words[at/64])&(1<<(at%64)) == 0 {
			return false
		}
	}
	return len(s.f.probes) > 0
}

// snapshot returns a Filter with all keys whose Add returned before, and perhaps some bits of later keys. O(m).
func (s *Concurrent) snapshot() *Filter {
	c := s.f
	c.words = make([]uint64, len(s.f.words))
	for i := range c.words {
		c.words[i] = atomic.LoadUint64(&s.f.words[i])
	}
	return &c
}

// FalsePositiveRate returns the false-positive rate with the keys whose Add has returned. O(m).
func (s *Concurrent) FalsePositiveRate() float64 { return s.snapshot().FalsePositiveRate() }

// SizeBytes returns the memory of the bits. O(1).
func (s *Concurrent) SizeBytes() int { return s.f.SizeBytes() }

// Reset removes all keys. Some bits of keys that are added meanwhile may stay. O(m).
func (s *Concurrent) Reset() {
	for i := range s.f.words {
		atomic.StoreUint64(&s.f.words[i], 0)
	}
}

// Merge adds all keys of g, which must have the same parameters; otherwise the error is matched by ErrMismatch. O(m).
func (s *Concurrent) Merge(g *Filter) error {
	if s.f.params != g.params {
		return mismatch(s.f.params, g.params)
	}
	for i, w := range g.words {
		if w != 0 {
			atomic.OrUint64(&s.f.words[i], w)
		}
	}
	return nil
}

// MarshalBinary returns the binary form of a Filter with all keys whose Add returned before, and perhaps some bits of
// later keys. [OpenView] or [Filter.UnmarshalBinary] read it. The error is always nil. O(m).
func (s *Concurrent) MarshalBinary() ([]byte, error) { return s.snapshot().MarshalBinary() }

// UnmarshalBinary makes s the filter whose binary form is data, as [Filter.UnmarshalBinary] does. O(m).
func (s *Concurrent) UnmarshalBinary(data []byte) error { return s.f.UnmarshalBinary(data) }
