package routing_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/routing"
	"github.com/venn-p2p/venn/routing/routinglab"
)

// onOff runs a test with a defence, and without it.
func onOff(t *testing.T, without routing.Config, test func(t *testing.T, cfg routing.Config, on bool)) {
	t.Run("on", func(t *testing.T) { test(t, routing.Config{}, true) })
	t.Run("off", func(t *testing.T) { test(t, without, false) })
}

// TestFreshKeyIsConfirmedByLinks lets ten nodes, all linked and fully informed, look for keys that no summary shows
// yet.
func TestFreshKeyIsConfirmedByLinks(t *testing.T) {
	onOff(t, routing.Config{BudgetAny: 17, BudgetAll: 17}, func(t *testing.T, cfg routing.Config, on bool) {
		p := routinglab.NewNet(1, cfg)
		names := strings.Split("abcdefghij", "")
		for i, a := range names {
			for _, b := range names[:i] {
				p.Link(a + "-" + b)
			}
		}
		for _, n := range p.Peers() {
			for _, m := range p.Peers() {
				if n != m {
					n.Knows[m.ID] = 0.001
				}
			}
		}
		found, messages := 0, 0
		for i := range 45 {
			key := fmt.Sprintf("fresh %d", i)
			holder := p.Peer(wire.PeerID(names[1+i%9]))
			s := findHidden(p, "a", key, holder)
			found += s.Found
			messages = max(messages, s.Messages)
		}
		t.Logf("%d of 45 fresh keys found, with at most %d messages", found, messages)
		if ok := found == 45 && messages <= 20; ok != on {
			t.Errorf("found %d with %d messages", found, messages)
		}
	})
}

// findHidden looks for a key that a holder has and nobody's directory shows.
func findHidden(p *routinglab.Net, at wire.PeerID, key string, holder *routinglab.Node) routing.Stats {
	for _, n := range p.Peers() {
		n.Blind = true
	}
	holder.Holds[key] = true
	return p.Find(at, key)
}

// TestDirect looks for a key that no summary shows, at two links' distance: others pass the question on, unless the query
// says that they must not.
func TestDirect(t *testing.T) {
	p := routinglab.NewNet(1, routing.Config{})
	p.Link("a-b b-c")
	p.Peer("c").Holds["key"] = true
	for id, direct := range []bool{false, true} {
		p.Start("a", routing.Query{ID: routing.QueryID(id + 1), Key: []byte("key"), Mode: wire.Any, Direct: direct})
		p.RunAll()
		s := p.Peer("a").Done[id].Stats
		if forwarded := slices.ContainsFunc(s.Explain, func(r routing.Reason) bool { return r.Why == routing.Forwarded }); forwarded == direct || s.Found == 1 == direct {
			t.Errorf("direct %v: %+v", direct, s)
		}
	}
}

// TestLyingChild has a child's child invent a provider while the search goes on.
func TestLyingChild(t *testing.T) {
	onOff(t, routing.Config{Limits: routing.Limits{Believed: 1}}, func(t *testing.T, cfg routing.Config, on bool) {
		p := routinglab.NewNet(1, cfg)
		p.Link("a-b b-c b-liar c-d d-e")
		p.Peer("e").Holds["k"] = true
		p.Peer("liar").Mute = true
		p.Start("a", routing.Query{ID: 1, Key: []byte("k"), Mode: wire.Any})
		asked := false
		p.Trace = func(s string) { asked = asked || strings.Contains(s, "b > Forward s0 liar") }
		for !asked && p.Now < time.Minute {
			p.Run(p.Now + time.Millisecond)
		}
		p.Step("b", routinglab.Answered(routing.MaxQueryID, "liar", wire.Query{Kind: wire.Search}, wire.Answer{Records: []wire.Record{{Peer: "nobody"}}, Final: true}))
		p.RunAll()
		done := p.Peer("a").Done[0]
		t.Log(done, done.Stats.Explain)
		if (done.Stats.Found == 1) != on {
			t.Errorf("found %d", done.Stats.Found)
		}
	})
}

// TestChildNamesManyInVain lets a child return as many invented providers as an answer holds: an Any query asks few of
// them.
func TestChildNamesManyInVain(t *testing.T) {
	p := routinglab.NewNet(1, routing.Config{})
	p.Link("a-liar")
	p.Peer("liar").Mute = true
	p.Start("a", routing.Query{ID: 1, Key: []byte("k"), Mode: wire.Any})
	p.Run(time.Second)
	var names []wire.Record
	for i := range routing.MaxNamesAny {
		names = append(names, wire.Record{Peer: wire.PeerID(fmt.Sprintf("nobody %d", i))})
	}
	for _, last := range []bool{false, true} {
		p.Step("a", routinglab.Answered(1, "liar", wire.Query{Kind: wire.Search}, wire.Answer{Records: names, Final: last}))
	}
	p.RunAll()
	s := p.Peer("a").Done[0].Stats
	if s.Found != 0 || s.Probes > 12 {
		t.Errorf("%d invented providers were asked", s.Probes)
	}
}

