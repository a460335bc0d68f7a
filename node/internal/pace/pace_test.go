package pace

import (
	"fmt"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
)

func TestTake(t *testing.T) {
	table, now := New(10, 20), time.Unix(1000, 0)
	take := func(p peer.ID, n int) string {
		wait, ok := table.Take(p, n, now, time.Second)
		return fmt.Sprint(wait, ok)
	}
	for i, step := range []struct {
		p     peer.ID
		n     int
		after time.Duration
		want  string
	}{
		{"a", 20, 0, "0s true"},
		{"a", 5, 0, "500ms true"},
		{"b", 20, 0, "0s true"}, // on its own account
		{"a", 6, 0, "0s false"},
		{"a", 5, 0, "1s true"},    // what is refused is not charged
		{"a", 1, 0, "0s false"},   // more than a second
		{"a", 20, 2e9, "1s true"}, // 20 were paid
		{"a", 20, 1e12, "0s true"},
	} {
		now = now.Add(step.after)
		if got := take(step.p, step.n); got != step.want {
			t.Errorf("step %d: %s, want %s", i, got, step.want)
		}
	}
}

// TestTakeIsBounded: however many peers come, who owes most is remembered.
func TestTakeIsBounded(t *testing.T) {
	table, now := New(1, 100), time.Unix(1000, 0)
	table.Take("greedy", 90, now, 0)
	for i := range 3 * maxPeers {
		table.Take(peer.ID(fmt.Sprint(i)), 1, now, 0)
	}
	if n := len(table.peers); n > maxPeers {
		t.Errorf("%d accounts", n)
	}
	if _, ok := table.Take("greedy", 20, now, 0); ok {
		t.Error("its debt is forgotten")
	}
}
