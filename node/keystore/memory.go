package keystore

import (
	"context"
	"iter"
	"maps"
	"slices"
	"sync"

	"github.com/venn-p2p/venn/summary"
)

// Memory keeps keys in memory. Each takes about 70 bytes and its own length. The zero value is empty and ready.
type Memory struct {
	mu     sync.RWMutex
	keys   map[string]summary.Fingerprint
	mirror Mirror
}

// Add adds keys. Its errors are those of Mirror.Add.
func (m *Memory) Add(keys [][]byte, fps []summary.Fingerprint) (added int, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.keys == nil {
		m.keys = make(map[string]summary.Fingerprint)
	}
	for i, key := range keys {
		if _, ok := m.keys[string(key)]; ok {
			continue
		}
		if err := m.mirror.Add(fps[i]); err != nil {
			return added, err
		}
		m.keys[string(key)] = fps[i]
		added++
	}
	return added, nil
}

// Remove removes keys; the error is always nil.
func (m *Memory) Remove(keys [][]byte) (removed int, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, key := range keys {
		if f, ok := m.keys[string(key)]; ok {
			delete(m.keys, string(key))
			m.mirror.Remove(f)
			removed++
		}
	}
	return removed, nil
}

// Has reports whether key is held; the error is always nil.
func (m *Memory) Has(key []byte) (bool, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	_, ok := m.keys[string(key)]
	return ok, nil
}

// Keys yields the keys of a snapshot, taken when the iteration begins; the error is always nil.
func (m *Memory) Keys(context.Context) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		m.mu.RLock()
		all := slices.Collect(maps.Keys(m.keys))
		m.mu.RUnlock()
		for _, k := range all {
			if !yield([]byte(k), nil) {
				return
			}
		}
	}
}

// Len returns the number of keys; the error is always nil.
func (m *Memory) Len() (int, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return len(m.keys), nil
}

// Fingerprints yields the fingerprints of a snapshot, taken when the iteration begins.
func (m *Memory) Fingerprints() iter.Seq[summary.Fingerprint] { return m.mirror.Fingerprints }
