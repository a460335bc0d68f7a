package node

import (
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// recent remembers, for a while, which things have happened. It is safe for concurrent use.
type recent[K comparable] struct {
	life time.Duration // time for which something is remembered
	most int           // most things; with as many, a new one is only remembered once the oldest has expired

	mu sync.Mutex
	at *simplelru.LRU[K, time.Time] // when each thing happened last
}

func newRecent[K comparable](life time.Duration, most int) *recent[K] {
	at, err := simplelru.NewLRU[K, time.Time](most, nil)
	if err != nil {
		panic(err) // most is not above 0
	}
	return &recent[K]{life: life, most: most, at: at}
}

// note notes that k happens now, and reports whether there was room for it.
func (s *recent[K]) note(k K, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, oldest, ok := s.at.GetOldest(); ok && s.at.Len() >= s.most && now.Sub(oldest) <= s.life && !s.at.Contains(k) {
		return false
	}
	s.at.Add(k, now)
	return true
}

// was reports whether k has happened within the last life.
func (s *recent[K]) was(k K, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	at, ok := s.at.Peek(k)
	return ok && now.Sub(at) <= s.life
}

// forget forgets k.
func (s *recent[K]) forget(k K) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.at.Remove(k)
}

// take returns all that is remembered, and forgets it.
func (s *recent[K]) take(now time.Time) (out []K) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range s.at.Keys() {
		if at, _ := s.at.Peek(k); now.Sub(at) <= s.life {
			out = append(out, k)
		}
	}
	s.at.Purge()
	return out
}
