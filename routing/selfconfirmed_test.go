package routing_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/routing"
	"github.com/venn-p2p/venn/routing/routinglab"
)

// TestOwnWord: a peer that has confirmed a key, and names itself when it is asked for candidates, is not asked again. Nor
// is it asked to confirm while it is asked for candidates, though its summary is sure to match.
func TestOwnWord(t *testing.T) {
	for _, c := range []struct {
		mode     wire.Mode
		rate     float64 // at which the informant's own summary is known
		messages int
		found    []wire.PeerID
	}{
		{wire.Any, 0.9, 2, []wire.PeerID{"informant"}},
		{wire.All, 0.9, 2 + 2*2, []wire.PeerID{"informant", "p07", "p11"}},
		{wire.All, 0.001, 2 + 2*2, []wire.PeerID{"informant", "p07", "p11"}},
	} {
		net := routinglab.NewNet(1, routing.Config{})
		add := net.Peer
		poor, informant := add("poor"), add("informant")
		poor.Links, poor.Knows["informant"] = []wire.PeerID{"informant"}, c.rate
		informant.Holds["k"] = true
		for i := range 30 {
			p := add(wire.PeerID(fmt.Sprintf("p%02d", i)))
			p.Holds["k"] = slices.Contains(c.found, p.ID)
			poor.Knows[p.ID], informant.Knows[p.ID] = 0.9, 1e-6
		}
		informant.Holds["before"] = true
		search(net, poor, routing.Query{ID: 10, Key: []byte("before"), Mode: wire.All})
		s, found := find(net, poor, c.mode)
		if !slices.Equal(found, c.found) || s.Messages != c.messages || s.Found != len(found) {
			t.Errorf("%v, %v: found %v with %d messages, want %v, %d", c.mode, c.rate, found, s.Messages, c.found, c.messages)
		}
		if why := s.Explain[0]; why.Why != routing.Contact || why.Result != routing.Holds {
			t.Errorf("%v, %v: the first question: %v", c.mode, c.rate, why)
		}
	}
}

// TestOwnWordIsAwaited: a peer that another names, while it is asked for candidates, is not asked to confirm. It is
// once it has named itself, if it has never confirmed a key.
func TestOwnWordIsAwaited(t *testing.T) {
	net, nodes := ranged(64, 3, routing.Config{})
	asker := nodes[0]
	for _, node := range nodes[1:] {
		node.Mute = true
	}
	asked := map[string][]wire.PeerID{} // by the kind of question
	net.Trace = func(line string) {
		if f := strings.Fields(line); len(f) > 5 && f[1] == string(asker.ID) && f[2] == ">" {
			asked[f[3]] = append(asked[f[3]], wire.PeerID(f[5]))
		}
	}
	net.Start(asker.ID, routing.Query{ID: 1, Key: []byte("k"), Mode: wire.All})
	contacts := asked["AskCandidates"]
	if len(contacts) < 2 {
		t.Fatalf("%d contacts are asked, want two", len(contacts))
	}
	answer := func(from wire.PeerID, names ...wire.PeerID) {
		a := wire.Answer{Depth: 3}
		for _, p := range names {
			a.Records = append(a.Records, wire.Record{Peer: p})
		}
		net.Step(asker.ID, routinglab.Answered(1, from, wire.Query{}, a))
	}
	answer(contacts[0], contacts[1], "another")
	if got := asked["Confirm"]; !slices.Equal(got, []wire.PeerID{"another"}) {
		t.Errorf("asked to confirm: %v, want the other alone", got)
	}
	answer(contacts[1], contacts[1])
	if got := asked["Confirm"]; !slices.Equal(got, []wire.PeerID{"another", contacts[1]}) || len(asker.Found[1]) > 0 {
		t.Errorf("asked to confirm: %v, found %v", got, asker.Found[1])
	}
}

// unsure is a network of a poor node and its informant. The node knows thirty peers hardly, and the informant all of
// them well. The informant also names peers that claim certain keys and do not hold them.
func unsure(claimed ...string) (net *routinglab.Net, poor, informant *routinglab.Node) {
	net = routinglab.NewNet(1, routing.Config{})
	add := net.Peer
	poor, informant = add("poor"), add("informant")
	poor.Links, poor.Knows["informant"] = []wire.PeerID{"informant"}, 1e-6
	for i := range 30 {
		known, wrong := add(wire.PeerID(fmt.Sprintf("p%02d", i))), add(wire.PeerID(fmt.Sprintf("w%02d", i)))
		poor.Knows[known.ID], informant.Knows[known.ID], informant.Knows[wrong.ID] = 0.9, 1e-6, 1e-6
		for _, key := range claimed {
			wrong.Claims[key] = true
		}
	}
	informant.Holds["k"] = true
	return net, poor, informant
}

// TestOwnWordIsNoHit: when a peer names itself, and others that lack the key, those are given up after a few of them.
func TestOwnWordIsNoHit(t *testing.T) {
	net, poor, _ := unsure("k")
	s, found := find(net, poor, wire.All)
	wrong := 0
	for _, q := range s.Explain {
		if q.Why == routing.Named && q.Result == routing.Lacks {
			wrong++
		}
	}
	if !slices.Equal(found, []wire.PeerID{"informant"}) || wrong == 0 || wrong > 25 {
		t.Errorf("found %v, and asked %d of 30 wrong names", found, wrong)
	}
}

// TestOwnWordInDoubt: the own word of a peer does not count at once if it has claimed keys in vain, or named others in
// vain. The one is not asked any more, the other is asked to confirm. It counts if it held all keys that it named itself
// for.
func TestOwnWordInDoubt(t *testing.T) {
	for _, c := range []struct {
		name          string
		claims, names bool
		result        routing.Result
		found         int
	}{
		{"honest", false, false, routing.Holds, 1},
		{"claims in vain", true, false, routing.Answered, 0},
		{"names in vain", false, true, routing.Answered, 1},
	} {
		var before, claimed []string // keys
		for i := range 6 {
			before = append(before, fmt.Sprint("before ", i))
		}
		if c.names {
			claimed = before
		}
		net, poor, informant := unsure(claimed...)
		for i, key := range before {
			informant.Claims[key], informant.Holds[key] = c.claims, !c.claims && !c.names
			search(net, poor, routing.Query{ID: routing.QueryID(10 + i), Key: []byte(key), Mode: wire.All})
		}
		s, found := find(net, poor, wire.All)
		if first := s.Explain[0]; first.Why != routing.Contact || first.Result != c.result || len(found) != c.found {
			t.Errorf("%s: found %v, want %d: %v", c.name, found, c.found, s.Explain)
		}
	}
}

// TestWrongNamesLeaveBudget: of a peer's names, none of which has the key, a search asks few, and a quarter of its budget
// for those that are in doubt.
func TestWrongNamesLeaveBudget(t *testing.T) {
	net, poor, informant := unsure("k")
	informant.Holds["k"] = false
	for i := range routing.MaxNamesAny {
		wrong := net.Peer(wire.PeerID(fmt.Sprint("more", i)))
		informant.Knows[wrong.ID], wrong.Claims["k"] = 1e-6, true
	}
	s, _ := find(net, poor, wire.Any)
	wrong := 0
	for _, q := range s.Explain {
		if q.Why == routing.Named {
			wrong++
		}
	}
	if wrong > 16+128/4/2 || s.Messages > 128-8 {
		t.Errorf("%d wrong names are asked, in all %d messages", wrong, s.Messages)
	}
}
