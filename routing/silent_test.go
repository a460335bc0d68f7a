package routing_test

import (
	"testing"

	"github.com/venn-p2p/venn/overlay"
	"github.com/venn-p2p/venn/overlay/space"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/routing"
	"github.com/venn-p2p/venn/routing/routinglab"
)

// TestSilentContactsTakeNoBudget: where one of the two contacts of each range is gone, a search can still ask about all
// ranges. Where all are gone, it takes no more than its budget and twice what is for contacts.
func TestSilentContactsTakeNoBudget(t *testing.T) {
	const depth, holder, usual, contacts = 3, 17, 8, 16
	cfg := routing.Config{BudgetAny: usual, BudgetContacts: contacts}
	for _, all := range []bool{false, true} {
		net, nodes := ranged(64, depth, cfg)
		nodes[holder].Holds["k"] = true
		for i, node := range nodes {
			if i == holder || node.Range.Contains(overlay.PlaceOf(nodes[holder].ID)) {
				continue
			}
			var down []*routinglab.Node
			seen := map[space.Range]bool{}
			for _, c := range node.Ask {
				rng, p := space.Around(c.Place, depth), net.Peer(wire.PeerID(c.Peer))
				if (all || !seen[rng]) && p != nodes[holder] && p != node {
					p.Down = true
					down = append(down, p)
				}
				seen[rng] = true
			}
			s := search(net, node, routing.Query{ID: 1, Key: []byte("k"), Mode: wire.Any})
			if s.Found != 1 && !all || s.Messages > usual+2*contacts {
				t.Errorf("all %v, %s: %v", all, node.ID, node.Done[0])
			}
			for _, p := range down {
				p.Down = false
			}
		}
	}
}
