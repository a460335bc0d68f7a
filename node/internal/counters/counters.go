// Package counters counts a node's refusals, drops and traffic, and says which errors are a sender's faults. It also
// remembers which peers sent forbidden things on streams: a peer that does so repeatedly is not served for a while. It
// remembers the 4,096 peers that it counted for last. A count costs O(1), behind one lock.
package counters

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
)

// Traffic counts the bytes on the streams of one protocol with one peer, without the headers of the connection. For
// pubsub these are its RPCs with their lengths.
type Traffic struct {
	Peer           peer.ID
	Protocol       protocol.ID
	Sent, Received uint64
}

// Counters counts a node's refusals, drops and traffic, and remembers the peers that sent forbidden things on streams.
// It keeps only the peers counted most recently. It is safe for concurrent use.
type Counters struct {
	forgiven float64 // most offences of a peer at a time that are forgiven

	mu      sync.Mutex
	refused map[string]uint64 // messages refused, by reason
	dropped map[string]uint64 // items dropped, by queue
	peers   *simplelru.LRU[peer.ID, *record]
	totals  map[protocol.ID]*Traffic
	logged  time.Time
	silent  int // refusals since the last one that was logged
}

// record has the counts of a peer.
type record struct {
	offences float64 // number of offences at time at; it fades
	at       time.Time
	blamed   uint64 // number of refusals of any kind that the peer caused
	traffic  map[protocol.ID]*Traffic
}

const (
	maxPeers = 4096             // most peers remembered
	fades    = 30 * time.Second // time after which one offence is forgiven
	logEvery = 10 * time.Second
)

// New returns counters at zero. forgiven is the number of offences that a peer may have at a time.
func New(forgiven float64) *Counters {
	peers, err := simplelru.NewLRU[peer.ID, *record](maxPeers, nil)
	if err != nil {
		panic(err) // maxPeers is not above 0
	}
	return &Counters{
		forgiven: forgiven,
		refused:  make(map[string]uint64),
		dropped:  make(map[string]uint64),
		peers:    peers,
		totals:   make(map[protocol.ID]*Traffic),
	}
}

// of returns the record of a peer. The caller holds c.mu.
func (c *Counters) of(p peer.ID) *record {
	r, known := c.peers.Get(p)
	if !known {
		r = &record{traffic: make(map[protocol.ID]*Traffic)}
		c.peers.Add(p, r)
	}
	return r
}

// Refuse counts a refused message under a reason.
func (c *Counters) Refuse(reason string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.refused[reason]++
}

// Blame counts a refused message under a reason, and for the peer that caused it. loud reports whether to log it, and
// silent is the number of refusals since the last one logged.
func (c *Counters) Blame(p peer.ID, reason string, now time.Time) (silent int, loud bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.refused[reason]++
	c.of(p).blamed++
	if !c.logged.IsZero() && now.Sub(c.logged) < logEvery {
		c.silent++
		return 0, false
	}
	silent, c.silent, c.logged = c.silent, 0, now
	return silent, true
}

// Blamed returns the number of refusals that each remembered peer caused.
func (c *Counters) Blamed() map[peer.ID]uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := make(map[peer.ID]uint64)
	for _, p := range c.peers.Keys() {
		if r, _ := c.peers.Peek(p); r.blamed > 0 {
			out[p] = r.blamed
		}
	}
	return out
}

// now returns the number of the peer's offences that are not forgiven yet.
func (r record) now(now time.Time) float64 {
	return max(0, r.offences-now.Sub(r.at).Seconds()/fades.Seconds())
}

// Offended records that a peer sent something forbidden, and reports whether it did so too often.
func (c *Counters) Offended(p peer.ID, now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.of(p)
	r.offences, r.at = r.now(now)+1, now
	return r.offences > c.forgiven
}

// Bad reports whether a peer must not be served, because of its offences.
func (c *Counters) Bad(p peer.ID, now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	r, ok := c.peers.Peek(p)
	return ok && r.now(now) > c.forgiven
}

// Drop counts an item dropped at a full queue.
func (c *Counters) Drop(queue string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.dropped[queue]++
}

// Count counts bytes on a stream with a peer.
func (c *Counters) Count(p peer.ID, id protocol.ID, sent, received int) {
	if sent == 0 && received == 0 { // as when a stream has failed
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.totals[id] == nil {
		c.totals[id] = &Traffic{Protocol: id}
	}
	by := c.of(p).traffic
	if by[id] == nil {
		by[id] = &Traffic{Peer: p, Protocol: id}
	}
	for _, t := range []*Traffic{by[id], c.totals[id]} {
		t.Sent += uint64(sent)
		t.Received += uint64(received)
	}
}

// ByPeer returns the traffic with each remembered peer, sorted by peer id and protocol.
func (c *Counters) ByPeer() []Traffic {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := make([]Traffic, 0, c.peers.Len())
	for _, r := range c.peers.Values() {
		for _, t := range r.traffic {
			out = append(out, *t)
		}
	}
	slices.SortFunc(out, func(a, b Traffic) int {
		if d := strings.Compare(string(a.Peer), string(b.Peer)); d != 0 {
			return d
		}
		return strings.Compare(string(a.Protocol), string(b.Protocol))
	})
	return out
}

// Maps returns copies of two counts: refused messages by reason, and dropped items by queue.
func (c *Counters) Maps() (refused, dropped map[string]uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.refused), maps.Clone(c.dropped)
}

// Protocols returns the traffic of each protocol.
func (c *Counters) Protocols() map[protocol.ID]Traffic {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := make(map[protocol.ID]Traffic, len(c.totals))
	for id, t := range c.totals {
		out[id] = *t
	}
	return out
}
