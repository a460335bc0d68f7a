package exchange

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/group"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// server is an exchange that holds summaries of "like", of "other" and of its link, and is asked for that of "of".
func server(t *testing.T, summaries ...signed) (*world, func(of signed, have, want int) []wire.Parts) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	w := &world{d: emptyDirectory(rng), rng: rng}
	w.x = New(Config{
		Self: "self", Up: 1e9, Down: 1e9, DeclaredUp: 1e9, DeclaredDown: 1e9, Share: 1, Rand: rng, RunRelative: (*summary.Prefix).RunRelative,
	}, &w.out, w.d.Owned()...)
	for _, p := range []wire.PeerID{"link", "source"} {
		w.give(0, event.LinkOpened{Peer: p})
		w.give(0, event.HelloReceived{Peer: p, Hello: wire.Hello{Up: 1e9, Down: 1e9, Session: 1}})
	}
	for _, s := range summaries {
		all := s.stream.Parts()
		w.give(0, event.CatalogueReceived{From: "source", Items: []wire.Item{{Group: group.Of(s.stream.Header()), Have: uint16(all)}}, Bytes: 40})
		run, err := s.stream.Run(0, all)
		if err != nil {
			t.Fatal(err)
		}
		in := event.PartsReceived{From: "source", Group: group.Of(s.stream.Header()), Parts: wire.Parts{Run: run, Envelope: s.envelope, Record: s.record}}
		if r := w.d.Take(0, w.d.Foreign(in.Group.OriginTag()), in); r.Learned == nil {
			t.Fatalf("%q is not taken in: %+v", s.record, r)
		}
		w.pass()
	}
	return w, func(of signed, have, want int) (sent []wire.Parts) {
		item := wire.Item{Group: group.Of(of.stream.Header()), Have: uint16(have), Want: uint16(want)}
		w.now += time.Second
		w.x.Refill(w.now)
		for _, e := range w.give(w.now, event.CatalogueReceived{From: "link", Items: []wire.Item{item}, Bytes: 40}) {
			if s, ok := e.(event.SendParts); ok && s.To == "link" {
				sent = append(sent, s.Parts)
			}
		}
		return sent
	}
}

// TestAlike serves parts given a base only where the link holds one that is alike: its own summary, or what it has
// announced. What is sent takes fewer bytes, and leads to the same parts. Who asks again for what was sent gets it plain.
func TestAlike(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	keys := make([]summary.Fingerprint, 6000)
	for i := range keys {
		keys[i] = summary.Fingerprint(rng.Uint64() >> 16)
	}
	of, apart := sign(t, "of", keys[1000:4000]), sign(t, "other", keys[4000:])
	all := of.stream.Parts()
	like := func(id wire.PeerID) signed { return sign(t, id, keys[:3500]) }
	for name, c := range map[string]struct {
		base      signed
		announced int // parts of the base, of all of them in a hundred
		relative  bool
	}{
		"its own":           {like("link"), 0, true},
		"announced":         {like("like"), 100, true},
		"announced in part": {like("like"), 60, true},
		"not announced":     {like("like"), 0, false},
		"nothing in common": {apart, 100, false},
	} {
		w, ask := server(t, c.base, of)
		if c.announced > 0 {
			item := wire.Item{Group: group.Of(c.base.stream.Header()), Have: uint16(c.base.stream.Parts() * c.announced / 100)}
			w.give(0, event.CatalogueReceived{From: "link", Items: []wire.Item{item}, Bytes: 40})
		}
		sent := ask(of, 0, all)
		if len(sent) != 1 || (sent[0].Delta != nil) != c.relative {
			t.Errorf("%s: sent %d messages, relative: %v", name, len(sent), len(sent) == 1 && sent[0].Delta != nil)
			continue
		}
		again := ask(of, 0, all)
		if len(again) != 1 || again[0].Delta != nil {
			t.Errorf("%s: asked again, sent %d messages, relative: %v", name, len(again), len(again) == 1)
			continue
		}
		if !c.relative {
			continue
		}
		r, err := summary.ParseRelative(sent[0].Delta)
		if err != nil {
			t.Fatal(err)
		}
		got, err := of.stream.Truncate(0).ExtendRelative(c.base.stream, r)
		if err != nil || got.Parts() != all {
			t.Fatalf("%s: %v", name, err)
		}
		run, _ := got.Run(0, all)
		if !slices.EqualFunc(run.Parts, again[0].Run.Parts, slices.Equal) {
			t.Errorf("%s: other parts", name)
		}
		t.Logf("%s: %d bytes, %d in plain form", name, sent[0].Size(), again[0].Size())
		if sent[0].Size() > again[0].Size()*3/4 && c.announced != 60 {
			t.Errorf("%s: %d bytes, %d in plain form", name, sent[0].Size(), again[0].Size())
		}
	}
}
