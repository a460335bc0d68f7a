package sim

import (
	"cmp"
	"math/bits"
	"slices"
	"time"

	"github.com/venn-p2p/venn/testnet/strategy"
)

// shard holds the events of the peers of a range of numbers: those to come, and those of the window that is run. Shards
// are independent of each other, so that several processors can plan events.
type shard struct {
	*queue
	nodes  []node      // of the range
	first  strategy.ID // of them
	events []event     // of the window, in the order of their planning
	sorted []event     // the same, by peer
	counts []int32     // of each peer's events, while they are grouped; then 0
	busy   []strategy.ID
	turns  []turn // of the window, by peer
}

// turn is a node's events in a window, in order.
type turn struct {
	node   *node
	events []event
}

// did is what a node did in its turn.
type did struct {
	who     strategy.ID
	out     []event
	shards  []uint8 // to which the events of out belong, or nobodys
	records []byte  // of out, for the trace
	fault   error   // that ended the turn
}

// nobodys is the shard of what a peer only says to the simulator.
const nobodys = 255

// newShards splits nodes into eight shards or fewer. The shard of a peer is its number, shifted to the right.
func newShards(nodes []node, width time.Duration) (shards []shard, shift int) {
	const most, least = 3, 4 // bits of a shard's number, and of a peer's in it
	shift = max(bits.Len(uint(len(nodes)-1))-most, least)
	for first := 0; first < len(nodes); first += 1 << shift {
		shards = append(shards, newShard(nodes[first:min(first+1<<shift, len(nodes))], strategy.ID(first), width))
	}
	return shards, shift
}

func newShard(nodes []node, first strategy.ID, width time.Duration) shard {
	return shard{queue: newQueue(width), nodes: nodes, first: first, counts: make([]int32, len(nodes))}
}

// take plans those events of what peers did that belong to the shard, which has a number.
func (s *shard) take(number int, from []did) {
	for i := range from {
		d := &from[i]
		for k, shard := range d.shards {
			if int(shard) == number {
				s.push(d.out[k])
			}
		}
	}
}

// turn moves to the next window.
func (s *shard) turn() {
	s.recycle(s.events)
	_, s.events = s.next()
	s.group()
}

// group gives every peer with events in the window its own. The events have come in the order of their planning. They
// are counted by peer and moved to their places, and each peer's few are sorted.
func (s *shard) group() {
	clear(s.sorted)
	s.sorted, s.busy, s.turns = s.sorted[:0], s.busy[:0], s.turns[:0]
	if len(s.events) == 0 {
		return
	}
	for i := range s.events {
		to := s.events[i].to - s.first
		if s.counts[to] == 0 {
			s.busy = append(s.busy, to)
		}
		s.counts[to]++
	}
	if many := len(s.counts) / 8; len(s.busy) > many {
		s.busy = s.busy[:0]
		for p, n := range s.counts {
			if n > 0 {
				s.busy = append(s.busy, strategy.ID(p))
			}
		}
	} else {
		slices.Sort(s.busy)
	}
	at := int32(0)
	for _, p := range s.busy {
		at, s.counts[p] = at+s.counts[p], at
	}
	s.sorted = slices.Grow(s.sorted, len(s.events))[:len(s.events)]
	for i := range s.events {
		next := &s.counts[s.events[i].to-s.first]
		s.sorted[*next] = s.events[i]
		*next++
	}
	from := int32(0)
	for _, p := range s.busy {
		own := s.sorted[from:s.counts[p]]
		sortEvents(own)
		s.turns = append(s.turns, turn{&s.nodes[p], own})
		from, s.counts[p] = s.counts[p], 0
	}
}

// forget drops what was done, and keeps the room for more.
func (d *did) forget() {
	clear(d.out)
	d.out, d.shards, d.records = d.out[:0], d.shards[:0], d.records[:0]
}

// sortEvents sorts events by their time, and those of one time as they were planned. Few events are inserted one by
// one, without copying them to compare.
func sortEvents(events []event) {
	const few = 32
	if len(events) > few {
		slices.SortFunc(events, func(a, b event) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.seq, b.seq)) })
		return
	}
	for i := 1; i < len(events); i++ {
		at := i
		for at > 0 && events[i].before(&events[at-1]) {
			at--
		}
		if at < i {
			e := events[i]
			copy(events[at+1:i+1], events[at:i])
			events[at] = e
		}
	}
}
