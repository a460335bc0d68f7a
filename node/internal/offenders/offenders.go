// Package offenders remembers which peers sent forbidden things on streams. A peer that does so again and again is not
// served for a while. The package also decides which offences are logged. Both are bounded, whatever peers do.
package offenders

import (
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"github.com/libp2p/go-libp2p/core/peer"
)

const (
	fades    = 30 * time.Second // after which one offence is forgiven
	maxPeers = 1024             // peers remembered
	logEvery = 10 * time.Second
)

// Table holds the offenders. When too many are remembered, the one that has not offended for longest gives way. It is
// safe for concurrent use.
type Table struct {
	forgiven float64 // offences of a peer, the most at a time

	mu     sync.Mutex
	peers  *simplelru.LRU[peer.ID, offender]
	logged time.Time
	silent int // offences since the last one that was logged
}

// offender has the offences of a peer.
type offender struct {
	offences float64 // at an instant
	at       time.Time
	blamed   uint64 // refusals of any kind that it caused
}

// New returns an empty table, that forgives a peer some offences.
func New(forgiven float64) *Table {
	peers, err := simplelru.NewLRU[peer.ID, offender](maxPeers, nil)
	if err != nil {
		panic(err) // maxPeers is not above 0
	}
	return &Table{forgiven: forgiven, peers: peers}
}

func (o offender) now(now time.Time) float64 {
	return max(0, o.offences-now.Sub(o.at).Seconds()/fades.Seconds())
}

// Note records an offence and reports whether the peer has offended too often.
func (t *Table) Note(p peer.ID, now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	o, _ := t.peers.Get(p)
	o.offences, o.at = o.now(now)+1, now
	t.peers.Add(p, o)
	return o.offences > t.forgiven
}

// Bad reports whether a peer must not be served.
func (t *Table) Bad(p peer.ID, now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	o, ok := t.peers.Peek(p)
	return ok && o.now(now) > t.forgiven
}

// Blame counts a refusal that a peer caused.
func (t *Table) Blame(p peer.ID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	o, _ := t.peers.Get(p)
	o.blamed++
	t.peers.Add(p, o)
}

// Blamed returns the number of refusals, by the peer that caused them, of the peers remembered.
func (t *Table) Blamed() map[peer.ID]uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := make(map[peer.ID]uint64)
	for _, p := range t.peers.Keys() {
		if o, _ := t.peers.Peek(p); o.blamed > 0 {
			out[p] = o.blamed
		}
	}
	return out
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
