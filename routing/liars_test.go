package routing_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/routing"
	"github.com/venn-p2p/venn/routing/routinglab"
)

// TestInventedHolders: a contact makes up two names. It is given up, and the only other contact that knows the second
// holder is asked.
func TestInventedHolders(t *testing.T) {
	found := func(limits routing.Limits) int {
		p := routinglab.NewNet(1, routing.Config{Limits: limits, Incomplete: func() bool { return true }})
		p.Link("a-inventor a-honest")
		p.Peer("known").Holds["k"], p.Peer("holder").Holds["k"] = true, true
		p.Peer("a").Knows["known"] = 0.001
		p.Peer("honest").Knows["known"], p.Peer("honest").Knows["holder"] = 0.001, 0.001
		p.Peer("inventor").Boasts, p.Peer("inventor").Mute = true, true
		asked := false
		p.Trace = func(s string) { asked = asked || strings.Contains(s, "a > AskCandidates q1 inventor") }
		p.Start("a", routing.Query{ID: 1, Key: []byte("k"), Mode: wire.All})
		for !asked && p.Now < time.Minute {
			p.Run(p.Now + time.Millisecond)
		}
		p.Step("a", routinglab.Answered(1, "inventor", wire.Query{}, wire.Answer{Records: []wire.Record{{Peer: "ghost 1"}, {Peer: "ghost 2"}}}))
		p.RunAll()
		return p.Peer("a").Done[0].Stats.Found
	}
	if n, loose := found(routing.Limits{}), found(routing.Limits{Silent: math.MaxInt, Credit: math.MaxInt}); n != 2 || loose == 2 {
		t.Errorf("found %d of 2, and %d if no contact is given up", n, loose)
	}
}

// TestBoastersAreUnheard: three of ten linked peers boast and do not answer. The well informed one is asked before them.
func TestBoastersAreUnheard(t *testing.T) {
	const finds = 30
	messages := func(limits routing.Limits) (sum int) {
		limits.Fade = 1 // a peer that boasts is believed each time
		p := routinglab.NewNet(1, routing.Config{Limits: limits})
		p.Link("a-b1 a-b2 a-b3 a-honest a-d1 a-d2 a-d3 a-d4 a-d5 a-d6")
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
		for i := range finds {
			sum += p.Find("a", fmt.Sprint("key ", i)).Messages
		}
		return sum
	}
	if n, loose := messages(routing.Limits{}), messages(routing.Limits{Boasters: math.MaxInt}); n > 12*finds || loose <= 12*finds {
		t.Errorf("%d messages in %d finds, and %d if all are heard", n, finds, loose)
	}
}

// TestServedBudget: a stranger's search asks for a budget of a million. The peer, which knows 660 that match, spends no
// more on it than MaxServedBudget, and what its answers take.
func TestServedBudget(t *testing.T) {
	spent := func(cfg routing.Config) (n int) {
		cfg.Parallel = 64
		p := routinglab.NewNet(1, cfg)
		p.Link("stranger-b")
		b := p.Peer("b")
		for i := range 60 {
			n := p.Peer(wire.PeerID(fmt.Sprintf("p%02d", i)))
			b.Knows[n.ID] = 1
			routinglab.Link(b, n)
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
				n++
			}
		}
		const request, within = 1 << 40, 20 * time.Second
		p.Step("b", event.Asked{Request: request, From: "stranger", Question: wire.Query{
			Kind: wire.Search, Nonce: request, Origin: "stranger", Key: []byte("k"), Mode: wire.All, Budget: 1_000_000, Hops: 4, Within: within,
		}})
		p.Run(p.Now + within)
		return n
	}
	if n, loose := spent(routing.Config{}), spent(routing.Config{MaxServedBudget: 1 << 20}); n > 256 || loose <= 256 {
		t.Errorf("%d messages, and %d without a cap", n, loose)
	}
}
