// Package counters counts a node's refusals, drops and traffic.
package counters

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
)

// Traffic counts the bytes on the streams of one protocol with one peer, without the headers of the connection.
// Pubsub's are its RPCs with their lengths.
type Traffic struct {
	Peer           peer.ID
	Protocol       protocol.ID
	Sent, Received uint64
}

// Counters counts the node's refusals, drops and traffic. It is safe for concurrent use.
type Counters struct {
	mu      sync.Mutex
	refused map[string]uint64                                 // by reason
	dropped map[string]uint64                                 // by queue
	traffic *simplelru.LRU[peer.ID, map[protocol.ID]*Traffic] // of the peers counted last
	totals  map[protocol.ID]*Traffic
	tails   uint64 // bytes
}

// New returns counters at zero.
func New() *Counters {
	traffic, err := simplelru.NewLRU[peer.ID, map[protocol.ID]*Traffic](maxTrafficPeers, nil)
	if err != nil {
		panic(err) // maxTrafficPeers is not above 0
	}
	return &Counters{
		refused: make(map[string]uint64),
		dropped: make(map[string]uint64),
		traffic: traffic,
		totals:  make(map[protocol.ID]*Traffic),
	}
}

// Refuse counts a message refused, by reason.
func (c *Counters) Refuse(reason string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.refused[reason]++
}

// Drop counts a drop at a full queue.
func (c *Counters) Drop(queue string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.dropped[queue]++
}

// Count counts bytes on a stream.
func (c *Counters) Count(p peer.ID, id protocol.ID, sent, received int) {
	if sent == 0 && received == 0 { // a stream has failed
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.totals[id] == nil {
		c.totals[id] = &Traffic{Protocol: id}
	}
	for _, t := range []*Traffic{c.of(p, id), c.totals[id]} {
		t.Sent += uint64(sent)
		t.Received += uint64(received)
	}
}

// of returns the traffic of a protocol with a peer. c.mu is held.
func (c *Counters) of(p peer.ID, id protocol.ID) *Traffic {
	all, known := c.traffic.Get(p)
	if !known {
		all = make(map[protocol.ID]*Traffic)
		c.traffic.Add(p, all)
	}
	if all[id] == nil {
		all[id] = &Traffic{Peer: p, Protocol: id}
	}
	return all[id]
}

// SentTails counts the bytes of a message of tails, with its length.
func (c *Counters) SentTails(bytes int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tails += uint64(bytes)
}

// Tails returns the count of SentTails.
func (c *Counters) Tails() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.tails
}

// maxTrafficPeers caps the peers whose traffic is counted apart.
const maxTrafficPeers = 4096

// ByPeer returns the traffic with every peer, in the order of their ids and protocols.
func (c *Counters) ByPeer() []Traffic {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := make([]Traffic, 0, c.traffic.Len())
	for _, all := range c.traffic.Values() {
		for _, t := range all {
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

// Maps returns copies of the counts of refused messages, by reason, and of dropped ones, by queue.
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
