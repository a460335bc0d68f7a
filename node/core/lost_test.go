package core

import (
	"slices"
	"testing"

	"github.com/venn-p2p/venn/overlay"
	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/wire"
)

// TestLinkLost: a peer that has few links looks for one that it lost, unless it ended the link itself. It does not
// look for one that others say is gone.
func TestLinkLost(t *testing.T) {
	for name, c := range map[string]struct {
		end   event.Input
		seeks bool
	}{
		"lost":    {LinkLost{"p"}, true},
		"ended":   {event.LinkClosed{Peer: "p"}, false},
		"doubted": {event.Doubted{Peer: "p"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAnnouncing(t, 10, Config{Overlay: overlay.Config{
				OpenRecord: func(b []byte) (wire.PeerID, error) { return wire.PeerID(b), nil },
			}})
			for _, in := range []event.Input{
				event.LinkOpened{Peer: "p"},
				event.HelloReceived{Peer: "p", Hello: wire.Hello{Tails: true, Records: []wire.Record{{Peer: "p", Envelope: []byte("p")}}}},
			} {
				a.m.Step(a.now, in)
			}
			sought := slices.ContainsFunc(a.m.Step(a.now, c.end), func(e event.Effect) bool { s, ok := e.(Seek); return ok && s.Record.Peer == "p" })
			if sought != c.seeks {
				t.Errorf("sought: %v", sought)
			}
		})
	}
}
