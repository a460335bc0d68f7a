package routing_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/region"
	"github.com/venn-p2p/venn/overlay/space"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/routing"
	"github.com/venn-p2p/venn/routing/routinglab"
)

// ranged is a network of peers that each know the range of a depth around them, and have two contacts in every other
// range.
func ranged(n, depth int, cfg routing.Config) (*routinglab.Net, []*routinglab.Node) {
	net := routinglab.NewNet(1, cfg)
	nodes := make([]*routinglab.Node, n)
	for i := range nodes {
		nodes[i] = net.Peer(wire.PeerID(fmt.Sprintf("p%03d", i)))
	}
	for i, node := range nodes {
		place := node.ID.Place()
		node.Range = space.Around(place, depth)
		table := region.NewContacts(place)
		table.SetDepth(depth)
		for j, other := range nodes {
			at := other.ID.Place()
			if i != j && node.Range.Contains(at) {
				node.Knows[other.ID] = 0.001
			}
			table.Add(region.Contact{Peer: string(other.ID), Record: []byte("r"), Place: at, Depth: region.ContactDepth(depth)})
		}
		node.Ask = table.All()
	}
	return net, nodes
}

// search runs a query at a node, and returns how it went.
func search(net *routinglab.Net, node *routinglab.Node, q routing.Query) routing.Stats {
	net.Start(node.ID, q)
	net.RunAll()
	return node.Done[len(node.Done)-1].Stats
}

// spread gives the key k to every so many nodes, from the first on, and returns them.
func spread(nodes []*routinglab.Node, first, every int) (all []wire.PeerID) {
	for i := first; i < len(nodes); i += every {
		nodes[i].Holds["k"] = true
		all = append(all, nodes[i].ID)
	}
	return all
}

// TestContactsFind: a key that one peer anywhere holds is found from anywhere, at two messages a range. What a contact
// says that its answer has cost takes nothing of the budget.
func TestContactsFind(t *testing.T) {
	for _, costs := range []int{0, 1 << 30} {
		net, nodes := ranged(64, 3, routing.Config{})
		nodes[17].Holds["k"] = true
		for _, node := range nodes {
			node.Costs = costs
		}
		for i, node := range nodes {
			if i == 17 {
				continue
			}
			s := search(net, node, routing.Query{ID: 1, Key: []byte("k"), Mode: wire.Any})
			if s.Found != 1 || s.Messages > 2*7+2 {
				t.Fatalf("costs %d, %s: %v", costs, node.ID, node.Done[0])
			}
			if own := node.Range.Contains(nodes[17].ID.Place()); own && s.Messages > 2 {
				t.Errorf("costs %d: %s knows the holder, and spent %d messages", costs, node.ID, s.Messages)
			}
		}
	}
}

// TestBudgetForContacts: a query without a budget of its own may spend more once it asks contacts, and one with a
// budget keeps to it.
func TestBudgetForContacts(t *testing.T) {
	for _, c := range []struct{ contacts, own, most int }{{0, 0, 4}, {14, 0, 18}, {14, 4, 4}} {
		net, nodes := ranged(64, 3, routing.Config{BudgetAny: 4, BudgetContacts: c.contacts})
		if s := search(net, nodes[5], routing.Query{ID: 1, Key: []byte("nowhere"), Mode: wire.Any, Budget: c.own}); s.Messages != c.most || s.Covered == 1 != (c.most > 14) {
			t.Errorf("%+v: %v, covered %v", c, nodes[5].Done[0], s.Covered)
		}
	}
}

// TestCovered: a search that finds nobody says which part of the network was asked.
func TestCovered(t *testing.T) {
	net, nodes := ranged(64, 3, routing.Config{})
	for _, c := range []struct {
		budget int
		want   float64
	}{{1000, 1}, {2 * 3, 4.0 / 8}, {1, 1.0 / 8}} {
		node := nodes[5]
		node.Done = nil
		if s := search(net, node, routing.Query{ID: 1, Key: []byte("nowhere"), Mode: wire.Any, Budget: c.budget}); s.Found != 0 || s.Covered != c.want {
			t.Errorf("budget %d: %v, covered %v, want %v", c.budget, node.Done[0], s.Covered, c.want)
		}
	}
	whole, nobody := ranged(8, 0, routing.Config{})
	if s := search(whole, nobody[0], routing.Query{ID: 1, Key: []byte("nowhere"), Mode: wire.Any}); s.Covered != 1 {
		t.Errorf("covered %v where everybody is known", s.Covered)
	}
	alone, one := ranged(1, 0, routing.Config{})
	if s := search(alone, one[0], routing.Query{ID: 1, Key: []byte("nowhere"), Mode: wire.Any}); s.Covered != 0 {
		t.Errorf("a node that knows nobody covered %v", s.Covered)
	}
}