// TestGreedyChildren: linked peers that find nothing, and say that they have spent all that they were given, do not keep
// a query from the one that finds the holder. The query takes no more than its budget and what is for contacts.
func TestGreedyChildren(t *testing.T) {
	p := routinglab.NewNet(1, routing.Config{Incomplete: func() bool { return true }})
	p.Link("a-honest honest-holder")
	for i := range 11 {
		id := fmt.Sprint("greedy", i)
		p.Link("a-" + id)
		p.Peer(wire.PeerID(id)).Costs = 1 << 30
	}
	for i := range 20 {
		if s := findHidden(p, "a", fmt.Sprint(i), p.Peer("holder")); s.Found != 1 || s.Messages > 128+256 {
			t.Errorf("key %d: %d found with %d messages: %v", i, s.Found, s.Messages, s.Explain)
		}
	}
}

// TestContactIsForwardedTo has a chain of three: the only linked peer is asked for names first, and knows none.
func TestContactIsForwardedTo(t *testing.T) {
	p := routinglab.NewNet(1, routing.Config{})
	p.Link("a-b b-c")
	p.Peer("c").Holds["k"] = true
	if s := p.Find("a", "k"); s.Found != 1 {
		t.Errorf("found %d: %v", s.Found, s.Explain)
	}
}

// TestPoisonedName lets a peer send searches under another's name before that comes, with nothing to spend. A link that
// could pass for the sender would use the name up.
func TestPoisonedName(t *testing.T) {
	for from, on := range map[wire.PeerID]bool{"evil": true, "b": false} {
		p := routinglab.NewNet(1, routing.Config{})
		p.Link("a-b b-c c-d d-e evil-c")
		p.Peer("e").Holds["k"] = true
		p.Trace = func(s string) {
			var nonce uint64
			if i := strings.Index(s, "nonce="); i >= 0 && strings.Contains(s, "a > Forward q1") {
				_, _ = fmt.Sscanf(s[i:], "nonce=%x", &nonce)
				p.Step("c", event.Asked{
					Request: 1 << 40, From: from, Question: wire.Query{Kind: wire.Search, Nonce: nonce, Origin: "a", Key: []byte("k"), Within: time.Second},
				})
			}
		}
		if s := p.Find("a", "k"); (s.Found == 1) != on {
			t.Errorf("found %d: %v", s.Found, s.Explain)
		}
	}
}

// TestRefusedSearchMayComeAgain sends a search twice: the first is too much, for its sender has all places.
func TestRefusedSearchMayComeAgain(t *testing.T) {
	p := routinglab.NewNet(1, routing.Config{})
	p.Link("a-b b-mute")
	p.Peer("mute").Mute = true
	p.Peer("b").Holds["k"] = true
	ask := func(request uint64, key string) {
		p.Step("b", event.Asked{
			From: "a", Request: 1<<40 + request, Question: wire.Query{Kind: wire.Search, Nonce: request / 2, Origin: "a", Key: []byte(key), Budget: 9, Within: time.Minute},
		})
	}
	for i := range uint64(160) {
		ask(2*i, "other")
	}
	var answers []string
	p.Trace = func(s string) {
		if at := strings.Index(s, "b > Answer #109951162"); at >= 0 && (strings.HasSuffix(s, "refused") || strings.HasSuffix(s, "messages=0 final")) {
			answers = append(answers, strings.SplitN(s[at:], " ", 5)[4])
		}
	}
	ask(1000, "k")
	p.Run(time.Minute)
	ask(1001, "k")
	if got := strings.Join(answers, "; "); got != "refused; [b] messages=0 final" {
		t.Error(got)
	}
}

