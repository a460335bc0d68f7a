// Package offenders remembers which peers sent on streams what no peer should. One that does so again and again is not
// served any more for a while. It also says what of all that is worth a line in the log. Both are bounded, whoever
// offends and however often.
package offenders

import (
	"maps"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
)

const (
	most     = 20               // offences that are forgiven
	fades    = 30 * time.Second // after which one is
	maxPeers = 1024             // remembered
	logEvery = 10 * time.Second
)

// Table is the offenders. The zero value is empty and ready. It is safe for concurrent use.
type Table struct {
	mu     sync.Mutex
	peers  map[peer.ID]score
	blamed map[peer.ID]uint64 // refusals, whatever they were
	logged time.Time
	silent int // offences since
}

type score struct {
	offences float64
	at       time.Time
}

func (s score) now(now time.Time) float64 {
	return max(0, s.offences-now.Sub(s.at).Seconds()/fades.Seconds())
}

// Note takes in an offence and says whether the peer is one too many times an offender.
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
	return s.offences > most
}

// forget makes room. A forgiven peer goes, or else the one that offended least.
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

// Bad says whether a peer is not to be served.
func (t *Table) Bad(p peer.ID, now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	s, ok := t.peers[p]
	return ok && s.now(now) > most
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

// Blamed returns the refusals by who caused them, of those peers that are remembered.
func (t *Table) Blamed() map[peer.ID]uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return maps.Clone(t.blamed)
}

// Loud says whether an offence is to be logged now, and how many were not since the last one that was.
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