// TestExplainedRanges: what was covered is the own range and those that the answers explained count for.
func TestExplainedRanges(t *testing.T) {
	for _, budget := range []int{1000, 2 * 3, 1} {
		net, nodes := ranged(64, 3, routing.Config{})
		node := nodes[5]
		search(net, node, routing.Query{ID: 1, Key: []byte("nowhere"), Mode: wire.Any, Budget: budget})
		var covered space.Set
		covered.Add(node.Range)
		s := node.Done[0].Stats
		for _, r := range s.Explain {
			if answered := r.Why == routing.Contact && r.Result == routing.Answered; r.Ranged != answered {
				t.Errorf("budget %d: %v has a range: %v", budget, r, r.Ranged)
			}
			if r.Ranged {
				covered.Add(r.Range)
			}
		}
		if got := covered.Share(); got != s.Covered {
			t.Errorf("budget %d: the ranges explained are %v of the network, %v is covered", budget, got, s.Covered)
		}
	}
}

// TestAllCovers: a search for all holders asks for every range, and names each holder once.
func TestAllCovers(t *testing.T) {
	net, nodes := ranged(64, 3, routing.Config{})
	want := spread(nodes, 3, 6)
	search(net, nodes[0], routing.Query{ID: 1, Key: []byte("k"), Mode: wire.All})
	got := slices.Clone(nodes[0].Found[1])
	slices.Sort(got)
	if !slices.Equal(got, want) || nodes[0].Done[0].Stats.Covered != 1 {
		t.Errorf("found %v, want %v: %v", got, want, nodes[0].Done[0])
	}
}

// TestDenyingContacts: a contact that denies everything costs a second question, and is reported to the overlay. Where
// nobody is asked a second time it hides all of its range.
func TestDenyingContacts(t *testing.T) {
	found := func(secondVoices bool) (n, named int, judged []event.ContactAnswered) {
		cfg := routing.Config{Limits: routing.Limits{Denials: 1}}
		if secondVoices {
			cfg.Limits.Denials = 2
		}
		net, nodes := ranged(64, 3, cfg)
		nodes[17].Holds["k"] = true
		itself := func(r routing.Reason) bool { return r.Why == routing.Contact && r.Peer == nodes[17].ID }
		home := space.Around(nodes[17].ID.Place(), 3)
		for i, node := range nodes {
			node.Boasts = home.Contains(node.ID.Place()) && i%2 == 0
		}
		for i, node := range nodes {
			if i == 17 || home.Contains(node.ID.Place()) {
				continue
			}
			stats := search(net, node, routing.Query{ID: 1, Key: []byte("k"), Mode: wire.Any})
			n += stats.Found
			if !slices.ContainsFunc(stats.Explain, itself) {
				named += stats.Found
			}
			judged = append(judged, node.Judged...)
		}
		return n, named, judged
	}
	with, named, judged := found(true)
	without, _, _ := found(false)
	if without >= with {
		t.Errorf("%d found with second voices, %d without: nobody needed them", with, without)
	}
	denied, proved := 0, 0
	for _, j := range judged {
		if j.Denied {
			denied++
		}
		if j.Proved {
			proved++
		}
	}
	if denied == 0 || named < with/2 || proved < named {
		t.Errorf("%d contacts caught denying and %d proved right, of %d finds, %d of them by name", denied, proved, with, named)
	}
}

// TestDeadContacts: contacts that are gone do not end a search.
func TestDeadContacts(t *testing.T) {
	found, asked := searchesBeside(t, routing.Config{}, func(n *routinglab.Node) { n.Down = true })
	if len(found) < asked*85/100 {
		t.Errorf("%d of %d found", len(found), asked)
	}
}

