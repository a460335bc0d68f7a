package routing_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/venn-p2p/venn/overlay"
	"github.com/venn-p2p/venn/overlay/region"
	"github.com/venn-p2p/venn/overlay/space"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/routing"
	"github.com/venn-p2p/venn/routing/routinglab"
)

// likeUs has a node know that some others are like it.
func likeUs(node *routinglab.Node, depth int, others ...*routinglab.Node) {
	for _, o := range others {
		node.Ask = append(node.Ask, region.Contact{
			Peer: string(o.ID), Record: []byte("r"), Place: overlay.PlaceOf(o.ID), Depth: region.ContactDepth(depth), Role: region.Alike,
		})
	}
}

// askedFirst are the contacts that a node's only query asked, in order.
func askedFirst(node *routinglab.Node) (out []wire.PeerID) {
	for _, e := range node.Done[0].Stats.Explain {
		if e.Why == routing.Contact {
			out = append(out, e.Peer)
		}
	}
	return out
}

// TestPeersLikeUsAreAskedFirst: a few peers like us are asked before other contacts, but after one that covers far more,
// and a search for all holders asks none of them for being like us.
func TestPeersLikeUsAreAskedFirst(t *testing.T) {
	const depth = 5
	for _, c := range []struct {
		mode wire.Mode
		wide bool
		like int // of the first four asked
	}{{wire.Any, false, 4}, {wire.Any, true, 3}, {wire.All, false, 0}} {
		net, nodes := ranged(128, depth, routing.Config{BudgetAny: 512, BudgetAll: 512})
		node := nodes[0]
		var like []*routinglab.Node
		for _, o := range nodes {
			table := slices.ContainsFunc(node.Ask, func(c region.Contact) bool { return c.Peer == string(o.ID) })
			if !table && !node.Range.Contains(overlay.PlaceOf(o.ID)) && len(like) < 8 {
				like = append(like, o)
			}
		}
		likeUs(node, depth, like...)
		if c.wide {
			node.Ask[0].Depth = 1
		}
		search(net, node, routing.Query{ID: 1, Key: []byte("nowhere"), Mode: c.mode})
		asked, first, all := askedFirst(node), 0, 0
		for i, p := range asked {
			if slices.ContainsFunc(like, func(o *routinglab.Node) bool { return o.ID == p }) {
				all++
				if i < 4 {
					first++
				}
			}
		}
		if first != c.like || all > 4 {
			t.Errorf("%+v: of the first four asked %d are like us, of all %d: %v", c, first, all, asked)
		}
		if c.wide && string(asked[0]) != node.Ask[0].Peer {
			t.Errorf("the widest is not asked first: %v", asked)
		}
	}
}

// TestPeersLikeUsFind: a holder that one of those like us knows is found with fewer messages than by ranges alone.
func TestPeersLikeUsFind(t *testing.T) {
	const depth = 5
	spent := func(alike bool) int {
		net, nodes := ranged(128, depth, routing.Config{BudgetAny: 512})
		sum := 0
		for i, node := range nodes[:20] {
			holder, friend := nodes[100], nodes[50+i]
			holder.Holds["k"] = true
			friend.Knows[holder.ID] = 0.001
			if alike && !node.Range.Contains(overlay.PlaceOf(friend.ID)) {
				likeUs(node, depth, friend)
			}
			if s := search(net, node, routing.Query{ID: 1, Key: []byte("k"), Mode: wire.Any}); s.Found != 1 {
				t.Errorf("%s: %v", node.ID, node.Done[0])
			} else {
				sum += s.Messages
			}
		}
		return sum
	}
	if with, without := spent(true), spent(false); 2*with > without {
		t.Errorf("%d messages with peers like us, %d without", with, without)
	}
}

