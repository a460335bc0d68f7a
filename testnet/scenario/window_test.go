package scenario

import (
	"testing"
	"time"
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
		if got := s.queriesOf(recallOf("w")); got != want {
			t.Errorf("%v queries from %v to %v, want %v", got, w[0], w[1], want)
		}
	}
	if got := s.queriesOf("recall"); got != 200 {
		t.Errorf("%v queries in all", got)
	}
}
