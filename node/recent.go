package node

import (
	"maps"
	"sync"
	"time"
)

// recent remembers, for a while, what has happened. It is safe for concurrent use.
type recent[K comparable] struct {
	life time.Duration // for which something is remembered
	most int           // of them; what comes when there are as many is not

	mu sync.Mutex
	at map[K]time.Time
}

func newRecent[K comparable](life time.Duration, most int) *recent[K] {
	return &recent[K]{life: life, most: most, at: make(map[K]time.Time)}
}

// note notes that k happens now.
func (s *recent[K]) note(k K, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.at) >= s.most {
		s.prune(now)
	}
	if len(s.at) < s.most {
		s.at[k] = now
	}
}

// was says whether k has happened.
func (s *recent[K]) was(k K, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	at, ok := s.at[k]
	return ok && now.Sub(at) <= s.life
}

// forget forgets k.
func (s *recent[K]) forget(k K) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.at, k)
}

// take returns all that is remembered, and forgets it.
func (s *recent[K]) take(now time.Time) (out []K) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.prune(now)
	for k := range s.at {
		out = append(out, k)
	}
	clear(s.at)
	return out
}

func (s *recent[K]) prune(now time.Time) {
	maps.DeleteFunc(s.at, func(_ K, at time.Time) bool { return now.Sub(at) > s.life })
}
