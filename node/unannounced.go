package node

import (
	"bytes"
	"sync"

	"github.com/venn-p2p/venn/overlay/tails"
)

// unannounced holds the keys that have changed since the core last asked for a tail or an epoch. The key store tells
// later which of them were added.
type unannounced struct {
	mu       sync.Mutex
	count    int      // keys added or removed
	keys     [][]byte // these keys; nil if they are more than a tail takes
	many     bool     // the keys are more than a tail takes
	changing int      // calls that are changing the key store
}

// begin notes the number of keys held at the start. Any number of them counts as more than a tail takes.
func (u *unannounced) begin(count int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.count += count
	u.many = u.many || count > 0
}

// change lets f change the key store, and then notes the keys if any has changed.
func (u *unannounced) change(keys [][]byte, f func([][]byte) (int, error)) (changed int, err error) {
	u.mu.Lock()
	u.changing++ // the store holds some of the keys before they are noted
	u.mu.Unlock()
	changed, err = f(keys)
	u.mu.Lock()
	defer u.mu.Unlock()
	u.changing--
	if changed > 0 {
		u.add(keys)
	}
	return changed, err
}

// back notes taken keys again, because a tail could not carry them.
func (u *unannounced) back(keys [][]byte) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.add(keys)
}

// add notes keys. u.mu is held.
func (u *unannounced) add(keys [][]byte) {
	u.count += len(keys)
	if u.many = u.many || u.count > tails.MaxStep; u.many {
		u.keys = nil
		return
	}
	for _, k := range keys {
		u.keys = append(u.keys, bytes.Clone(k))
	}
}

// take returns the keys, and forgets them.
func (u *unannounced) take() [][]byte {
	u.mu.Lock()
	defer u.mu.Unlock()
	keys := u.keys
	u.count, u.keys, u.many = 0, nil, false
	return keys
}

// waiting returns the number of keys, and whether they are more than a tail takes.
func (u *unannounced) waiting() (count int, many bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.count, u.many
}

// any reports whether there are keys, or may be soon.
func (u *unannounced) any() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.count > 0 || u.changing > 0
}
