package routing_test

import (
	"slices"
	"testing"

	"github.com/venn-p2p/venn/overlay"
	"github.com/venn-p2p/venn/overlay/coverage"
	"github.com/venn-p2p/venn/routing"
	"github.com/venn-p2p/venn/routing/routingtest"
)

// likeUs has a node know that some others are like it.
func likeUs(node *routingtest.Node, depth int, others ...*routingtest.Node) {
	for _, o := range others {
		node.Ask = append(node.Ask, coverage.Contact{
			Peer: string(o.ID), Record: []byte("r"), Place: overlay.PlaceOf(o.ID), Depth: coverage.ContactDepth(depth), Role: coverage.Alike,
		})
	}
}

// askedFirst are the contacts that a node's only query asked, in order.
func askedFirst(node *routingtest.Node) (out []overlay.PeerID) {
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
		mode routing.Mode
		wide bool
		like int // of the first four asked
	}{{routing.Any, false, 4}, {routing.Any, true, 3}, {routing.All, false, 0}} {
		net, nodes := ranged(t, 128, depth, routing.Config{BudgetAny: 512, BudgetAll: 512})
		node := nodes[0]
		var like []*routingtest.Node
		for _, o := range nodes {
			table := slices.ContainsFunc(node.Ask, func(c coverage.Contact) bool { return c.Peer == string(o.ID) })
			if !table && !node.Range.Contains(overlay.PlaceOf(o.ID)) && len(like) < 8 {
				like = append(like, o)
			}
		}
		likeUs(node, depth, like...)
		if c.wide {
			node.Ask[0].Depth = 1
		}
		net.Start(node.ID, routing.Query{ID: 1, Key: []byte("nowhere"), Mode: c.mode})
		net.Run()
		asked, first, all := askedFirst(node), 0, 0
		for i, p := range asked {
			if slices.ContainsFunc(like, func(o *routingtest.Node) bool { return o.ID == p }) {
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
		net, nodes := ranged(t, 128, depth, routing.Config{BudgetAny: 512})
		sum := 0
		for i, node := range nodes[:20] {
			holder, friend := nodes[100], nodes[50+i]
			holder.Holds["k"] = true
			friend.Knows[holder.ID] = 0.001
			if alike && !node.Range.Contains(overlay.PlaceOf(friend.ID)) {
				likeUs(node, depth, friend)
			}
			net.Start(node.ID, routing.Query{ID: 1, Key: []byte("k"), Mode: routing.Any})
			net.Run()
			if s := node.Done[0].Stats; s.Found != 1 {
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
