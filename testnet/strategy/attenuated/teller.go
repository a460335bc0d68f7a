package attenuated

import (
	"time"

	"github.com/venn-p2p/venn/testnet/strategy"
)

// teller tells the neighbours, by a message T, which keys lie behind its peer, and holds the neighbours' messages.
type teller[T strategy.Kinded] struct {
	host      strategy.Host
	walk      walk
	allowance strategy.Allowance
	told      T                 // the last T told to neighbours
	heard     map[strategy.ID]T // latest T of each neighbour
	due       bool              // an update is planned
}

func newTeller[T strategy.Kinded](h strategy.Host, w strategy.World, first T) teller[T] {
	return teller[T]{
		host: h, walk: newWalk(h, w), allowance: strategy.Allowance{Rate: w.Params.Of(strategy.Upkeep)},
		told: first, heard: map[strategy.ID]T{},
	}
}

// content is the part of a machine in which the two strategies differ.
type content interface {
	// opening returns the size in bytes of the state that a new neighbour receives.
	opening() int
	// renew computes the state to tell from the states received. It reports whether the state changed, and the size
	// in bytes of a message with the changes.
	renew() (bytes int, changed bool)
	// next returns the peers to which a walker goes next, in order.
	next(*walker) []strategy.ID
}

func (t *teller[T]) step(now time.Duration, in strategy.Input, c content) {
	switch in := in.(type) {
	case strategy.LinkOpened:
		t.send(in.Peer, c.opening())
	case strategy.LinkClosed:
		delete(t.heard, in.Peer)
		t.changed(now)
	case strategy.Woken:
		t.due = false
		t.update(now, c)
	case strategy.Received:
		if b, ok := in.Message.Body.(T); ok {
			t.heard[in.From] = b
			t.changed(now)
			return
		}
	}
	t.walk.step(now, in, c.next)
}

func (t *teller[T]) send(to strategy.ID, bytes int) {
	t.allowance.Spend(bytes)
	t.host.Send(to, strategy.Message{Body: t.told, Bytes: bytes})
}

// changed plans an update of the neighbours, unless one is planned.
func (t *teller[T]) changed(now time.Duration) {
	if !t.due {
		t.due = true
		t.host.Wake(now + max(every, t.allowance.Wait(now)))
	}
}

// update tells all neighbours the changes, once the allowance permits it.
func (t *teller[T]) update(now time.Duration, c content) {
	if !t.allowance.Ready(now) {
		t.changed(now)
		return
	}
	bytes, changed := c.renew()
	if !changed {
		return
	}
	for _, p := range t.host.Links() {
		t.send(p, bytes)
	}
}
