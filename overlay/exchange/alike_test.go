package exchange

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/overlaylab/plain"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// holding returns an exchange that holds summaries: all parts, or as many hundredths of them as parts says by index.
func holding(t *testing.T, parts map[int]int, summaries ...plain.Origin) *world {
	t.Helper()
	w := lone(rand.New(rand.NewPCG(1, 2)), 3e9)
	w.meet(wire.Hello{Up: 3e9, Down: 3e9, Session: 1}, "link", "source")
	for i, s := range summaries {
		all := s.Stream.Parts()
		w.give(0, event.CatalogueReceived{From: "source", Items: []wire.Item{{Group: wire.GroupOf(s.Stream.Header()), Have: uint16(all)}}, Bytes: 40})
		if held, ok := parts[i]; ok {
			all = max(1, all*held/100)
		}
		w.learn(t, "source", s, all)
	}
	return w
}

// alike returns a collection, one that has much of it, and one that has nothing of it.
func alike(t *testing.T) (of, like, other plain.Origin) {
	keys := plain.Keys(rand.New(rand.NewPCG(3, 4)), 6000)
	return plain.Of("of", keys[1000:4000]), plain.Of("like", keys[:3500]), plain.Of("other", keys[4000:])
}

// TestGiven serves parts given the summary that the ask names, if that is held here, and takes fewer bytes so. What is
// sent leads to the same parts. Any other ask is answered in plain form.
func TestGiven(t *testing.T) {
	of, like, other := alike(t)
	all := of.Stream.Parts()
	for name, c := range map[string]struct {
		base     plain.Origin
		held     int // hundredths of the base's parts held here
		given    int // the same, as the ask says
		relative bool
	}{
		"whole":              {like, 100, 100, true},
		"half here":          {like, 60, 100, true},
		"half there":         {like, 100, 60, true},
		"a sample here":      {like, 1, 100, false},
		"a sample there":     {like, 100, 1, false},
		"nothing in common":  {other, 100, 100, false},
		"none":               {like, 100, 0, false},
		"not held, or a lie": {plain.Of("liar", nil), 100, 100, false},
	} {
		bases := []plain.Origin{like, other, of}
		parts := map[int]int{0: c.held}
		w := holding(t, parts, bases...)
		item := wire.Item{Group: wire.GroupOf(of.Stream.Header()), Have: 1, Want: uint16(all)}
		if n := c.base.Stream.Parts() * c.given / 100; c.given > 0 {
			item.Given = wire.Given{Group: wire.GroupOf(c.base.Stream.Header()), Parts: uint16(max(1, n))}
		}
		w.now += time.Second
		w.x.Refill(w.now)
		var sent []wire.Parts
		for _, e := range w.give(w.now, event.CatalogueReceived{From: "link", Items: []wire.Item{item}, Bytes: 40}) {
			if s, ok := e.(event.SendParts); ok && s.To == "link" {
				sent = append(sent, s.Parts)
			}
		}
		if len(sent) != 1 || (sent[0].Delta != nil) != c.relative {
			t.Errorf("%s: sent %d messages, relative: %v", name, len(sent), len(sent) == 1 && sent[0].Delta != nil)
			continue
		}
		if !c.relative {
			continue
		}
		r, err := summary.ParseRelative(sent[0].Delta)
		if err != nil {
			t.Fatal(err)
		}
		got, err := of.Stream.Truncate(1).ExtendRelative(c.base.Stream.Truncate(int(item.Given.Parts)), r)
		if err != nil || got.Parts() != all {
			t.Fatalf("%s: %v", name, err)
		}
		run, _ := got.Run(1, all)
		plain, _ := of.Stream.Run(1, all)
		if !slices.EqualFunc(run.Parts, plain.Parts, slices.Equal) {
			t.Errorf("%s: other parts", name)
		}
		if sent[0].Envelope != nil || sent[0].Record != nil {
			t.Errorf("%s: a header that the asker has", name)
		}
		most := plain.EncodedBytes() * 2 / 3
		if name != "whole" {
			most = plain.EncodedBytes() * 9 / 10
		}
		if sent[0].Size() > most {
			t.Errorf("%s: %d bytes, %d in plain form", name, sent[0].Size(), plain.EncodedBytes())
		}
	}
}

// TestMostAlike asks for parts given the summary that is most like the origin's sample: of those that the link holds
// too, and that are known deeper than what is held of the origin.
func TestMostAlike(t *testing.T) {
	of, like, other := alike(t)
	for name, c := range map[string]struct {
		claims []plain.Origin // held by the link
		share  int            // hundredths of them
		parts  map[int]int
		want   *plain.Origin
	}{
		"alike":          {[]plain.Origin{like, other}, 100, nil, &like},
		"half of it":     {[]plain.Origin{like, other}, 70, nil, &like},
		"a sample of it": {[]plain.Origin{like, other}, 1, nil, nil},
		"not the links":  {[]plain.Origin{other}, 100, nil, nil},
		"not deep":       {[]plain.Origin{like, other}, 100, map[int]int{0: 1}, nil},
	} {
		parts := map[int]int{2: 1}
		for i, n := range c.parts {
			parts[i] = n
		}
		w := holding(t, parts, like, other, of)
		var items []wire.Item
		for _, s := range append(c.claims, of) {
			items = append(items, wire.Item{Group: wire.GroupOf(s.Stream.Header()), Have: uint16(max(1, s.Stream.Parts()*c.share/100))})
		}
		w.give(0, event.CatalogueReceived{From: "link", Items: items, Bytes: 120})
		e := w.x.originOf(w.d.Foreign(wire.GroupOf(of.Stream.Header()).OriginTag()))
		got := w.x.baseFor([]*link{w.x.link("link")}, e, e.Newest(), of.Stream.Parts()).given()
		if want := (wire.Given{}); c.want == nil && got != want {
			t.Errorf("%s: given %v", name, got)
		} else if c.want != nil && got.Group != wire.GroupOf(c.want.Stream.Header()) {
			t.Errorf("%s: given %v", name, got)
		}
	}
}

// TestAsksWhoHoldsTheBase asks the link that holds a base, too, and not another that would be as soon. The base is named
// although no link has announced it.
func TestAsksWhoHoldsTheBase(t *testing.T) {
	of, like, _ := alike(t)
	g := wire.GroupOf(of.Stream.Header())
	for name, announced := range map[string]bool{"announced": true, "not announced": false} {
		w := holding(t, map[int]int{1: 1}, like, of)
		base := w.x.originOf(w.d.Foreign(wire.GroupOf(like.Stream.Header()).OriginTag()))
		if !announced {
			w.x.link("source").traded(base.Index()).have = 0
		}
		w.give(0, event.CatalogueReceived{From: "link", Items: []wire.Item{{Group: g, Have: uint16(of.Stream.Parts())}}, Bytes: 40})
		asked := false
		for _, out := range w.give(time.Second, event.Tick{}) {
			c, _ := out.(event.SendCatalogue)
			for _, it := range c.Items {
				if it.Want == 0 || it.Group != g {
					continue
				}
				asked = true
				if announced && c.To != "source" || it.Given.Group != wire.GroupOf(like.Stream.Header()) {
					t.Errorf("%s: %q is asked, given %v", name, c.To, it.Given)
				}
			}
		}
		if !asked {
			t.Errorf("%s: nobody is asked", name)
		}
	}
}
