package node

import (
	"testing"

	"github.com/venn-p2p/venn/overlay/event"
)

// TestStatusCounts: Status counts the epochs that were published, and what was learned: parts by the way on which they
// came, deltas with what they spared, and falls back to parts.
func TestStatusCounts(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	add(t, n, keysOf("k", 10)...)
	eventually(t, "an epoch is published", func() bool {
		s := statusOf(t, n)
		return s.Epoch.Sequence > 0 && s.Epochs >= 1
	})
	learned := []event.Learned{
		{Transport: event.Pubsub, Bytes: 1},
		{Transport: event.Direct, Bytes: 4, Fallback: true},
		{Transport: event.Direct, Bytes: 100, Delta: 8},
	}
	look(t, n, func(l *loop) {
		for _, e := range learned {
			l.learn(e)
		}
	})
	s := statusOf(t, n)
	if s.PubsubBytes != 1 || s.DirectBytes != 4 || s.Deltas != 1 || s.DeltaBytes != 8 || s.SparedBytes != 100 || s.Fallbacks != 1 {
		t.Errorf("%+v of %+v", s, learned)
	}
	if s.Covered != 0 {
		t.Errorf("%v of the network is known, and nobody is", s.Covered)
	}
	connect(t, n, newNode(t))
	eventually(t, "all is known while linked with one that holds nothing", func() bool {
		s := statusOf(t, n)
		return s.Links == 1 && s.Origins == 0 && s.Covered == 1
	})
}

// TestNeighbourLinks: links of neighbours may be five eighths of all connections, rounded down.
func TestNeighbourLinks(t *testing.T) {
	for most := range 1000 {
		if got := (&config{maxConnections: most}).neighbourLinks(); got != most*5/8 {
			t.Errorf("%d of %d", got, most)
		}
	}
}
