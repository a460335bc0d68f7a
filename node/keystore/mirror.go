package keystore

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"

	"github.com/venn-p2p/venn/summary"
	"github.com/venn-p2p/venn/summary/counting"
)

// Mirror holds the fingerprints of a collection in memory, from which all summaries are made. It is a d-left counting
// filter of whole fingerprints (Bonomi et al. 2006; package counting), hence an exact multiset of them. It takes about
// 47 bits a key at a million keys. When it is full, it doubles, for which it does not need the keys. The zero value is
// empty and ready. It is safe for concurrent use.
type Mirror struct {
	mu    sync.RWMutex
	table *counting.DLeft // nil: empty
}

// leastKeys is the number of keys for which a new mirror has room.
const leastKeys = 1 << 12

var errMirror = errors.New("keystore: not a mirror of fingerprints")

// Add adds a fingerprint once more. If the fingerprint is there four times already, it changes nothing and returns
// counting.ErrOverflow. Under a keyed hash of 48 bits this does not happen by accident.
func (m *Mirror) Add(f summary.Fingerprint) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.table == nil {
		m.table = newTable()
	}
	return m.table.Add(uint64(f))
}

// newTable returns an empty table. The placement of its fingerprints is secret, so that no peer can make keys that
// overflow it.
func newTable() *counting.DLeft {
	p := counting.ParamsForFingerprint(leastKeys, summary.FingerprintBits)
	var seed [8]byte
	_, _ = rand.Read(seed[:]) // never fails
	p.Seed = binary.LittleEndian.Uint64(seed[:])
	t, err := counting.NewDLeft(p)
	if err != nil {
		panic(err) // the parameters are constants
	}
	return t
}

// Remove removes one copy of each fingerprint, if there is one.
func (m *Mirror) Remove(fps ...summary.Fingerprint) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.table == nil {
		return
	}
	for _, f := range fps {
		m.table.Remove(uint64(f))
	}
}

// Contains reports whether a fingerprint is there.
func (m *Mirror) Contains(f summary.Fingerprint) bool {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.table != nil && m.table.Contains(uint64(f))
}

// Len returns the number of fingerprints, repetitions included.
func (m *Mirror) Len() int {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if m.table == nil {
		return 0
	}
	return m.table.Len()
}

// Fingerprints yields each fingerprint once. It iterates over a copy, so that changes need not wait for the caller.
func (m *Mirror) Fingerprints(yield func(summary.Fingerprint) bool) {
	for _, f := range m.snapshot() {
		if !yield(f) {
			return
		}
	}
}

func (m *Mirror) snapshot() []summary.Fingerprint {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if m.table == nil {
		return nil
	}
	all := make([]summary.Fingerprint, 0, m.table.Len())
	for f := range m.table.All {
		all = append(all, summary.Fingerprint(f))
	}
	return all
}

// MarshalBinary encodes the fingerprints with their counts, in about as many bytes as their entropy.
func (m *Mirror) MarshalBinary() ([]byte, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if m.table == nil {
		return newTable().MarshalBinary()
	}
	return m.table.MarshalBinary()
}

// UnmarshalBinary replaces the mirror by the one encoded in b. It returns an error and changes nothing if b does not
// encode a mirror, or if the encoded fingerprints have another size.
func (m *Mirror) UnmarshalBinary(b []byte) error {
	t := newTable()
	if err := t.UnmarshalBinary(b); err != nil {
		return fmt.Errorf("%w: %w", errMirror, err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.table = t
	return nil
}
