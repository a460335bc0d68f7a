package testnet

import (
	"context"
	"math/rand/v2"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/venn-p2p/venn/node"
)

// Observer receives the events of a run as they happen. Its methods are called from several goroutines at once and
// should return soon: the run waits for them.
type Observer interface {
	// Started reports that a peer runs. Peers start in the order of their numbers.
	Started(Running)
	// Answered reports how a query ended.
	Answered(Answered)
}

// Running is a peer that runs. Its node must not be closed.
type Running struct {
	Number int
	Name   string
	Class  string // class of its line
	Rate   uint64 // rate of its line, bit/s
	Node   *node.Node
	// Change removes some of its keys and adds some that other peers hold, drawn at random, and returns the numbers.
	// The judge does not know of these changes: later figures are not right.
	Change func(ctx context.Context, add, remove int) (added, removed int, err error)
}

// Answered is a query that ended.
type Answered struct {
	Asker int // number of the peer
	Key   []byte
	All   bool
	Found []peer.ID
	Stats node.QueryStats
	Err   error // nil: it ended by itself
}

// observeStarted tells the observer that a peer runs.
func (v *nodes) observeStarted(m *member) {
	if v.cfg.Observer == nil {
		return
	}
	v.cfg.Observer.Started(Running{
		Number: m.number, Name: m.name, Class: v.class(m), Rate: uint64(v.plan.Line(m.keys.of).Up), Node: m.node,
		Change: func(ctx context.Context, add, remove int) (int, int, error) { return v.exchange(ctx, m, add, remove) },
	})
}

// exchange adds keys to a peer that others hold, and removes keys of its own.
func (v *nodes) exchange(ctx context.Context, m *member, add, remove int) (added, removed int, err error) {
	rng := rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))
	var adds, removes [][]byte
	for tries := 0; len(adds) < add && tries < 50*add; tries++ {
		other := v.members[rng.IntN(len(v.members))]
		if key, ok := other.keys.any(rng); ok && !v.holds(m.keys.of, key) {
			adds = append(adds, v.key(key))
		}
	}
	for range remove {
		if key, ok := m.keys.any(rng); ok {
			removes = append(removes, v.key(key))
		}
	}
	before := m.keys.count()
	if _, err = m.node.Remove(ctx, removes...); err != nil {
		return 0, 0, err
	}
	between := m.keys.count()
	_, err = m.node.Add(ctx, adds...)
	return m.keys.count() - between, before - between, err
}
