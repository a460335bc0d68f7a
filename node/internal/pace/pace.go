// Package pace slows down peers that ask for more than a rate, each on its own account. It remembers a bounded number
// of peers. It first forgets peers that owe nothing, then those that owe least.
package pace

import (
	"math"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
)

// maxPeers is the number of accounts kept.
const maxPeers = 1024

// Table holds the accounts of peers. It is safe for concurrent use.
type Table struct {
	rate, burst float64

	mu    sync.Mutex
	peers map[peer.ID]account
}

// account is a peer's debt at a time.
type account struct {
	owes float64
	at   time.Time
}

// New returns a table that grants each peer rate units a second, and burst at once after a pause.
func New(rate, burst int) *Table {
	return &Table{rate: float64(rate), burst: float64(burst), peers: make(map[peer.ID]account)}
}

func (t *Table) owes(a account, now time.Time) float64 {
	return max(0, a.owes-float64(now.Sub(a.at).Seconds()*t.rate))
}

// Take charges a peer and returns how long it has to wait. If that exceeds most, it charges nothing, and ok is false.
func (t *Table) Take(p peer.ID, n int, now time.Time, most time.Duration) (wait time.Duration, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	a, known := t.peers[p]
	owes := t.owes(a, now) + float64(n)
	if over := owes - t.burst; over > 0 {
		wait = time.Duration(math.Ceil(over / t.rate * float64(time.Second)))
	}
	if wait > most {
		return 0, false
	}
	if !known && len(t.peers) >= maxPeers {
		t.forget(now)
	}
	t.peers[p] = account{owes, now}
	return wait, true
}

// forget makes room for a peer.
func (t *Table) forget(now time.Time) {
	var least peer.ID
	for p, a := range t.peers {
		owes := t.owes(a, now)
		if owes == 0 {
			delete(t.peers, p)
			continue
		}
		if l := t.peers[least]; least == "" || owes < t.owes(l, now) || owes == t.owes(l, now) && p < least {
			least = p
		}
	}
	if len(t.peers) >= maxPeers {
		delete(t.peers, least)
	}
}