// TestBoastingContact gives a node of poor knowledge two contacts. One says that it knows everybody, and names
// nobody.
func TestBoastingContact(t *testing.T) {
	onOff(t, routing.Config{Limits: routing.Limits{Fade: 1}}, func(t *testing.T, cfg routing.Config, on bool) {
		p := routinglab.NewNet(1, cfg)
		p.Link("a-boaster a-honest")
		p.Peer("boaster").Boasts = true
		for i := range 50 {
			n := p.Peer(wire.PeerID(fmt.Sprintf("p%d", i)))
			n.Holds[key(i)] = true
			p.Peer("a").Knows[n.ID] = 1
			p.Peer("honest").Knows[n.ID] = 0.0001
		}
		asked := 0
		for i := range 50 {
			for _, r := range p.Find("a", key(i)).Explain {
				if r.Why == routing.Contact && r.Peer == "boaster" {
					asked++
				}
			}
		}
		t.Logf("the boaster was asked in %d of 50 queries", asked)
		if (asked <= 5) != on {
			t.Errorf("the boaster was asked %d times", asked)
		}
	})
}

// reach is how many peers a query for what nobody has comes to, of 400 whose directories show nothing, each with
// sixteen links.
func reach(marks int, alike bool) (visited int, s routing.Stats) {
	const n = 400
	p := routinglab.NewNet(3, routing.Config{Incomplete: func() bool { return true }, Limits: routing.Limits{Visited: marks}})
	p.Alike = alike
	for i := range n {
		p.Peer(wire.PeerID(fmt.Sprintf("p%03d", i)))
	}
	all := p.Peers()
	for i := range n {
		for k := 1; k <= 8; k++ {
			routinglab.Link(all[i], all[(i+k*k*7+k)%n])
		}
	}
	came := map[string]bool{}
	p.Trace = func(line string) {
		if f := strings.Fields(line); len(f) > 3 && (f[3] == "Asked" || f[3] == "Confirm") {
			who := f[1]
			if f[3] == "Confirm" {
				who = f[5]
			}
			came[who] = true
		}
	}
	s = p.Find("p000", "nowhere")
	return len(came), s
}

// TestReach shows what the order of one's own and the list of visited peers are for: a query of the same budget comes
// to more.
func TestReach(t *testing.T) {
	full, s := reach(0, false)
	t.Logf("a query of %d messages comes to %d peers", s.Messages, full)
	for without, run := range map[string]func() (int, routing.Stats){
		"the list":            func() (int, routing.Stats) { return reach(-1, false) },
		"an order of its own": func() (int, routing.Stats) { return reach(0, true) },
	} {
		n, s := run()
		t.Logf("without %s: %d messages, %d peers", without, s.Messages, n)
		if 10*full < 11*n {
			t.Errorf("%s brings it to %d peers, no more than %d", without, full, n)
		}
	}
}

// TestDeadHolder lets a find match a peer that is dead, beside one that lives, and alone.
func TestDeadHolder(t *testing.T) {
	for _, live := range []bool{true, false} {
		t.Run(fmt.Sprintf("another lives %v", live), func(t *testing.T) {
			onOff(t, routing.Config{Limits: routing.Limits{Forgive: -1}}, func(t *testing.T, cfg routing.Config, on bool) {
				p := routinglab.NewNet(1, cfg)
				a, dead := p.Peer("a"), p.Peer("dead")
				dead.Mute, dead.Holds["k"] = true, true
				a.Knows["alive"] = 0.001
				p.Peer("alive").Holds["k"] = live
				never := p.Find("a", "k").Elapsed
				a.Knows["dead"] = 0.0001
				first := p.Find("a", "k").Elapsed
				var worst time.Duration
				for range 300 {
					p.Run(p.Now + time.Second)
					worst = max(worst, p.Find("a", "k").Elapsed)
				}
				t.Logf("without it %v; with it %v at first, then at most %v", never, first, worst)
				if (worst <= never+60*time.Millisecond) != on {
					t.Errorf("a find takes %v, %v without the dead peer", worst, never)
				}
			})
		})
	}
}

// TestHolderIsBack looks for all holders of a key half a minute after one of them could not be reached. It can be now,
// and is waited for while a connection is made, though another holder has answered.
func TestHolderIsBack(t *testing.T) {
	p := routinglab.NewNet(1, routing.Config{})
	p.RTT = 100 * time.Millisecond
	a, back := p.Peer("a"), p.Peer("back")
	for _, n := range []*routinglab.Node{back, p.Peer("other")} {
		a.Knows[n.ID], n.Holds["k"] = 0.001, true
	}
	all := func(id routing.QueryID) int {
		p.Start("a", routing.Query{ID: id, Key: []byte("k"), Mode: wire.All})
		p.RunAll()
		return len(a.Found[id])
	}
	back.Down = true
	if n := all(1); n != 1 {
		t.Fatalf("%d holders found while one is down", n)
	}
	back.Down = false
	p.Run(p.Now + 30*time.Second)
	if n := all(2); n != 2 {
		t.Errorf("%d holders found half a minute later, want 2", n)
	}
}

