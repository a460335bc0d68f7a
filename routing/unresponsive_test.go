package routing_test

import (
	"slices"
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/routing"
	"github.com/venn-p2p/venn/routing/routinglab"
)

// TestUnresponsive: when a peer gives no sign of life, no query waits for it any more: not for its word, not for what
// it was asked on behalf of a query, and not again a moment later. An answer that comes all the same counts.
func TestUnresponsive(t *testing.T) {
	for _, holds := range []bool{true, false} { // b is asked to confirm; else it is asked for candidates
		net := routinglab.NewNet(1, routing.Config{Incomplete: func() bool { return true }})
		net.Link("a-b")
		a, b := net.Peer("a"), net.Peer("b")
		b.Mute = true
		a.Knows["b"], b.Holds["k"] = 0.001, holds
		a.Ages = map[wire.PeerID]time.Duration{"b": time.Millisecond}
		look := func(id routing.QueryID, within time.Duration) {
			t.Helper()
			from := net.Now
			net.Start("a", routing.Query{ID: id, Key: []byte("k"), Mode: wire.Any})
			if id == 1 {
				net.Run(from + 200*time.Millisecond)
				net.Step("a", routing.Unresponsive{Peer: "b"})
			}
			net.RunAll()
			if !slices.ContainsFunc(a.Done, func(d routing.Done) bool { return d.ID == id && d.Stats.Elapsed <= within }) {
				t.Errorf("holds %v: %v, want an end within %v", holds, a.Done, within)
			}
		}
		look(1, 200*time.Millisecond)
		look(2, 50*time.Millisecond)
	}
}
