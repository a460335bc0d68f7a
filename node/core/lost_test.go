package core

import (
	"slices"
	"testing"

	"github.com/venn-p2p/venn/overlay"
)

// TestLinkLost: a peer that has few links looks for one that it lost, unless it ended the link itself.
func TestLinkLost(t *testing.T) {
	for name, c := range map[string]struct {
		end   any
		seeks bool
	}{
		"lost":  {LinkLost{"p"}, true},
		"ended": {overlay.LinkClosed{Peer: "p"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAnnouncing(t, 10, Config{Overlay: overlay.Config{
				OpenRecord: func(b []byte) (overlay.PeerID, error) { return overlay.PeerID(b), nil },
			}})
			for _, in := range []any{
				overlay.LinkOpened{Peer: "p"},
				overlay.HelloReceived{Peer: "p", Hello: overlay.Hello{Tails: true, Records: []overlay.Record{{Peer: "p", Envelope: []byte("p")}}}},
			} {
				a.m.Step(a.now, in)
			}
			sought := slices.ContainsFunc(a.m.Step(a.now, c.end), func(e Effect) bool { s, ok := e.(Seek); return ok && s.Record.Peer == "p" })
			if sought != c.seeks {
				t.Errorf("sought: %v", sought)
			}
		})
	}
}
