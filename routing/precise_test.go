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

// TestSilentPrecise: a search for one holder does not wait long for a linked peer that knows all more precisely and is
// silent. The next such peer is asked.
func TestSilentPrecise(t *testing.T) {
	net, poor := informed("a", "b")
	net.Peer("p07").Holds["k"] = true
	s, _ := find(net, poor, wire.Any)
	first := s.Explain[0].Peer
	net.Peer(first).Mute = true
	s, _ = find(net, poor, wire.Any)
	if s.Found != 1 || s.Explain[0].Peer != first || s.Elapsed > 1200*time.Millisecond {
		t.Errorf("found %d after %v: %v", s.Found, s.Elapsed, s.Explain)
	}
}

// TestGivenUpCountsNoLonger: what a contact answered for counts no longer once its names are given up. So a search for
// all asks another, though it has found somebody else.
func TestGivenUpCountsNoLonger(t *testing.T) {
	net, poor := informed("a", "b")
	net.Peer("p07").Holds["k"], net.Peer("p08").Holds["k"] = true, true
	poor.Knows["p07"] = 1e-6
	asked := wire.PeerID("")
	net.Trace = func(line string) {
		var id uint64
		if _, err := fmt.Sscanf(line, "0s poor > AskCandidates q%d %s", &id, &asked); err == nil {
			net.Peer(asked).Mute = true
		}
	}
	net.Start(poor.ID, routing.Query{ID: 1, Key: []byte("k"), Mode: wire.All})
	var names wire.Answer
	for i := range 12 {
		names.Records = append(names.Records, wire.Record{Peer: wire.PeerID(fmt.Sprintf("p%02d", 20+i))})
	}
	net.Step(poor.ID, routinglab.Answered(1, asked, wire.Query{}, names))
	net.RunAll()
	contacts := 0
	for _, why := range poor.Done[0].Stats.Explain {
		if why.Why == routing.Contact {
			contacts++
		}
		if why.Peer == asked && why.Ranged {
			t.Errorf("what was given up counts for %v", why.Range)
		}
	}
	if s := poor.Done[0].Stats; s.Found != 2 || contacts != 2 {
		t.Errorf("found %d, asked %d contacts: %v", s.Found, contacts, s.Explain)
	}
}

// TestLatePrecise: a linked peer that knows all more precisely, and is late again and again, is not asked first for ever.
func TestLatePrecise(t *testing.T) {
	net, poor := informed("a", "b")
	net.Peer("p07").Holds["k"] = true
	s, _ := find(net, poor, wire.Any)
	late := s.Explain[0].Peer
	net.Peer(late).Mute = true
	for range 4 {
		s, _ = find(net, poor, wire.Any)
	}
	if s.Found != 1 || s.Explain[0].Peer == late {
		t.Errorf("found %d after %v: %v", s.Found, s.Elapsed, s.Explain)
	}
}

// TestPreciseOfItselfAlone: a linked peer says that it knows all precisely, but names nobody, and answers for none but
// itself. It is not believed for long.
func TestPreciseOfItselfAlone(t *testing.T) {
	net, poor := informed("a", "b")
	s, _ := find(net, poor, wire.Any)
	boaster := s.Explain[0].Peer
	net.Peer(boaster).Boasts, net.Peer(boaster).Clear = true, space.Around(boaster.Place(), space.MaxDepth)
	net.Peer("p07").Holds["k"] = true
	poor.Knows["p07"] = 1e-6
	for range 4 {
		s, _ = find(net, poor, wire.All)
	}
	if s.Found != 1 || slices.IndexFunc(s.Explain, func(r routing.Reason) bool { return r.Why == routing.Contact && r.Peer == boaster }) >= 0 {
		t.Errorf("found %d: %v", s.Found, s.Explain)
	}
}