// TestMuteContacts: a search asks others beside contacts that do not answer, in their ranges too, long before it gives
// them up.
func TestMuteContacts(t *testing.T) {
	const giveUp = 20 * time.Second
	found, asked := searchesBeside(t, routing.Config{AskTimeout: giveUp}, func(n *routinglab.Node) { n.Mute = true })
	soon := 0
	for _, s := range found {
		if s.Elapsed < giveUp {
			soon++
		}
	}
	if soon < asked*80/100 {
		t.Errorf("%d of %d found before a contact was given up", soon, asked)
	}
}

// searchesBeside has two thirds of 64 peers search for a key, one after the other, after silence was called of each of
// the others. It returns how the searches went that found the holder, and how many there were.
func searchesBeside(t *testing.T, cfg routing.Config, silence func(*routinglab.Node)) (found []routing.Stats, asked int) {
	t.Helper()
	const holder = 17
	net, nodes := ranged(64, 3, cfg)
	nodes[holder].Holds["k"] = true
	for i := 0; i < len(nodes); i += 3 {
		silence(nodes[i])
	}
	for i, node := range nodes {
		if i == holder || i%3 == 0 {
			continue
		}
		search(net, node, routing.Query{ID: 1, Key: []byte("k"), Mode: wire.Any})
		asked++
		if s := node.Done[0].Stats; s.Found > 0 {
			found = append(found, s)
		}
	}
	return found, asked
}

// TestBoastingContacts: contacts that were asked for their ranges don't answer for everybody.
func TestBoastingContacts(t *testing.T) {
	net, nodes := ranged(64, 3, routing.Config{})
	nodes[17].Holds["k"] = true
	at := nodes[17].ID.Place()
	n, others := 0, 0
	for i, node := range nodes {
		if !space.Around(at, 1).Contains(node.ID.Place()) {
			node.Range = space.Range{} // says that it knows everybody
			continue
		}
		if i != 17 {
			others++
		}
	}
	for i, node := range nodes {
		if i == 17 || !space.Around(at, 1).Contains(node.ID.Place()) {
			continue
		}
		n += search(net, node, routing.Query{ID: 1, Key: []byte("k"), Mode: wire.Any}).Found
	}
	if n != others {
		t.Errorf("%d of %d found it", n, others)
	}
}

// TestMoreContacts: a search whose contacts leave ranges over, or do not answer in them, wants others. What it takes to
// ask for them is of its budget.
func TestMoreContacts(t *testing.T) {
	for _, c := range []struct {
		name     string
		more     bool
		keep     func(i int, at region.Contact, home space.Range) bool // among the contacts known before
		silenced bool                                                  // contacts of the holder's range that are known before
		found    bool
		budget   int
	}{
		{name: "none left over, others are named", more: true, found: true, keep: func(int, region.Contact, space.Range) bool { return true }},
		{name: "a range left over", keep: func(_ int, c region.Contact, home space.Range) bool { return !home.Contains(c.Place) }},
		{name: "a range left over, others are named", more: true, found: true, keep: func(_ int, c region.Contact, home space.Range) bool { return !home.Contains(c.Place) }},
		{name: "no budget for it", more: true, budget: 14, keep: func(_ int, c region.Contact, home space.Range) bool { return !home.Contains(c.Place) }},
		{name: "one known in each, all gone", silenced: true, keep: func(i int, _ region.Contact, _ space.Range) bool { return i%2 == 0 }},
		{name: "one known in each, all gone, others are named", more: true, silenced: true, found: true, keep: func(i int, _ region.Contact, _ space.Range) bool { return i%2 == 0 }},
	} {
		net, nodes := ranged(64, 3, routing.Config{})
		node, holder := nodes[5], nodes[17]
		holder.Holds["k"] = true
		home := space.Around(holder.ID.Place(), 3)
		if node.Range == home {
			t.Fatal("the asker knows the holder")
		}
		var known []region.Contact
		for i, contact := range node.Ask {
			if c.keep(i, contact, home) {
				known = append(known, contact)
				net.Peer(wire.PeerID(contact.Peer)).Down = c.silenced && home.Contains(contact.Place)
			} else if c.more {
				node.More = append(node.More, contact)
			}
		}
		node.Ask = known
		s := search(net, node, routing.Query{ID: 1, Key: []byte("k"), Mode: wire.Any, Budget: c.budget})
		if s.Found == 1 != c.found {
			t.Errorf("%s: %v", c.name, node.Done[0])
		}
		if wanted := len(node.Ask) > len(known); wanted != (c.more && len(known) < 14 && c.found) {
			t.Errorf("%s: more contacts were wanted: %v", c.name, wanted)
		} else if wanted && s.Messages < 2*6+6+2 { // one contact of each range, three who name others, and the holder
			t.Errorf("%s: %d messages, those for more contacts are missing", c.name, s.Messages)
		}
	}
}