// TestPeersLikeUsThatWaste: peers like us that never answer, or name many who do not hold the key, are soon asked no
// more for being like us.
func TestPeersLikeUsThatWaste(t *testing.T) {
	const depth, liars, searches = 4, 8, 30
	names := map[*routinglab.Node]int{}
	for name, waste := range map[string]func(liar, other *routinglab.Node){
		"silent": func(liar, _ *routinglab.Node) { liar.Mute = true },
		"wrong":  func(liar, other *routinglab.Node) { liar.Knows[other.ID] = 0.0001 },
		"in doubt": func(liar, other *routinglab.Node) { // two, too few to be bad for being wrong, one of them silent
			if names[liar]++; names[liar] <= 2 {
				liar.Knows[other.ID], other.Mute = 0.0001, names[liar] == 1
			}
		},
	} {
		net, nodes := ranged(128, depth, routing.Config{})
		node := nodes[0]
		like := strangers(node, nodes)[:liars]
		for i := range wrongEach * liars {
			other := net.Peer(wire.PeerID(fmt.Sprint("other ", i)))
			for j := range searches {
				other.Claims[fmt.Sprint(j)] = true
			}
			waste(like[i%liars], other)
		}
		likeUs(node, depth, like...)
		holders := slices.DeleteFunc(nodes[60:], func(o *routinglab.Node) bool { return node.Range.Contains(overlay.PlaceOf(o.ID)) })
		asked := 0
		for i := range searches {
			holders[i].Holds[fmt.Sprint(i)] = true
			s := search(net, node, routing.Query{ID: routing.QueryID(i), Key: []byte(fmt.Sprint(i)), Mode: wire.Any})
			for _, e := range s.Explain {
				if slices.ContainsFunc(like, func(o *routinglab.Node) bool { return o.ID == e.Peer }) {
					asked++
				}
			}
			if s.Found != 1 {
				t.Errorf("%s: %v", name, node.Done[i])
			}
		}
		most := 5 * liars
		if name == "in doubt" {
			most = 6 * liars // now and then a search ends before the silent one was waited for
		}
		if asked > most {
			t.Errorf("%s: they were asked %d times in %d searches", name, asked, searches)
		}
	}
}

// wrongEach is how many wrong names are too few for the others of the same answer to be given up.
const wrongEach = 7

// strangers are the nodes outside of a node's range that are not among its contacts.
func strangers(node *routinglab.Node, nodes []*routinglab.Node) []*routinglab.Node {
	return slices.DeleteFunc(slices.Clone(nodes), func(o *routinglab.Node) bool {
		known := slices.ContainsFunc(node.Ask, func(c region.Contact) bool { return c.Peer == string(o.ID) })
		return known || node.Range.Contains(overlay.PlaceOf(o.ID))
	})
}

// TestPeersLikeUsAreNoSecondVoice: a peer like us and a contact that both deny all of a range do not hide it from who
// has another contact there.
func TestPeersLikeUsAreNoSecondVoice(t *testing.T) {
	const depth, holder = 3, 17
	asked := 0
	for denies := range 2 {
		net, nodes := ranged(64, depth, routing.Config{})
		nodes[holder].Holds["k"] = true
		home := space.Around(overlay.PlaceOf(nodes[holder].ID), depth)
		for _, node := range nodes {
			liar := slices.IndexFunc(strangers(node, nodes), func(o *routinglab.Node) bool {
				return home.Contains(overlay.PlaceOf(o.ID)) && o != nodes[holder]
			})
			if liar < 0 || node.Range == home {
				continue
			}
			contacts := slices.DeleteFunc(slices.Clone(node.Ask), func(c region.Contact) bool { return !home.Contains(c.Place) })
			like := strangers(node, nodes)[liar]
			likeUs(node, depth, like)
			denier := net.Peer(wire.PeerID(contacts[denies].Peer))
			like.Boasts, denier.Boasts = true, true
			search(net, node, routing.Query{ID: 1, Key: []byte("k"), Mode: wire.Any})
			like.Boasts, denier.Boasts = false, false
			asked++
			if node.Done[0].Stats.Found != 1 && denier != nodes[holder] {
				t.Errorf("%s, with %s and %s denying: %v", node.ID, like.ID, denier.ID, node.Done[0])
			}
		}
	}
	if asked == 0 {
		t.Error("nobody searched")
	}
}

// TestPeerLikeUsBecomesAContact: a peer that was known for being like us, and was not asked for that, is asked about its
// range once it is a contact there.
func TestPeerLikeUsBecomesAContact(t *testing.T) {
	const depth, holder = 3, 17
	for i := range 10 {
		net, nodes := ranged(64, depth, routing.Config{})
		node, key := nodes[5], fmt.Sprint(i)
		nodes[holder].Holds[key] = true
		home := space.Around(overlay.PlaceOf(nodes[holder].ID), depth)
		inHome := func(c region.Contact) bool { return home.Contains(c.Place) }
		node.More = node.Ask[slices.IndexFunc(node.Ask, inHome):][:1]
		node.Ask = slices.DeleteFunc(slices.Clone(node.Ask), inHome)
		others := slices.DeleteFunc(strangers(node, nodes), func(o *routinglab.Node) bool { return home.Contains(overlay.PlaceOf(o.ID)) })
		likeUs(node, depth, append(others[:8], net.Peer(wire.PeerID(node.More[0].Peer)))...)
		search(net, node, routing.Query{ID: 1, Key: []byte(key), Mode: wire.Any})
		if node.Done[0].Stats.Found != 1 {
			t.Errorf("key %s: %v", key, node.Done[0])
		}
	}
}
