package overlaylab

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// describe says in few words what an effect is about.
func (s *Script) describe(e event.Effect) string {
	switch e := e.(type) {
	case event.SayHello:
		return fmt.Sprintf("%s: %s", e.To, hello(e.Hello))
	case event.SendCatalogue:
		return fmt.Sprintf("%s: %s", e.To, s.items(e.Items))
	case event.SendParts:
		return fmt.Sprintf("%s: %s", e.To, s.sending(e.Group, e.Run, e.Delta))
	case event.Connect:
		return string(e.To.Peer)
	case event.Protect:
		return string(e.Peer)
	case event.Disconnect:
		return string(e.Peer)
	case event.Audit:
		return string(e.Of.Peer)
	case event.Report:
		return fmt.Sprintf("%s: %s", e.Peer, e.Fault)
	case event.Learned:
		line := fmt.Sprintf("%s %s to %d parts, %s", e.Origin, e.Epoch, e.Parts, [...]string{"pubsub", "direct"}[e.Transport])
		if e.Delta > 0 {
			line += fmt.Sprintf(", by a delta of %d bytes for %d", e.Delta, e.Bytes)
		}
		return line
	}
	return ""
}

func hello(h wire.Hello) string {
	line := fmt.Sprintf("origins %d", h.Origins)
	if h.Neighbour {
		line += ", neighbour"
	}
	if h.Full {
		line += ", full"
	}
	if len(h.Records) > 0 {
		var names []string
		for _, r := range h.Records {
			names = append(names, string(r.Peer))
		}
		line += fmt.Sprintf(", records %v", names)
	}
	return line
}

// items tells the lines of a catalogue, or, if they are many, how many there are.
func (s *Script) items(items []wire.Item) string {
	var have, asks []string
	for _, it := range items {
		if it.Want > it.Have {
			ask := fmt.Sprintf("%s parts %s", s.group(it.Group), span(int(it.Have), int(it.Want)))
			if it.Given.Group.OriginTag() == it.Group.OriginTag() {
				ask += " or a delta"
			}
			asks = append(asks, ask)
		} else {
			have = append(have, fmt.Sprintf("%s to %d", s.group(it.Group), it.Have))
		}
	}
	var out []string
	for what, lines := range map[string][]string{"has": have, "asks": asks} {
		switch {
		case len(lines) > 6:
			out = append(out, fmt.Sprintf("%s %d groups", what, len(lines)))
		case len(lines) > 0:
			out = append(out, what+" "+strings.Join(lines, ", "))
		}
	}
	slices.Sort(out)
	return strings.Join(out, "; ")
}

func (s *Script) sending(g wire.GroupID, r summary.Run, delta []byte) string {
	if delta != nil {
		return fmt.Sprintf("%s delta of %d bytes", s.group(g), len(delta))
	}
	return fmt.Sprintf("%s parts %s, %d bytes", s.group(g), span(r.First, r.First+len(r.Parts)), r.EncodedBytes())
}

// span is parts first..end-1.
func span(first, end int) string {
	if end == first+1 {
		return fmt.Sprint(first)
	}
	return fmt.Sprintf("%d-%d", first, end-1)
}

// group is the origin's name and the epoch.
func (s *Script) group(g wire.GroupID) string {
	for _, p := range s.net.Peers {
		if number, ok := p.seedOf(g); ok && number > 0 {
			return fmt.Sprintf("%s %s under %d", p.ID, g.Epoch(), number)
		} else if ok {
			return fmt.Sprintf("%s %s", p.ID, g.Epoch())
		}
	}
	for _, name := range sortedKeys(s.origins) {
		if o := s.origins[name]; wire.OriginTag(string(o.ID)) == g.OriginTag() {
			return fmt.Sprintf("%s %s", o.ID, g.Epoch())
		}
	}
	return g.String()
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
