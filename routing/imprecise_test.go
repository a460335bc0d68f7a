package routing_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay/region"
	"github.com/venn-p2p/venn/overlay/space"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/routing"
	"github.com/venn-p2p/venn/routing/routinglab"
)

// imprecise is a network of peers that each know the range of a depth around them well, and of the others hardly
// anything. All are configured alike.
func imprecise(n, depth int, cfg routing.Config) (*routinglab.Net, []*routinglab.Node) {
	net := routinglab.NewNet(1, cfg)
	nodes := make([]*routinglab.Node, n)
	for i := range nodes {
		node := net.Peer(wire.PeerID(fmt.Sprintf("p%03d", i)))
		nodes[i] = node
		for k := range 20 {
			node.Holds[fmt.Sprint("own", k)] = true
		}
	}
	for i, node := range nodes {
		node.Clear = space.Around(node.ID.Place(), depth)
		for j, other := range nodes {
			at := other.ID.Place()
			if i == j {
				continue
			}
			node.Knows[other.ID] = 0.7
			if node.Clear.Contains(at) {
				node.Knows[other.ID] = 0.001
			}
			node.Others = append(node.Others, region.Contact{Peer: string(other.ID), Record: []byte("r"), Place: at, Depth: region.ContactDepth(depth)})
		}
	}
	return net, nodes
}

// hold gives a node the key that is looked for in place of another.
func hold(node *routinglab.Node) {
	delete(node.Holds, "own0")
	node.Holds["k"] = true
}

// find runs one query at a node.
func find(net *routinglab.Net, node *routinglab.Node, mode wire.Mode) (routing.Stats, []wire.PeerID) {
	node.Done, node.Found = nil, map[routing.QueryID][]wire.PeerID{}
	search(net, node, routing.Query{ID: 1, Key: []byte("k"), Mode: mode})
	found := slices.Clone(node.Found[1])
	slices.Sort(found)
	return node.Done[0].Stats, found
}

// TestBlurredFindsAll: one peer of each range is asked, and the peers that it names. By the own directory alone, most
// peers are asked.
func TestBlurredFindsAll(t *testing.T) {
	net, nodes := imprecise(64, 3, routing.Config{})
	want := spread(nodes, 3, 12)
	s, found := find(net, nodes[0], wire.All)
	if most := 2 * (7 + len(want) + 1); !slices.Equal(found, want) || s.Messages > most || s.Covered != 1 {
		t.Errorf("found %v with %d messages, covered %v: want %v, %d messages", found, s.Messages, s.Covered, want, most)
	}
	nodes[0].Others = nil
	if s, found := find(net, nodes[0], wire.All); !slices.Equal(found, want) || s.Messages < 2*64/2 {
		t.Errorf("alone: found %v with %d messages, want %v", found, s.Messages, want)
	}
}

// TestBlurredFindsAny: a key that one peer anywhere holds is found from anywhere, at two messages a range.
func TestBlurredFindsAny(t *testing.T) {
	net, nodes := imprecise(64, 3, routing.Config{})
	hold(nodes[17])
	for i, node := range nodes {
		if i == 17 {
			continue
		}
		s, _ := find(net, node, wire.Any)
		if s.Found != 1 || s.Messages > 2*(7+1+1) {
			t.Errorf("%s: found %d with %d messages", node.ID, s.Found, s.Messages)
		}
		if node.Clear.Contains(nodes[17].ID.Place()) && s.Messages > 4 {
			t.Errorf("%s knows the holder well, and spent %d messages", node.ID, s.Messages)
		}
	}
}

// TestBlurredAndDenied: when all that could be asked about a range deny, a search for one holder goes by the own
// directory in the end. It does not ask again those who denied.
func TestBlurredAndDenied(t *testing.T) {
	net, nodes := imprecise(64, 3, routing.Config{})
	hold(nodes[17])
	home := space.Around(nodes[17].ID.Place(), 3)
	for i, node := range nodes {
		node.Boasts = i != 17 && home.Contains(node.ID.Place())
	}
	for i, node := range nodes {
		if i == 17 || node.Boasts {
			continue
		}
		if s, _ := find(net, node, wire.Any); s.Found != 1 {
			t.Errorf("%s found nobody with %d messages", node.ID, s.Messages)
		}
	}
}

// TestBlurredAndNarrow: peers that know less than was thought leave a part of their range to others.
func TestBlurredAndNarrow(t *testing.T) {
	net, nodes := imprecise(64, 3, routing.Config{})
	for _, node := range nodes[1:] {
		node.Clear = space.Around(node.ID.Place(), 4)
		for other := range node.Knows {
			if !node.Clear.Contains(other.Place()) {
				node.Knows[other] = 0.7
			}
		}
	}
	want := spread(nodes, 3, 12)
	s, found := find(net, nodes[0], wire.All)
	if most := 2 * (15 + len(want) + 1); !slices.Equal(found, want) || s.Messages > most {
		t.Errorf("found %v with %d messages: want %v, %d messages", found, s.Messages, want, most)
	}
}

