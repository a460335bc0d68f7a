package node

import (
	"testing"
	"time"
)

// TestIdleIsQuiet: ten nodes that know each other, while nothing happens, send at most 100 bytes a second in all.
func TestIdleIsQuiet(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for more than a minute")
	}
	t.Parallel()
	const most, begins, lasts = 100, 45 * time.Second, 30 * time.Second
	nodes := meshOf(t, 10, 500)
	time.Sleep(begins)
	sent := func() (bytes uint64) {
		for _, n := range nodes {
			for _, s := range n.Traffic() {
				bytes += s.Sent
			}
		}
		return bytes
	}
	before := sent()
	time.Sleep(lasts)
	rate := float64(sent()-before) / lasts.Seconds()
	t.Logf("%.0f B/s in all", rate)
	if rate > most {
		t.Errorf("%d nodes send %.0f B/s without a change, at most %d", len(nodes), rate, most)
	}
}
