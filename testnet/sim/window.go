package sim

import (
	"cmp"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"github.com/venn-p2p/venn/testnet/strategy"
)

// turn has a peer's events of a window, in order of time.
type turn struct {
	node   *node
	events []event
	did    int // number of the share's events in did after this turn
}

// share has some of a window's turns, which run one after the other. Shares are independent of each other, so
// several processors can take one each.
type share struct {
	turns []turn
	end   time.Duration // end of the window
	did   []event       // events that its peers caused, in order
	due   []event       // events that the peer whose turn it is planned for itself in this window, in order of time
	fault error         // error that ended the share

	_ [128]byte // no two shares share a cache line of the processor
}

// shares is the number of shares of a window with many turns.
const shares = 8

// run runs the turns of the share. A panic of a strategy becomes its fault.
func (s *share) run() {
	var n *node // whose turn it is
	defer func() {
		if p := recover(); p != nil {
			s.fault = fmt.Errorf("%w: strategy %s, seed %d, peer %d at %v: %v\n%s", ErrPanic, n.sim.cfg.Strategy.Name, n.sim.cfg.Seed, n.id, n.now, p,
				debug.Stack())
		}
	}()
	for i := range s.turns {
		t := &s.turns[i]
		n = t.node
		n.share = s
		n.run(t.events, s.end)
		t.did = len(s.did)
	}
}

// do notes an event that the peer caused. It is handled at the end of the window.
func (n *node) do(e *event) {
	if e.kind.queued() && int(e.to) >= len(n.sim.nodes) {
		panic(fmt.Sprintf("an event for peer %d of %d", e.to, len(n.sim.nodes)))
	}
	n.share.did = append(n.share.did, *e)
}

// step runs the current window, and handles the events that its peers caused, in the order of the peers' numbers.
func (s *Sim) step() error {
	s.group(s.queue.take())
	of := s.shares[:1]
	if s.cfg.Each != nil && len(s.turns) > s.few {
		of = s.shares[:]
	}
	for i := range of {
		of[i].turns = s.turns[i*len(s.turns)/len(of) : (i+1)*len(s.turns)/len(of)]
		of[i].end = s.window + s.cfg.Least
	}
	if len(of) > 1 {
		s.cfg.Each(len(of), func(i int) { of[i].run() })
	} else {
		of[0].run()
	}
	for i := range of {
		if of[i].fault != nil {
			return of[i].fault
		}
		s.take(&of[i])
	}
	s.trace.add(s.records)
	s.records = s.records[:0]
	return nil
}

// take counts, queues and records the events that the peers of a share caused.
func (s *Sim) take(of *share) {
	done := 0
	for i := range of.turns {
		who := of.turns[i].node.id
		for ; done < of.turns[i].did; done++ {
			e := &of.did[done]
			s.tally.count(who, e)
			if e.kind.queued() {
				s.push(e)
			}
			if e.kind != wake && e.kind != piece {
				s.records = recordOf(who, e).append(s.records)
			}
		}
	}
	clear(of.did)
	of.did = of.did[:0]
}

// group makes a turn for every peer with events in a window. It counts the events by peer, moves them to their
// places, and sorts each peer's few by time. Events at one time stay in the order in which they were pushed.
func (s *Sim) group(events []event) {
	s.turns = s.turns[:0]
	if len(events) < len(s.sorted) {
		clear(s.sorted[len(events):])
	}
	s.sorted = slices.Grow(s.sorted[:0], len(events))[:len(events)]
	if len(events) == 0 {
		return
	}
	for i := range events {
		s.counts[events[i].to]++
	}
	at := int32(0)
	for p, n := range s.counts {
		at, s.counts[p] = at+n, at
	}
	for i := range events {
		next := &s.counts[events[i].to]
		s.sorted[*next] = events[i]
		*next++
	}
	from := int32(0)
	for p, end := range s.counts {
		if own := s.sorted[from:end]; len(own) > 0 {
			slices.SortStableFunc(own, func(a, b event) int { return cmp.Compare(a.at, b.at) })
			s.turns = append(s.turns, turn{node: &s.nodes[p], events: own})
		}
		from = end
	}
	clear(s.counts)
}

// recordOf returns the trace's record of an event.
func recordOf(who strategy.ID, e *event) Record {
	other := e.to
	if other == who {
		other = e.from
	}
	return Record{At: e.at, Kind: uint8(e.kind), Peer: who, Other: other, Bytes: uint32(e.msg.Bytes), Query: e.msg.Query}
}
