package threats

import (
	"fmt"
	"strings"
	"time"

	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/routing"
	"github.com/venn-p2p/venn/routing/routinglab"
)

// queryAttacks are attacks on searches.
var queryAttacks = []attack{
	{
		name: "a contact invents holders", measured: "holders found, of 2", target: atLeast(2),
		defence: "a contact of whose names nobody answers is given up",
		run:     limited(inventor, routing.Limits{Silent: unbounded, Credit: unbounded}),
	},
	{
		name: "a contact names 64 peers at dead addresses", measured: "ms that the find takes", target: atMost(1500),
		defence: "names in doubt come last, hold nothing up, and another contact is asked meanwhile",
		run:     limited(deadNames, routing.Limits{Credit: unbounded, NameRest: -1}),
	},
	{
		name: "three of ten contacts boast and do not answer", measured: "messages of a find, on average of 30", target: atMost(12),
		defence: "the third that says most is not heard: the best informed of the others is asked",
		run:     limited(boasting, routing.Limits{Boasters: unbounded}),
	},
	{
		name: "a search that asks for a budget of millions", measured: "messages that one search causes", target: atMost(256),
		defence: "what a search of another may spend is capped",
		run:     limited(greedy, routing.Config{MaxServedBudget: 1 << 20}),
	},
	{
		name: "questions for a popular key, ten a second", measured: "names a second that one peer receives", target: atMost(300),
		defence: "names in answers count against a peer's share of messages",
		run:     limited(popular, routing.Config{Limits: routing.Limits{Work: 1 << 20}}),
	},
}

// newNet returns a network with links such as "a-b b-c".
func newNet(cfg routing.Config, links string) *routinglab.Net {
	p := routinglab.NewNet(1, cfg)
	p.Link(links)
	return p
}

// place is a network in which inputs for the searcher come between its events, see findAsAsked.
type place struct {
	*routinglab.Net
	later []event.Input
}

// findAsAsked does the same as Find. Each millisecond it steps the searcher with the inputs that came into p.later.
func (p *place) findAsAsked(at wire.PeerID, key string) routing.Stats {
	n := len(p.Peer(at).Done)
	p.Ask(at, key, wire.Any)
	for end := p.Now() + time.Minute; len(p.Peer(at).Done) == n && p.Now() < end; {
		p.RunUntil(p.Now() + time.Millisecond)
		later := p.later
		p.later = nil
		for _, in := range later {
			p.Step(at, in)
		}
	}
	done := p.Peer(at).Done
	return done[len(done)-1].Stats
}

// inventor returns the number of the two holders of a key that a query for all of them finds. It first asks a
// contact that makes up names. Only another contact knows the second holder.
func inventor(limits routing.Limits) float64 {
	p := newNet(routing.Config{Limits: limits, Incomplete: func() bool { return true }}, "a-inventor a-honest")
	p.Peer("known").Holds["k"], p.Peer("holder").Holds["k"] = true, true
	p.Peer("a").Knows["known"] = 0.001
	p.Peer("honest").Knows["known"], p.Peer("honest").Knows["holder"] = 0.001, 0.001
	p.Peer("inventor").Boasts, p.Peer("inventor").Mute = true, true
	asked := false
	p.Trace = func(s string) { asked = asked || strings.Contains(s, "a > AskCandidates q1 inventor") }
	p.Start("a", routing.Query{ID: 1, Key: []byte("k"), Mode: wire.All})
	for !asked && p.Now() < time.Minute {
		p.RunUntil(p.Now() + time.Millisecond)
	}
	p.Step("a", routinglab.Answered(1, "inventor", wire.Query{}, wire.Answer{Records: []wire.Record{{Peer: "ghost 1"}, {Peer: "ghost 2"}}}))
	p.Run()
	return float64(p.Peer("a").Done[0].Stats.Found)
}

// named returns a place in which searcher a, which knows little, can ask an inventor and an honest peer. The inventor
// answers with names, whose peers are mute.
func named(limits routing.Limits, names ...wire.PeerID) *place {
	p := &place{Net: newNet(routing.Config{Limits: limits}, "a-inventor a-honest")}
	p.Peer("inventor").Boasts, p.Peer("inventor").Mute = true, true
	for i := range 50 {
		n := p.Peer(wire.PeerID(fmt.Sprint("p", i)))
		n.Holds[fmt.Sprint("key ", i)] = true
		p.Peer("a").Knows[n.ID], p.Peer("honest").Knows[n.ID] = 1, 0.0001
	}
	var records []wire.Record
	for _, n := range names {
		p.Peer(n).Mute = true
		records = append(records, wire.Record{Peer: n})
	}
	p.Trace = func(s string) {
		var q uint64
		if i := strings.Index(s, "a > AskCandidates q"); i >= 0 && strings.Contains(s, " inventor ") {
			_, _ = fmt.Sscanf(s[i:], "a > AskCandidates q%d", &q)
			p.later = append(p.later, routinglab.Answered(routing.QueryID(q), "inventor", wire.Query{}, wire.Answer{Records: records}))
		}
	}
	return p
}

