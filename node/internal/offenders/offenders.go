// Package offenders remembers which peers sent forbidden things on streams. A peer that does so again and again is not
// served for a while. The package also decides which offences are logged. Both are bounded, whoever offends and however
// often.
package offenders

import (
	"maps"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
)

const (
	fades    = 30 * time.Second // after which one offence is forgiven
	maxPeers = 1024             // peers remembered
	logEvery = 10 * time.Second
)

// Table holds the offenders. The zero value is empty and forgives none. It is safe for concurrent use.
type Table struct {
	Forgiven float64 // offences of a peer, the most at a time

	mu     sync.Mutex
	peers  map[peer.ID]score
	blamed map[peer.ID]uint64 // refusals of any kind, by the peer that caused them
	logged time.Time
	silent int // offences since the last one that was logged
}

type score struct {
	offences float64
	at       time.Time
}

func (s score) now(now time.Time) float64 {
	return max(0, s.offences-now.Sub(s.at).Seconds()/fades.Seconds())
}

// Note records an offence and reports whether the peer has offended too often.
func (t *Table) Note(p peer.ID, now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.peers == nil {
		t.peers = make(map[peer.ID]score)
	}
	s := score{t.peers[p].now(now) + 1, now}
	if _, known := t.peers[p]; !known && len(t.peers) >= maxPeers {
		t.forget(now)
	}
	t.peers[p] = s
	return s.offences > t.Forgiven
}

// forget makes room: for it goes a forgiven peer, or else the one that offended least.
func (t *Table) forget(now time.Time) {
	var least peer.ID
	for p, s := range t.peers {
		if s.now(now) == 0 {
			delete(t.peers, p)
			continue
		}
		if l := t.peers[least]; least == "" || s.now(now) < l.now(now) || s.now(now) == l.now(now) && p < least {
			least = p
		}
	}
	if len(t.peers) >= maxPeers {
		delete(t.peers, least)
	}
}

// Bad reports whether a peer must not be served.
func (t *Table) Bad(p peer.ID, now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	s, ok := t.peers[p]
	return ok && s.now(now) > t.Forgiven
}

// Blame counts a refusal that a peer caused. When too many peers are remembered, the one with the fewest gives way.
func (t *Table) Blame(p peer.ID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.blamed == nil {
		t.blamed = make(map[peer.ID]uint64)
	}
	if _, known := t.blamed[p]; !known && len(t.blamed) >= maxPeers {
		var least peer.ID
		for q, n := range t.blamed {
			if least == "" || n < t.blamed[least] || n == t.blamed[least] && q < least {
				least = q
			}
		}
		delete(t.blamed, least)
	}
	t.blamed[p]++
}

// Blamed returns the number of refusals, by the peer that caused them, of the peers remembered.
func (t *Table) Blamed() map[peer.ID]uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return maps.Clone(t.blamed)
}

// Loud reports whether an offence is to be logged now, and how many were not logged since the last one that was.
func (t *Table) Loud(now time.Time) (silent int, loud bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.logged.IsZero() && now.Sub(t.logged) < logEvery {
		t.silent++
		return 0, false
	}
	silent, t.silent, t.logged = t.silent, 0, now
	return silent, true
}
