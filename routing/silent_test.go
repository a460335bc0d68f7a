package routing_test

import (
	"fmt"
	"testing"
	"time"

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
			if i == holder || node.Range.Contains(nodes[holder].ID.Place()) {
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

// TestLateContactsAreForgotten: linked peers that claim to know all, and answer late or never, hold up a few searches
// for all holders, or for a key that nobody holds. Then no search waits for their names.
func TestLateContactsAreForgotten(t *testing.T) {
	const searches, late = 8, 3800 * time.Millisecond
	for _, c := range []struct {
		name   string
		slow   time.Duration // 0: no answer
		mode   wire.Mode
		from   int // first search that they do not hold up
		within time.Duration
	}{
		{"silent, all holders", 0, wire.All, 1, 100 * time.Millisecond},
		{"silent, no holder", 0, wire.Any, 1, time.Second},
		{"late, all holders", late, wire.All, 6, 100 * time.Millisecond},
		{"late, no holder", late, wire.Any, 6, late + time.Second}, // the search is forwarded to some of them
	} {
		net := routinglab.NewNet(1, routing.Config{})
		asker, holder := net.Peer("a"), net.Peer("h")
		holder.Holds["k"] = c.mode == wire.All
		routinglab.Link(asker, holder)
		asker.Knows["h"] = 0.001
		for i := range 11 {
			liar := net.Peer(wire.PeerID(fmt.Sprintf("liar%02d", i)))
			liar.Mute, liar.Slow, liar.Boasts = c.slow == 0, c.slow, true
			routinglab.Link(asker, liar)
			asker.Knows[liar.ID] = 0.95
		}
		for i := range searches {
			s := search(net, asker, routing.Query{ID: routing.QueryID(i + 1), Key: []byte("k"), Mode: c.mode})
			if found := s.Found == 1; found != holder.Holds["k"] || i >= c.from && s.Elapsed > c.within {
				t.Errorf("%s, search %d: found %d after %v", c.name, i, s.Found, s.Elapsed)
			}
		}
	}
}

// TestLateMatches: peers of which little is known, and that answer late, hold up a search for all holders for a moment,
// not until they answer. A holder that is as little known is asked all the same.
func TestLateMatches(t *testing.T) {
	const late, waves = 4500 * time.Millisecond, 2
	net := routinglab.NewNet(1, routing.Config{})
	asker, known, unsure := net.Peer("a"), net.Peer("h"), net.Peer("u")
	known.Holds["k"], unsure.Holds["k"] = true, true
	routinglab.Link(asker, known)
	asker.Knows["h"], asker.Knows["u"], known.Knows["u"] = 0.001, 0.98, 0.98
	for i := range 16 * waves {
		liar := net.Peer(wire.PeerID(fmt.Sprintf("liar%02d", i)))
		liar.Slow = late
		asker.Knows[liar.ID], known.Knows[liar.ID] = 0.95, 0.95
	}
	for i := range 4 {
		s := search(net, asker, routing.Query{ID: routing.QueryID(i + 1), Key: []byte("k"), Mode: wire.All})
		if s.Found != 2 || s.Elapsed > (waves+1)*800*time.Millisecond {
			t.Errorf("search %d: found %d after %v", i, s.Found, s.Elapsed)
		}
	}
}
