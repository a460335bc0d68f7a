package testnet

import (
	"context"
	"math"
	"sync"
	"testing"

	"github.com/libp2p/go-libp2p/core/protocol"
)

// listener finds nothing, and notes which kind of query comes when.
type listener struct {
	mu   *sync.Mutex
	kind *[]bool // true: for all holders
}

func (listener) Join(context.Context) error               { return nil }
func (listener) Announce(context.Context, [][]byte) error { return nil }
func (listener) Close() error                             { return nil }

func (l listener) Find(_ context.Context, _ []byte, all bool) (Answer, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	*l.kind = append(*l.kind, all)
	return Answer{}, nil
}

// Queries open connections that later ones find open. The share of queries that find none falls with every query, fast
// in a small network and slowly in a large one. Both kinds of queries meet that share alike. Where one kind comes after
// the other, the first meets most of the cold connections.
func TestBothKindsAreAsWarm(t *testing.T) {
	var asked []bool
	l := listener{new(sync.Mutex), &asked}
	none := func(protocol.ID) bool { return false }
	cfg := few(TCP)
	cfg.Queries = 400
	c, err := Compare(t.Context(), cfg, System{Name: "listener", Upkeep: none, Query: none, Open: func(Place) (Peer, error) { return l, nil }})
	if err != nil {
		t.Fatal(err)
	}
	if n := c.Rows[0].FindOne.Queries + c.Rows[0].FindAll.Queries; len(asked) != 800 || n != 800 {
		t.Fatalf("%d queries came of %d", len(asked), n)
	}
	sorted := make([]bool, 400, 800)
	for range 400 {
		sorted = append(sorted, true)
	}
	for _, fade := range []float64{100, 200, 400, 800} {
		if apart := colder(asked, fade); math.Abs(apart) > 0.05 {
			t.Errorf("after %v queries a third of the connections are cold: finding one meets %+.0f %% more of them", fade, 100*apart)
		}
		if apart := colder(sorted, fade); apart < 0.1 {
			t.Errorf("one kind after the other is apart by %v only", apart)
		}
	}
}

// colder is by which share the queries for one holder meet more cold connections than those for all. Their number falls
// to a third (1/e) after fade queries.
func colder(asked []bool, fade float64) float64 {
	var cold [2]float64
	for i, all := range asked {
		kind := 0
		if all {
			kind = 1
		}
		cold[kind] += math.Exp(-float64(i) / fade)
	}
	return cold[0]/cold[1] - 1
}