// TestPreciseAfterRanges: the directory comes to be for everybody while a search waits for contacts of its ranges. The
// search then asks linked peers that know all more precisely, and none of those contacts.
func TestPreciseAfterRanges(t *testing.T) {
	net, poor := informed("a")
	delete(poor.Knows, "p07")
	poor.Range = space.Around(poor.ID.Place(), 1)
	for range 8 { // none can be asked
		poor.Ask = append(poor.Ask, region.Contact{Peer: string(poor.ID), Depth: 1})
	}
	net.Peer("p07").Holds["k"] = true
	net.Trace = func(line string) {
		if strings.Contains(line, "WantContacts") {
			poor.Ask, poor.Range = nil, space.Range{}
		}
	}
	s, _ := find(net, poor, wire.Any)
	if s.Found != 1 || s.Explain[len(s.Explain)-2].Why != routing.Contact {
		t.Errorf("found %d: %v", s.Found, s.Explain)
	}
}

// TestRefusedCounts: a linked peer that knows all more precisely has no time for names. Its refusal does not count for
// everybody, and it has denied nobody.
func TestRefusedCounts(t *testing.T) {
	net, poor := informed("a", "b")
	s, _ := find(net, poor, wire.Any)
	busy := s.Explain[0].Peer
	net.Peer("p07").Holds["k"] = true
	flooding := false
	flood := func() { // more than it does for one peer
		flooding = true
		for range 1000 {
			net.Step(busy, event.Asked{Request: 1 << 40, From: poor.ID, Question: wire.Query{Kind: wire.Candidates, Key: []byte("other")}})
		}
		flooding = false
	}
	for range 2 {
		flood()
		net.Run(net.Now + time.Second/10)
	}
	net.Trace = func(line string) {
		if !flooding && strings.Contains(line, string(busy)+" < Asked") {
			flood()
		}
	}
	poor.Judged = nil
	s, _ = find(net, poor, wire.All)
	for _, r := range s.Explain {
		if r.Peer == busy && r.Why == routing.Contact && r.Ranged && r.Range.Depth() == 0 {
			t.Errorf("a refusal counts for %v", r.Range)
		}
	}
	for _, o := range poor.Judged {
		if o.Peer == busy && o.Denied {
			t.Error("a refusal has denied")
		}
	}
	if s.Found != 1 {
		t.Errorf("found %d: %v", s.Found, s.Explain)
	}
}

// TestNamesOfAnAnswer: an answer has as many names as there is room for, the peer's own among them, and no more.
func TestNamesOfAnAnswer(t *testing.T) {
	for mode, most := range map[wire.Mode]int{wire.Any: routing.MaxNamesAny, wire.All: routing.MaxNamesAll} {
		p := routinglab.NewNet(1, routing.Config{})
		p.Link("a-b")
		p.Peer("b").Holds["k"] = true
		for i := range most + 9 {
			n := p.Peer(wire.PeerID(fmt.Sprintf("p%03d", i)))
			n.Holds["k"] = true
			p.Peer("b").Knows[n.ID] = 1e-9
		}
		p.Find("a", "k") // lets the net know the key
		names := 0
		p.Trace = func(line string) {
			if strings.Contains(line, "b > Answer") {
				names = len(strings.Fields(line[strings.Index(line, "["):strings.Index(line, "]")]))
			}
		}
		p.Step("b", event.Asked{Request: 1 << 40, From: "a", Question: wire.Query{Kind: wire.Candidates, Mode: mode, Key: []byte("k")}})
		if names != most {
			t.Errorf("%v: %d names, want %d", mode, names, most)
		}
	}
}

// TestTooLittleToForward: a query that cannot pay for what it has not asked yet says that its budget was too small.
func TestTooLittleToForward(t *testing.T) {
	p := routinglab.NewNet(1, routing.Config{})
	p.Link("a-b b-c")
	p.Peer("c").Holds["k"] = true
	for budget, want := range map[int]routing.End{4: routing.OutOfBudget, 64: routing.Enough} {
		p.Start("a", routing.Query{ID: routing.QueryID(budget), Key: []byte("k"), Mode: wire.Any, Budget: budget})
		p.RunAll()
		done := p.Peer("a").Done
		if got := done[len(done)-1]; got.Stats.End != want {
			t.Errorf("with %d messages: %v, want %v", budget, got.Stats.End, want)
		}
	}
}