// dead returns the names of n peers that do not answer.
func dead(n int) (names []wire.PeerID) {
	for i := range n {
		names = append(names, wire.PeerID(fmt.Sprint("dead ", i)))
	}
	return names
}

// deadNames returns the time of a find, in milliseconds, if the inventor names only dead peers.
func deadNames(limits routing.Limits) float64 {
	p := named(limits, dead(routing.MaxNamesAny)...)
	s := p.findAsAsked("a", "key 7")
	if s.Found == 0 {
		return 30_000 // the longest time of a query
	}
	return float64(s.Elapsed.Milliseconds())
}

// boasting returns the mean number of messages of a find. Of ten linked peers only one is well informed, and it does
// not boast; three others do.
func boasting(limits routing.Limits) float64 {
	limits.Fade = 1 // a peer that boasts is believed each time
	p := newNet(routing.Config{Limits: limits}, "a-b1 a-b2 a-b3 a-honest a-d1 a-d2 a-d3 a-d4 a-d5 a-d6")
	for _, b := range []wire.PeerID{"b1", "b2", "b3"} {
		p.Peer(b).Boasts, p.Peer(b).Mute = true, true
	}
	for i := range 50 {
		n := p.Peer(wire.PeerID(fmt.Sprint("p", i)))
		n.Holds[fmt.Sprint("key ", i)] = true
		for _, x := range []wire.PeerID{"a", "d1", "d2", "d3", "d4", "d5", "d6"} {
			p.Peer(x).Knows[n.ID] = 1
		}
		p.Peer("honest").Knows[n.ID] = 0.0001
	}
	sum := 0
	for i := range 30 {
		sum += p.Find("a", fmt.Sprint("key ", i)).Messages
	}
	return float64(sum) / 30
}

// greedy returns the number of messages that peer b spends on one search, to which a stranger gives a budget of a million.
// Peer b knows and is linked with 60 others, and knows 600 more, as do its links; all match the key.
func greedy(cfg routing.Config) float64 {
	cfg.Parallel = 64
	p, spent := newNet(cfg, "stranger-b"), 0
	b := p.Peer("b")
	for i := range 60 {
		n := p.Peer(wire.PeerID(fmt.Sprintf("p%02d", i)))
		b.Knows[n.ID] = 1
		b.Links, n.Links = append(b.Links, n.ID), append(n.Links, "b")
	}
	for i := range 600 {
		n := p.Peer(wire.PeerID(fmt.Sprintf("q%03d", i)))
		b.Knows[n.ID] = 1
		for _, l := range b.Links { // no link knows more than b does
			p.Peer(l).Knows[n.ID] = 1
		}
	}
	p.Trace = func(line string) {
		if f := strings.Fields(line); len(f) > 3 && f[1] == "b" && (f[3] == "Confirm" || f[3] == "Forward") {
			spent++
		}
	}
	const request, within = 1 << 40, 20 * time.Second
	p.Step("b", event.Asked{Request: request, From: "stranger", Question: wire.Query{
		Kind: wire.Search, Nonce: request, Origin: "stranger", Key: []byte("k"), Mode: wire.All, Budget: 1_000_000, Hops: 4, Within: within,
	}})
	p.RunUntil(p.Now() + within)
	return float64(spent)
}

// popular returns the number of names a second that a stranger receives if it asks for the holders of one key ten
// times a second.
func popular(cfg routing.Config) float64 {
	p := newNet(cfg, "stranger-b")
	for i := range 300 {
		n := p.Peer(wire.PeerID(fmt.Sprintf("p%03d", i)))
		n.Holds["k"] = true
		p.Peer("b").Knows[n.ID] = 0.0001
	}
	// so that b has heard a holder's name for the key
	p.Start("b", routing.Query{ID: 1, Key: []byte("k"), Mode: wire.Any})
	p.Run()
	const seconds = 60
	named, began := 0, p.Now()
	for i := range uint64(10 * seconds) {
		effects := p.Peer("b").Router.Step(began+time.Duration(i)*time.Second/10, event.Asked{
			Request: 1<<40 + i, From: "stranger", Question: wire.Query{Kind: wire.Candidates, Key: []byte("k"), Mode: wire.All},
		})
		for _, e := range effects {
			if a, ok := e.(event.Answer); ok && a.Answer != nil {
				named += len(a.Answer.(wire.Answer).Records)
			}
		}
	}
	return float64(named) / seconds
}
