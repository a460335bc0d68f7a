package routing_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/routing"
	"github.com/venn-p2p/venn/routing/routinglab"
)

// informed is a network of a poor node, linked peers that know all well, and forty peers that the node knows hardly. All
// hold a hundred keys.
func informed(informants ...wire.PeerID) (net *routinglab.Net, poor *routinglab.Node) {
	net = routinglab.NewNet(1, routing.Config{})
	add := func(id wire.PeerID) *routinglab.Node {
		node := net.Peer(id)
		holds(node, 100)
		return node
	}
	poor = add("poor")
	poor.Links = slices.Sorted(slices.Values(informants))
	for _, id := range informants {
		add(id)
		poor.Knows[id] = 0.9
	}
	for i := range 40 {
		p := add(wire.PeerID(fmt.Sprintf("p%02d", i)))
		poor.Knows[p.ID] = 0.9
		for _, id := range informants {
			net.Peer(id).Knows[p.ID] = 1e-6
		}
	}
	return net, poor
}

// holds lets a node hold a number of keys that nobody asks for.
func holds(n *routinglab.Node, keys int) {
	clear(n.Holds)
	for i := range keys {
		n.Holds[fmt.Sprint(n.ID, " ", i)] = true
	}
}

// TestSureBySize: a poor directory goes by a match that is as likely true as not. A small collection holds few keys, so
// a match of the same rate is less likely true.
func TestSureBySize(t *testing.T) {
	for keys, want := range map[int]routing.Why{100: routing.Matched, 20: routing.Contact} {
		net, poor := informed("informant")
		poor.Knows["p07"] = 0.03
		holds(net.Peer("p07"), keys)
		net.Peer("p07").Claims["k"] = true
		if s, _ := find(net, poor, wire.Any); s.Explain[0].Why != want {
			t.Errorf("%d keys: %v comes first, want %v", keys, s.Explain[0], want)
		}
	}
}

// TestPreciseMayHold: of two linked peers that know as much, the one that may hold the key itself is asked for
// candidates. One that hardly knows more than the asker is not asked, though it may hold the key.
func TestPreciseMayHold(t *testing.T) {
	for _, c := range []struct {
		holds, unknowing, want wire.PeerID
	}{
		{"a", "", "a"},
		{"b", "", "b"},
		{"b", "b", "a"},
		{"a", "a", "b"},
	} {
		net, poor := informed("a", "b")
		net.Peer(c.holds).Holds["k"] = true
		for _, p := range []wire.PeerID{"a", "b"} {
			poor.Knows[p] = 1e-6 // the other one does not match
		}
		poor.Knows[c.holds] = 0.2
		if c.unknowing != "" {
			for p := range net.Peer(c.unknowing).Knows {
				net.Peer(c.unknowing).Knows[p] = 0.6
			}
		}
		if s, _ := find(net, poor, wire.All); s.Explain[0].Why != routing.Contact || s.Explain[0].Peer != c.want {
			t.Errorf("%q holds the key, %q knows little: %v comes first, want %q", c.holds, c.unknowing, s.Explain[0], c.want)
		}
	}
}