// TestSlowHolder has a search end before a slow holder's answer: the next one waits for it, whether it wants one or all.
func TestSlowHolder(t *testing.T) {
	p := routinglab.NewNet(1, routing.Config{})
	p.RTT = 600 * time.Millisecond
	a := p.Peer("a")
	p.Peer("b").Holds["k"] = true
	a.Knows["b"] = 0.0001
	for _, mode := range []wire.Mode{wire.Any, wire.All} {
		p.Start("a", routing.Query{ID: 99, Key: []byte("k"), Mode: mode, Deadline: p.Now + p.RTT - 1})
		p.Run(p.Now + p.RTT - 1)
		p.Ask("a", "k", mode)
		p.RunAll()
		if s := a.Done[len(a.Done)-1].Stats; s.Found != 1 {
			t.Errorf("%v: found %d after %v, want 1", mode, s.Found, s.Elapsed)
		}
	}
}

// TestReturnedHolder has a peer fail for a minute: it is found again soon after it is back.
func TestReturnedHolder(t *testing.T) {
	p := routinglab.NewNet(1, routing.Config{})
	a, b := p.Peer("a"), p.Peer("b")
	b.Down, b.Holds["k"] = true, true
	a.Knows["b"] = 0.0001
	for range 60 {
		p.Find("a", "k")
		p.Run(p.Now + time.Second)
	}
	b.Down = false
	back := p.Now
	for p.Find("a", "k").Found == 0 && p.Now < back+10*time.Minute {
		p.Run(p.Now + time.Second)
	}
	if took := p.Now - back; took > 10*time.Second {
		t.Errorf("found %v after it was back", took)
	}
}

// TestOwnKey looks for a key that the node holds itself.
func TestOwnKey(t *testing.T) {
	p := routinglab.NewNet(1, routing.Config{})
	p.Link("a-b")
	p.Peer("a").Holds["k"], p.Peer("b").Holds["k"] = true, true
	if s := p.Find("a", "k"); !s.Self || s.End != routing.Enough || s.Messages != 0 || s.Found != 0 {
		t.Errorf("found %+v", s)
	}
	p.Start("a", routing.Query{ID: 99, Key: []byte("k"), Mode: wire.Any, Others: true})
	p.RunAll()
	if s := p.Peer("a").Done[1].Stats; !s.Self || s.Found != 1 {
		t.Errorf("others: %+v", s)
	}
}

func TestFailuresAreBounded(t *testing.T) {
	p := routinglab.NewNet(1, routing.Config{})
	p.Peer("a")
	for i := range 3000 {
		p.Step("a", routinglab.Answered(1, wire.PeerID(fmt.Sprint(i)), wire.HaveRequest{}, nil))
	}
	if n := p.Peer("a").Router.Conducts(); n > 1024 {
		t.Errorf("%d failures are remembered", n)
	}
}

// TestNobodyCostsNothing looks for what nobody has, where all is known of all.
func TestNobodyCostsNothing(t *testing.T) {
	onOff(t, routing.Config{Fresh: -1}, func(t *testing.T, cfg routing.Config, on bool) {
		p := routinglab.NewNet(1, cfg)
		for _, n := range strings.Split("bcdefghij", "") {
			p.Link("a-" + n)
		}
		a := p.Peer("a")
		a.Ages = map[wire.PeerID]time.Duration{}
		for _, id := range a.Links {
			a.Knows[id], a.Ages[id] = 0.001, 400*time.Millisecond
		}
		s := p.Find("a", "nothing")
		if ok := s.Messages == 0 && s.AsOf == 400*time.Millisecond; ok != on {
			t.Errorf("%d messages, as of %v", s.Messages, s.AsOf)
		}
		p.Start("a", routing.Query{ID: 99, Key: []byte("nothing"), Mode: wire.Any, Fresh: 300 * time.Millisecond})
		p.RunAll()
		if s := a.Done[1].Stats; s.Messages < 18 || s.AsOf != 0 {
			t.Errorf("asked for what is fresher than that: %d messages, as of %v", s.Messages, s.AsOf)
		}
		delete(a.Ages, "d") // it hides keys
		if s := p.Find("a", "nothing"); on && s.Probes != 1 {
			t.Errorf("%d peers were asked, for one that hides keys", s.Probes)
		}
		p.Peer("d").Holds["hidden"] = true
		a.Blind = true
		if s := p.Find("a", "hidden"); s.Found != 1 {
			t.Errorf("the hidden key was not found")
		}
	})
}

