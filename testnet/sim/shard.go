package sim

import (
	"cmp"
	"fmt"
	"math/bits"
	"runtime/debug"
	"slices"
	"time"

	"github.com/venn-p2p/venn/testnet/strategy"
)

// shard is the peers of a range of numbers, with their events to come. In a window it takes in the events of all peers
// from the window before, and runs the ones of its own that are due. Shards are independent of each other meanwhile, so
// several processors can run them.
type shard struct {
	queue
	account
	sim    *Sim
	number int
	nodes  []node      // of the range
	first  strategy.ID // of them
	did    [2]deeds    // in even windows and in odd ones
	doing  *deeds      // this window's
	sorted []event     // of the window, by peer
	counts []int32     // of each peer's events, while they are grouped; then 0
	busy   []strategy.ID
	turns  []turn        // of the window, by peer
	end    time.Duration // of the window
	due    []event       // messages to the peer whose turn it is: their last byte comes in before the window ends; in order
	fault  error         // that ended the window

	_ [128]byte // no two shards share a line of a processor's cache
}

// turn is a node's events in a window, in order.
type turn struct {
	node   *node
	events []event
}

// deeds are the events of a window, in order.
type deeds struct {
	plans   []bag  // by the shard that they are for
	records []byte // for the trace
}

// newShards splits the peers into eight shards or fewer. The shard of a peer is its number, shifted to the right.
func (s *Sim) newShards() {
	const most, least = 3, 4 // bits of a shard's number, and of a peer's in it
	s.shift = max(bits.Len(uint(len(s.nodes)-1))-most, least)
	s.shards = make([]shard, (len(s.nodes)-1)>>s.shift+1)
	for i := range s.shards {
		of := &s.shards[i]
		first := i << s.shift
		*of = newShard(s.nodes[first:min(first+1<<s.shift, len(s.nodes))], strategy.ID(first), s.cfg.Least)
		of.account, of.sim, of.number = newAccount(s), s, i
		for k := range of.did {
			of.did[k].plans = make([]bag, len(s.shards))
		}
		for k := range of.nodes {
			of.nodes[k].shard = of
		}
	}
	for k := range s.planned {
		s.planned[k].plans = make([]bag, len(s.shards))
	}
}

func newShard(nodes []node, first strategy.ID, width time.Duration) shard {
	return shard{queue: newQueue(width), nodes: nodes, first: first, counts: make([]int32, len(nodes))}
}

// run runs a window that ends at an instant.
func (s *shard) run(number int64, end time.Duration) {
	s.end = end
	s.gather(int(number-1) % 2)
	s.turn()
	s.doing = &s.did[number%2]
	s.doing.forget()
	var n *node // whose turn it is
	defer func() {
		if p := recover(); p != nil {
			s.fault = fmt.Errorf("%w: strategy %s, seed %d, peer %d at %v: %v\n%s", ErrPanic, s.sim.cfg.Strategy.Name, s.sim.cfg.Seed, n.id, n.now, p,
				debug.Stack())
		}
	}()
	for i := range s.turns {
		n = s.turns[i].node
		n.run(s.turns[i].events, end)
	}
}

// gather takes in the events from the window before: first the simulator's, then the peers' in the order of their
// numbers.
func (s *shard) gather(before int) {
	s.take(&s.sim.planned[before].plans[s.number])
	for i := range s.sim.shards {
		s.take(&s.sim.shards[i].did[before].plans[s.number])
	}
}

func (s *shard) take(events *bag) {
	for i := range *events {
		s.push(&(*events)[i])
	}
}

// turn moves to the next window.
func (s *shard) turn() {
	events := s.next()
	s.group(*events)
	events.empty()
}

// group gives every peer with events in the window its own. The events have come in the order of their planning. They
// are counted by peer and moved to their places, and each peer's few are sorted.
func (s *shard) group(events bag) {
	n := len(events)
	s.busy, s.turns = s.busy[:0], s.turns[:0]
	for i := range events {
		to := events[i].to - s.first
		if s.counts[to] == 0 {
			s.busy = append(s.busy, to)
		}
		s.counts[to]++
	}
	if n < len(s.sorted) {
		clear(s.sorted[n:])
	}
	s.sorted = slices.Grow(s.sorted[:0], n)[:n]
	if n == 0 {
		return
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
	for i := range events {
		next := &s.counts[events[i].to-s.first]
		s.sorted[*next] = events[i]
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

// do notes an event of one of the peers.
func (s *shard) do(who strategy.ID, e *event) {
	s.count(who, e)
	if e.kind.queued() {
		if int(e.to) >= len(s.sim.nodes) {
			panic(fmt.Sprintf("an event for peer %d of %d", e.to, len(s.sim.nodes)))
		}
		s.doing.plan(e, s.sim.shift)
	}
	if e.kind != wake && e.kind != piece {
		s.doing.records = recordOf(who, e).append(s.doing.records)
	}
}

// plan notes an event to come. The shard of a peer is its number, shifted to the right.
func (d *deeds) plan(e *event, shift int) { d.plans[e.to>>shift].add(e) }

// forget drops the plans.
func (d *deeds) forget() {
	for i := range d.plans {
		d.plans[i].empty()
	}
}

// recordOf returns the trace's record of an event.
func recordOf(who strategy.ID, e *event) Record {
	other := e.to
	if other == who {
		other = e.from
	}
	return Record{At: e.at, Kind: uint8(e.kind), Peer: who, Other: other, Bytes: uint32(e.msg.Bytes), Query: e.msg.Query}
}

// sortEvents sorts events by their time. Events of one time stay in their order, the order of planning. Few events are
// inserted one by one, without copying them to compare.
func sortEvents(events []event) {
	const few = 32
	if len(events) > few {
		slices.SortStableFunc(events, func(a, b event) int { return cmp.Compare(a.at, b.at) })
		return
	}
	for i := 1; i < len(events); i++ {
		at := i
		for at > 0 && events[i].at < events[at-1].at {
			at--
		}
		if at < i {
			e := events[i]
			copy(events[at+1:i+1], events[at:i])
			events[at] = e
		}
	}
}
