package counters

import (
	"fmt"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
)

const most = 20 // offences that are forgiven

// TestPeersAreBounded: of many peers those are told apart that something went to or came from last, or that were refused.
func TestPeersAreBounded(t *testing.T) {
	c := New(most)
	for i := range 2 * maxPeers {
		p := peer.ID(fmt.Sprint(i))
		c.Count(p, "p", 1, 0)
		c.Blame(p, "r", time.Unix(1000, 0))
		c.Count("steady", "q", 0, i%2)
	}
	got := c.ByPeer()
	if steady := got[len(got)-1]; len(got) > maxPeers || steady.Peer != "steady" || steady.Received != maxPeers {
		t.Errorf("the traffic of %d peers is kept, of the steady one %+v", len(got), steady)
	}
	if got := c.Protocols()["p"]; got.Sent < 2*maxPeers {
		t.Errorf("%+v in all", got)
	}
	refused, _ := c.Maps()
	if blamed := c.Blamed(); len(blamed) >= maxPeers || refused["r"] != 2*maxPeers {
		t.Errorf("%d peers are blamed, for %d refusals", len(blamed), refused["r"])
	}
}

func TestOffenders(t *testing.T) {
	c := New(most)
	now := time.Unix(1000, 0)
	for i := range most {
		if c.Offended("a", now) || c.Bad("a", now) {
			t.Fatalf("not served after %d offences", i+1)
		}
	}
	if !c.Offended("a", now) || !c.Bad("a", now) || c.Bad("b", now) {
		t.Error("one that goes on is served")
	}
	if !c.Bad("a", now.Add(29*time.Second)) || c.Bad("a", now.Add(30*time.Second)) {
		t.Error("an offence is not forgiven after 30 s")
	}
	for i := range 3 * maxPeers {
		c.Offended(peer.ID(fmt.Sprint(i)), now)
		if i%100 == 0 {
			c.Offended("a", now)
		}
	}
	if c.peers.Len() > maxPeers || !c.Bad("a", now) {
		t.Errorf("%d peers are remembered, one that goes on among them: %v", c.peers.Len(), c.Bad("a", now))
	}
}

// TestLog: of refusals in a row one is to be logged in ten seconds, with the number of the ones before.
func TestLog(t *testing.T) {
	c := New(most)
	now, lines := time.Unix(1000, 0), 0
	for range 1000 {
		if silent, loud := c.Blame("a", "r", now); loud {
			if lines++; lines > 1 && silent == 0 {
				t.Error("what was not logged is not counted")
			}
		}
		now = now.Add(20 * time.Millisecond)
	}
	if lines != 2 || c.Blamed()["a"] != 1000 {
		t.Errorf("%d lines in 20 s, %d refusals", lines, c.Blamed()["a"])
	}
}