// TestAllAsksWhoHasChanged looks for all holders of a key where one has said to be in a later state than is known: it is
// asked, whoever else was found. A peer that has been silent for a while is not.
func TestAllAsksWhoHasChanged(t *testing.T) {
	p := routinglab.NewNet(1, routing.Config{})
	a := p.Peer("a")
	a.Ages, a.Behind = map[wire.PeerID]time.Duration{}, map[wire.PeerID]bool{"c": true, "d": true}
	for id, age := range map[wire.PeerID]time.Duration{"b": 0, "c": time.Hour, "d": 30 * time.Second, "e": 30 * time.Second} {
		p.Link("a-" + string(id))
		p.Peer(id).Holds["key"] = id != "e"
		a.Knows[id], a.Ages[id] = 0.001, age
	}
	p.Start("a", routing.Query{ID: 1, Key: []byte("key"), Mode: wire.All})
	p.RunAll()
	slices.Sort(a.Found[1])
	if s := a.Done[0].Stats; !slices.Equal(a.Found[1], []wire.PeerID{"b", "c"}) || s.Probes != 2 {
		t.Errorf("%s with %d probes, want b and c with 2", a.Found[1], s.Probes)
	}
}

// TestAgesTravel forwards a query for what nobody has to a peer that goes by what it knows. The asker says how old that
// is; it hands on how old it may be, and everybody is asked when nothing is young enough.
func TestAgesTravel(t *testing.T) {
	for _, c := range []struct {
		fresh, age time.Duration // that the query allows; of what b knows
		asked      bool          // c is, by b
	}{
		{0, 400 * time.Millisecond, false},
		{0, 4 * time.Second, true}, // older than the default
		{time.Second, 2 * time.Second, true},
		{10 * time.Second, 9 * time.Second, false},
		{-1, time.Millisecond, true},
	} {
		p := routinglab.NewNet(1, routing.Config{})
		p.Link("a-b b-c")
		b := p.Peer("b")
		b.Ages = map[wire.PeerID]time.Duration{"c": c.age}
		asked := false
		p.Trace = func(line string) { asked = asked || strings.Contains(line, "b > Confirm ") }
		p.Start("a", routing.Query{ID: 1, Key: []byte("nothing"), Mode: wire.Any, Fresh: c.fresh})
		p.RunAll()
		s := p.Peer("a").Done[0].Stats
		if asked != c.asked {
			t.Errorf("fresh %v, known %v ago: b asks c: %v; %s", c.fresh, c.age, asked, p.Peer("a").Done[0])
		}
		if asked != (s.AsOf == 0) || !asked && (s.AsOf < c.age || s.AsOf > c.age+s.Elapsed) {
			t.Errorf("fresh %v, known %v ago: as of %v", c.fresh, c.age, s.AsOf)
		}
	}
}

// TestVisitNamesWhatItCannotAsk: a peer whose budget for another's search is used up names the likely holders that it
// has not asked. One that is only likelier right than wrong it leaves: whoever asked would take it for confirmed. With
// budget enough it asks all, and names nobody.
func TestVisitNamesWhatItCannotAsk(t *testing.T) {
	for _, c := range []struct{ budget, probes, named int }{{2, 1, 2}, {4, 2, 1}, {6, 3, 0}} {
		p := routinglab.NewNet(1, routing.Config{})
		p.Link("a-b")
		for _, id := range []wire.PeerID{"x", "y", "z"} {
			p.Peer(id).Claims["k"] = true
			p.Peer("b").Knows[id] = 0.0001
		}
		for id, rate := range map[wire.PeerID]float64{"unlikely": 0.5, "unsure": 0.01} {
			p.Peer(id).Claims["k"] = true
			p.Peer("b").Knows[id] = rate
		}
		p.Peer("alone")
		p.Find("alone", "k") // makes the key known to the net
		var last string
		probes := 0
		p.Trace = func(s string) {
			if strings.Contains(s, "b > Confirm") {
				probes++
			}
			if strings.Contains(s, "b > Answer #99") {
				last = s
			}
		}
		p.Step("b", event.Asked{
			Request: 99, From: "a", Question: wire.Query{Origin: "a", Nonce: 1, Kind: wire.Search, Key: []byte("k"), Want: 1, Budget: c.budget, Hops: 1, Within: 10 * time.Second},
		})
		p.RunAll()
		named := 0
		for _, id := range []string{"x", "y", "z"} {
			if strings.Contains(last, id) {
				named++
			}
		}
		if probes != c.probes || named != c.named || strings.Contains(last, "un") {
			t.Errorf("budget %d: %d asked, %d named, want %d and %d: %s", c.budget, probes, named, c.probes, c.named, last)
		}
	}
}