// TestMoreContactsKeepTheBudget: what it takes to ask for more contacts is set aside at once, so that no confirmation
// spends it, and what is not asked for is given back. It is told beside the questions that are explained.
func TestMoreContactsKeepTheBudget(t *testing.T) {
	wanted := 0
	for budget := 8; budget <= 80; budget++ {
		net, nodes := ranged(64, 3, routing.Config{})
		for i, node := range nodes {
			node.Holds["k"] = i%4 == 0
		}
		node := nodes[5]
		var known []region.Contact
		for i, contact := range node.Ask {
			if i < 4 {
				known = append(known, contact)
			} else {
				node.More = append(node.More, contact)
			}
		}
		node.Ask = known
		sent := 0
		net.Trace = func(line string) {
			switch {
			case strings.Contains(line, "> Confirm"), strings.Contains(line, "> AskCandidates"):
				sent += 2
			case strings.Contains(line, "> WantContacts"):
				sent, wanted = sent+2*3, wanted+1
			}
		}
		if s := search(net, node, routing.Query{ID: 1, Key: []byte("k"), Mode: wire.All, Budget: budget}); sent > budget || s.Messages != sent {
			t.Errorf("with a budget of %d, %d messages were sent, and %d counted", budget, sent, s.Messages)
		} else if s.Messages != 2*(len(s.Explain)+s.Inquiries) {
			t.Errorf("with a budget of %d, %d messages, %d explained and %d inquiries", budget, s.Messages, len(s.Explain), s.Inquiries)
		}
	}
	if wanted == 0 {
		t.Error("more contacts were never wanted")
	}
}

// TestPeersHoldInquiriesOpen: where those who were asked for more contacts hold the question open, a search asks second
// contacts beside them. It does not ask for more again, and ends.
func TestPeersHoldInquiriesOpen(t *testing.T) {
	for _, c := range []struct {
		holder bool
		wants  int           // of two searches, in turn with each of the two contacts of the holder's range denying
		within time.Duration // each
	}{{true, 1, 3 * time.Second}, {false, 2, 6 * time.Second}} {
		wants := 0
		for denies := range 2 {
			net, nodes := ranged(64, 3, routing.Config{})
			net.Trace = func(line string) {
				if strings.Contains(line, "> WantContacts") {
					wants++
				}
			}
			node, holder := nodes[5], nodes[17]
			node.Unsaid, holder.Holds["k"] = true, c.holder
			home := space.Around(holder.ID.Place(), 3)
			deny := slices.DeleteFunc(slices.Clone(node.Ask), func(c region.Contact) bool { return !home.Contains(c.Place) })
			net.Peer(wire.PeerID(deny[denies].Peer)).Boasts = true
			left := slices.IndexFunc(node.Ask, func(c region.Contact) bool { return !home.Contains(c.Place) })
			empty := space.Around(node.Ask[left].Place, 3)
			node.Ask = slices.DeleteFunc(node.Ask, func(c region.Contact) bool { return empty.Contains(c.Place) })
			if s := search(net, node, routing.Query{ID: 1, Key: []byte("k"), Mode: wire.Any, Deadline: 10 * time.Second}); s.Found == 1 != c.holder || s.Elapsed > c.within {
				t.Errorf("%+v: %v", c, node.Done[0])
			}
		}
		if wants != c.wants {
			t.Errorf("%+v: more contacts were wanted %d times", c, wants)
		}
	}
}

