package overlaylab

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/cockroachdb/datadriven"

	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/exchange"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// input gives a peer one raw input, from a peer without an overlay.
func (s *Script) input(d *datadriven.TestData) {
	to, from := s.number(d, 0), wire.PeerID(word(d, 2))
	in, ok := map[string]event.Input{
		"open":    event.LinkOpened{Peer: from, Outbound: d.HasArg("outbound")},
		"close":   event.LinkClosed{Peer: from},
		"graft":   event.Meshed{Peer: from, In: true},
		"prune":   event.Meshed{Peer: from},
		"outcome": event.Outcome{Peer: from, Hits: number(d, "hits", 0), Misses: number(d, "misses", 0)},
		"rtt":     event.RoundTrip{Peer: from, RTT: duration(d, "rtt", 0)},
	}[word(d, 1)]
	switch {
	case ok:
		s.net.Step(to, in)
	case word(d, 1) == "hello":
		s.net.Step(to, s.hello(d, from))
	case word(d, 1) == "catalogue":
		s.net.Step(to, s.catalogue(d, from))
	case word(d, 1) == "parts":
		s.net.Step(to, s.parts(d, from))
	case word(d, 1) == "answer":
		s.answer(to, from)
	default:
		panic(fmt.Sprintf("unknown input %q", word(d, 1)))
	}
}

func (s *Script) hello(d *datadriven.TestData, from wire.PeerID) event.Input {
	rate := bits(d, "up")
	h := wire.Hello{
		Up: rate, Down: rate, Origins: number(d, "origins", 0), Session: uint64(number(d, "session", 1)),
		Neighbour: d.HasArg("neighbour"), Full: d.HasArg("full"),
	}
	for _, name := range list(d, "records") {
		h.Records = append(h.Records, wire.Record{Peer: wire.PeerID(name), Envelope: Record(wire.PeerID(name))})
	}
	for _, name := range list(d, "forged") {
		h.Records = append(h.Records, wire.Record{Peer: wire.PeerID(name), Envelope: Record(from)})
	}
	return event.HelloReceived{Peer: from, Hello: h}
}

// catalogue makes a catalogue. have=(x:3) says that parts 0 to 2 of x are held, have=(x*) all parts of x0, x1 and so
// on. epoch=1.9 says that the items are of another epoch than the origin's.
func (s *Script) catalogue(d *datadriven.TestData, from wire.PeerID) event.Input {
	var items []wire.Item
	item := func(o Origin, have, want int) {
		g := o.Group()
		if e := epoch(strings.Join(list(d, "epoch"), "")); e != (summary.Epoch{}) {
			g = wire.NewGroup(g.OriginTag(), e)
		}
		items = append(items, wire.Item{Group: g, Have: uint16(have), Want: uint16(want)})
	}
	for _, text := range list(d, "have") {
		if prefix, many := strings.CutSuffix(text, "*"); many {
			for i := 0; ; i++ {
				o, ok := s.origins[fmt.Sprint(prefix, i)]
				if !ok {
					break
				}
				item(o, o.Parts(), 0)
			}
			continue
		}
		name, n, given := strings.Cut(text, ":")
		o := s.summaryOf(name)
		have := o.Parts()
		if given {
			have = atoi(n)
		}
		item(o, have, 0)
	}
	for _, text := range list(d, "ask") {
		name, first, end := parseSpan(text)
		item(s.summaryOf(name), first, end)
	}
	return event.CatalogueReceived{From: from, Items: items, Bytes: exchange.Cost(wire.Catalogue(items))}
}

// parseSpan reads ORIGIN:FIRST-LAST.
func parseSpan(text string) (name string, first, end int) {
	name, numbers, _ := strings.Cut(text, ":")
	a, b, ranged := strings.Cut(numbers, "-")
	first = atoi(a)
	end = first + 1
	if ranged {
		end = atoi(b) + 1
	}
	return name, first, end
}

// summaryOf is a made-up origin, or what a peer has published last.
func (s *Script) summaryOf(name string) Origin {
	if o, ok := s.origins[name]; ok {
		return o
	}
	p := s.net.Peers[s.net.index[wire.PeerID(name)]]
	return NewOrigin(p.ID, p.fps, summary.Header{Epoch: summary.Epoch{Generation: 1, Sequence: uint32(p.published)}, Shape: p.shape, Lifetime: p.Lifetime})
}

// parts makes a run of parts, spoiled as the script says.
func (s *Script) parts(d *datadriven.TestData, from wire.PeerID) event.Input {
	name, first, end := parseSpan(word(d, 3))
	o := s.summaryOf(name)
	in := o.Sent(from, first, end)
	in.Run.Parts = append([][]byte(nil), in.Run.Parts...)
	switch strings.Join(list(d, "spoil"), "") {
	case "part":
		in.Run.Parts[0] = bytes.Clone(in.Run.Parts[0])
		in.Run.Parts[0][len(in.Run.Parts[0])/2] ^= 1
	case "next":
		in.Run.Next[0] ^= 1
	case "envelope":
		in.Envelope = append([]byte("forged"), in.Envelope[len("forged"):]...)
	case "record":
		in.Record = Record(from)
	case "group":
		in.Group = wire.NewGroup(in.Group.OriginTag(), summary.Epoch{Generation: 9})
	}
	return in
}

// answer delivers what the peer has asked of another since that last answered, as far as there are such origins.
func (s *Script) answer(to int, from wire.PeerID) {
	k := [2]wire.PeerID{s.net.Peers[to].ID, from}
	asked := s.asked[k]
	s.asked[k] = nil
	for _, it := range asked {
		for _, name := range sortedKeys(s.origins) {
			if o := s.origins[name]; o.Group() == it.Group {
				s.net.Step(to, o.Sent(from, int(it.Have), int(it.Want)))
				break
			}
		}
	}
}
