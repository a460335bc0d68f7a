package offenders

import (
	"fmt"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
)

const most = 20 // offences that are forgiven

func TestOffenders(t *testing.T) {
	table := New(most)
	now := time.Unix(1000, 0)
	for i := range most {
		if table.Note("a", now) || table.Bad("a", now) {
			t.Fatalf("not served after %d offences", i+1)
		}
	}
	if !table.Note("a", now) || !table.Bad("a", now) || table.Bad("b", now) {
		t.Error("one that goes on is served")
	}
	if !table.Bad("a", now.Add(29*time.Second)) || table.Bad("a", now.Add(30*time.Second)) {
		t.Error("an offence is not forgiven after 30 s")
	}
	for i := range 3 * maxPeers {
		table.Note(peer.ID(fmt.Sprint(i)), now)
		if i%100 == 0 {
			table.Note("a", now)
		}
	}
	if table.peers.Len() > maxPeers || !table.Bad("a", now) {
		t.Errorf("%d peers are remembered, one that goes on among them: %v", table.peers.Len(), table.Bad("a", now))
	}
}

func TestLoud(t *testing.T) {
	table := New(most)
	now, lines := time.Unix(1000, 0), 0
	for range 1000 {
		if silent, loud := table.Loud(now); loud {
			if lines++; lines > 1 && silent == 0 {
				t.Error("what was not logged is not counted")
			}
		}
		now = now.Add(20 * time.Millisecond)
	}
	if lines != 2 {
		t.Errorf("%d lines in 20 s", lines)
	}
}

// TestBlamed: whoever is refused again and again is remembered, however many others are.
func TestBlamed(t *testing.T) {
	table := New(most)
	for i := range 3 * maxPeers {
		table.Blame(peer.ID(fmt.Sprint(i)))
		if i%1000 == 0 {
			table.Blame("a")
		}
	}
	if got := table.Blamed(); len(got) > maxPeers || got["a"] != 4 {
		t.Errorf("%d peers are remembered, a with %d refusals", len(got), got["a"])
	}
}
