package routing_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay"
	"github.com/venn-p2p/venn/routing"
)

// TestSilentSharper: a search for one holder does not wait long for a linked peer that knows all more sharply and is
// silent. The next such peer is asked, and the silent one is no more while it rests.
func TestSilentSharper(t *testing.T) {
	net, poor := informed(t, "a", "b")
	net.Node("p07").Holds["k"] = true
	s, _ := find(net, poor, routing.Any)
	first := s.Explain[0].Peer
	net.Node(first).Mute = true
	s, _ = find(net, poor, routing.Any)
	if s.Found != 1 || s.Explain[0].Peer != first || s.Elapsed > 1200*time.Millisecond {
		t.Errorf("found %d after %v: %v", s.Found, s.Elapsed, s.Explain)
	}
}

// TestGivenUpCountsNoLonger: what a contact answered for counts no longer once its names are given up. So a search for
// all asks another, though it has found somebody else.
func TestGivenUpCountsNoLonger(t *testing.T) {
	net, poor := informed(t, "a", "b")
	net.Node("p07").Holds["k"], net.Node("p08").Holds["k"] = true, true
	poor.Knows["p07"] = 1e-6
	asked := overlay.PeerID("")
	net.Trace = func(line string) {
		var id uint64
		if _, err := fmt.Sscanf(line, "0s poor > AskCandidates q%d %s", &id, &asked); err == nil {
			net.Node(asked).Mute = true
		}
	}
	net.Start(poor.ID, routing.Query{ID: 1, Key: []byte("k"), Mode: routing.All})
	in := routing.CandidatesReceived{ID: 1, From: asked}
	for i := range 12 {
		in.Records = append(in.Records, overlay.Record{Peer: overlay.PeerID(fmt.Sprintf("p%02d", 20+i))})
	}
	net.Step(poor.ID, in)
	net.Run()
	contacts := 0
	for _, why := range poor.Done[0].Stats.Explain {
		if why.Why == routing.Contact {
			contacts++
		}
	}
	if s := poor.Done[0].Stats; s.Found != 2 || contacts != 2 {
		t.Errorf("found %d, asked %d contacts: %v", s.Found, contacts, s.Explain)
	}
}
