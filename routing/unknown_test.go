package routing_test

import (
	"maps"
	"testing"

	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/routing"
)

// TestUnknownPrecisionIsAskedLast: when the linked peers that know all more precisely are silent, a search asks a linked
// peer that does not say how precisely it knows the network. It does so once, and after the others.
func TestUnknownPrecisionIsAskedLast(t *testing.T) {
	net, poor := informed("a", "b")
	plain := net.Peer("plain", routing.Config{})
	maps.Copy(plain.Knows, poor.Knows)
	poor.Links = append(poor.Links, plain.ID)
	net.Node("a").Mute, net.Node("b").Mute = true, true
	net.Node("p07").Holds["k"], plain.Knows["p07"] = true, 1e-6
	s, _ := find(net, poor, wire.Any)
	var asked []string
	for _, r := range s.Explain {
		if r.Why == routing.Contact {
			asked = append(asked, string(r.Peer))
		}
	}
	if s.Found != 1 || len(asked) != 3 || asked[2] != "plain" {
		t.Errorf("found %d after %v; asked %v: %v", s.Found, s.Elapsed, asked, s.Explain)
	}
}