// TestWidestWordCountsOnce: two contacts that claim to cover everybody and name nobody do not end a search, nor a search
// for all holders that has found one in its own range.
func TestWidestWordCountsOnce(t *testing.T) {
	for _, mode := range []wire.Mode{wire.Any, wire.All} {
		net, nodes := ranged(64, 3, routing.Config{})
		nodes[17].Holds["k"] = true
		for _, i := range []int{30, 31} {
			nodes[i].Range, nodes[i].Boasts = space.Range{}, true
		}
		found, want := 0, 0
		for i, node := range nodes {
			if i == 17 || i == 30 || i == 31 || node.Range.Contains(nodes[17].ID.Place()) {
				continue
			}
			want++
			for _, liar := range []int{30, 31} {
				p := nodes[liar].ID
				node.Ask = slices.DeleteFunc(slices.Clone(node.Ask), func(c region.Contact) bool { return c.Peer == string(p) })
				node.Ask = append(node.Ask, region.Contact{Peer: string(p), Record: []byte("r"), Place: p.Place()})
			}
			near := slices.IndexFunc(nodes, func(n *routinglab.Node) bool {
				_, knows := node.Knows[n.ID]
				return knows && !n.Boasts
			})
			if mode == wire.All && near >= 0 {
				nodes[near].Holds["k"] = true
				want++
			}
			found += search(net, node, routing.Query{ID: 1, Key: []byte("k"), Mode: mode}).Found
			if near >= 0 {
				delete(nodes[near].Holds, "k")
			}
		}
		if found != want {
			t.Errorf("mode %v: %d of %d found", mode, found, want)
		}
	}
}

// TestContactsThatNameTheDead: a contact that denies the holder and names peers that are gone hides it no better than
// one that names nobody.
func TestContactsThatNameTheDead(t *testing.T) {
	const holder = 17
	found := func(mode wire.Mode, dead int) (n int) {
		net, nodes := ranged(64, 3, routing.Config{})
		nodes[holder].Holds["k"] = true
		home := space.Around(nodes[holder].ID.Place(), 3)
		for i, node := range nodes {
			if i%2 == 0 && home.Contains(node.ID.Place()) {
				node.Boasts = dead == 0
				clear(node.Knows)
				for j := range dead {
					gone := net.Peer(wire.PeerID(fmt.Sprintf("gone %d of %d", j, i)))
					gone.Mute, gone.Claims["k"], node.Knows[gone.ID] = true, true, 0.0001
				}
			}
		}
		for i, node := range nodes {
			if i == holder || home.Contains(node.ID.Place()) {
				continue
			}
			for id := range routing.QueryID(3) { // the dead are known to have failed
				search(net, node, routing.Query{ID: id, Key: []byte("k"), Mode: mode})
				net.Run(net.Now + time.Minute)
				n += node.Done[id].Stats.Found
			}
		}
		return n
	}
	for _, mode := range []wire.Mode{wire.Any, wire.All} {
		nobody := found(mode, 0)
		for _, dead := range []int{1, 4, 20} {
			if n := found(mode, dead); n < nobody {
				t.Errorf("%v: %d found it where they name %d dead, %d where they name nobody", mode, n, dead, nobody)
			}
		}
	}
}

// TestWidestWordKeepsNobodyWaiting: a contact that claims to cover everybody, and names nobody, does not make a search ask
// one range after the other, where a third of the peers do not answer either.
func TestWidestWordKeepsNobodyWaiting(t *testing.T) {
	const depth, holder, liar = 5, 17, 30
	searches := func(lies bool) (found int, worst time.Duration) {
		net, nodes := ranged(192, depth, routing.Config{})
		nodes[holder].Holds["k"] = true
		nodes[liar].Range, nodes[liar].Boasts = space.Range{}, true
		for i := 3; i < len(nodes); i += 3 {
			nodes[i].Mute = i != liar
		}
		for i := 1; i < len(nodes); i += 3 {
			node, p := nodes[i], nodes[liar].ID
			node.Ask = slices.DeleteFunc(slices.Clone(node.Ask), func(c region.Contact) bool { return c.Peer == string(p) })
			if lies {
				node.Ask = append(node.Ask, region.Contact{Peer: string(p), Record: []byte("r"), Place: p.Place()})
			}
			s := search(net, node, routing.Query{ID: 1, Key: []byte("k"), Mode: wire.Any})
			found, worst = found+s.Found, max(worst, s.Elapsed)
		}
		return found, worst
	}
	found, worst := searches(false)
	if n, took := searches(true); n < found || took > worst+time.Second {
		t.Errorf("with the liar %d are found, within %v; without it %d, within %v", n, took, found, worst)
	}
}
