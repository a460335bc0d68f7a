package scenario

import (
	"testing"
	"time"

	"github.com/venn-p2p/venn/testnet/strategy"
)

// The recall of a window is of the queries that begin in it. Before the first and after the last query there are none.
func TestQueriesOfAWindow(t *testing.T) {
	s := &Scenario{Warmup: Duration(10 * time.Second), Asking: Duration(100 * time.Second), Queries: Queries{Number: 200}}
	for want, w := range map[float64]Window{
		200: {0, Duration(time.Hour)},
		40:  {0, Duration(30 * time.Second)},
		20:  {Duration(50 * time.Second), Duration(60 * time.Second)},
		60:  {Duration(80 * time.Second), Duration(time.Hour)},
	} {
		s.Windows = map[string]Window{"w": w}
		if got := s.QueriesOf(RecallOf("w")); got != want {
			t.Errorf("%v queries from %v to %v, want %v", got, w[0], w[1], want)
		}
	}
	if got := s.QueriesOf("recall"); got != 200 {
		t.Errorf("%v queries in all", got)
	}
}

// stepped is a peer that counts what it is given.
type stepped int

func (s *stepped) Step(time.Duration, strategy.Input) { *s++ }

// A free rider does all but what queries of others ask of it.
func TestFreeRider(t *testing.T) {
	var inner stepped
	f := &freeRider{&inner, map[strategy.QueryID]bool{}}
	received := func(q strategy.QueryID) strategy.Input {
		return strategy.Received{Delivery: &strategy.Delivery{From: 1, Message: strategy.Message{Query: q}}}
	}
	started := strategy.Started{}
	started.Query.ID = 7
	for i, c := range []struct {
		in   strategy.Input
		want stepped
	}{{strategy.Joined{}, 1}, {received(0), 2}, {received(7), 2}, {started, 3}, {received(7), 4}, {received(8), 4}} {
		if f.Step(0, c.in); inner != c.want {
			t.Errorf("after input %d it has taken %d, want %d", i, inner, c.want)
		}
	}
}