// TestBlurredAsksLinks: of the peers that know a range, a search for one holder asks first those that are linked.
func TestBlurredAsksLinks(t *testing.T) {
	net, nodes := imprecise(64, 3, routing.Config{})
	linked := map[space.Range]wire.PeerID{}
	for _, node := range nodes[1:] {
		linked[node.Clear] = node.ID
	}
	nodes[0].Links = slices.Sorted(maps.Values(linked))
	s, _ := find(net, nodes[0], wire.Any)
	contacts := slices.DeleteFunc(s.Explain, func(q routing.Reason) bool { return q.Why != routing.Contact })
	if len(contacts) < 7 {
		t.Fatalf("%d contacts are asked, want one about each of seven ranges", len(contacts))
	}
	for _, q := range contacts[:7] {
		if linked[space.Around(q.Peer.Place(), 3)] != q.Peer {
			t.Errorf("%s is asked in place of a linked peer", q.Peer)
		}
	}
}

// TestBlurredAsksTheLikeliest: a search for one holder asks first about the range that is likeliest to hold the key. Who
// has many keys is likelier to hold one that its summary matches.
func TestBlurredAsksTheLikeliest(t *testing.T) {
	for _, large := range []int{9, 17, 40} {
		net, nodes := imprecise(64, 3, routing.Config{})
		nodes[large].Claims["k"] = true
		for k := range 400 {
			nodes[large].Holds[fmt.Sprint("other", k)] = true
		}
		home := space.Around(nodes[large].ID.Place(), 3)
		if nodes[0].Clear == home {
			t.Fatalf("peer %d is in the range of the asker", large)
		}
		s, _ := find(net, nodes[0], wire.Any)
		first := slices.IndexFunc(s.Explain, func(q routing.Reason) bool { return q.Why == routing.Contact })
		if first < 0 || s.Explain[first].Peer != nodes[large].ID {
			t.Errorf("peer %d has most keys, asked are %v", large, s.Explain)
		}
	}
}

// TestBlurredAndSilent: a search for one holder asks another peer beside one that does not answer.
func TestBlurredAndSilent(t *testing.T) {
	net, nodes := imprecise(64, 3, routing.Config{})
	hold(nodes[17])
	for i, node := range nodes {
		node.Mute = i%4 == 1 && i != 17
	}
	late := 0
	for i, node := range nodes {
		if node.Mute || i == 17 {
			continue
		}
		s, _ := find(net, node, wire.Any)
		if s.Found != 1 {
			t.Errorf("%s finds nobody", node.ID)
		}
		if s.Elapsed > 3*time.Second {
			late++
		}
	}
	if late > 1 {
		t.Errorf("%d of 48 searches wait for those who are silent", late)
	}
}

// TestBlurredAndIncomplete: a search for all goes by ranges though the asker has nothing of some peers yet. It is not
// forwarded besides.
func TestBlurredAndIncomplete(t *testing.T) {
	net, nodes := imprecise(64, 3, routing.Config{Incomplete: func() bool { return true }})
	want := spread(nodes, 3, 12)
	for _, node := range nodes[8:24] {
		nodes[0].Links = append(nodes[0].Links, node.ID)
	}
	nodes[0].Range = nodes[0].Clear
	s, found := find(net, nodes[0], wire.All)
	if most := 2 * (7 + len(want) + 1); !slices.Equal(found, want) || s.Messages > most {
		t.Errorf("found %v with %d messages: want %v, %d messages", found, s.Messages, want, most)
	}
}

// TestBlurredAndLinkedLiars: linked peers that deny all keys hide no more holders from a search for all than peers that
// are not linked.
func TestBlurredAndLinkedLiars(t *testing.T) {
	found := func(links bool) (n int) {
		net, nodes := imprecise(128, 3, routing.Config{})
		liars := map[space.Range]wire.PeerID{}
		for _, node := range nodes[1:] {
			if liars[node.Clear] == "" && node.Clear != nodes[0].Clear {
				liars[node.Clear], node.Blind = node.ID, true
			}
		}
		if links {
			nodes[0].Links = slices.Sorted(maps.Values(liars))
		}
		for k := range 20 {
			q := routing.Query{ID: routing.QueryID(k), Key: fmt.Append(nil, "key", k), Mode: wire.All}
			for i := 4; i < len(nodes); i += 10 {
				nodes[i].Holds[string(q.Key)] = !nodes[i].Blind
			}
			search(net, nodes[0], q)
			n += len(nodes[0].Found[q.ID])
		}
		return n
	}
	if apart, linked := found(false), found(true); apart == 0 || linked < apart {
		t.Errorf("%d holders are found with liars linked, %d without", linked, apart)
	}
}

// TestBlurredAndNewer: those who know a range have heard of epochs that the asker has not. The holders that they name
// are found, though what the asker knows of them denies the key.
func TestBlurredAndNewer(t *testing.T) {
	net, nodes := imprecise(64, 3, routing.Config{})
	nodes[0].Behind = map[wire.PeerID]bool{}
	var want []wire.PeerID
	for i := 3; i < 64; i += 12 {
		nodes[i].Holds["k"] = true
		nodes[0].Behind[nodes[i].ID] = !nodes[0].Clear.Contains(nodes[i].ID.Place())
		want = append(want, nodes[i].ID)
	}
	if _, found := find(net, nodes[0], wire.All); !slices.Equal(found, want) {
		t.Errorf("found %v, want %v", found, want)
	}
	if s, _ := find(net, nodes[0], wire.Any); s.Found != 1 {
		t.Error("a search for one holder found none")
	}
}
