package overlay_test

import (
	"strings"
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay"
	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/overlaylab"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// described are the Strings of all peers of a small network, each of which covers a part of it, at several times. At the
// time changed something is done to peer 1.
func described(t *testing.T, change func(*overlaylab.Network, *overlay.Overlay)) (at [][]string) {
	t.Helper()
	configs := make([]overlay.Config, 24)
	for i := range configs {
		configs[i] = overlay.Config{Up: fast, Down: fast, MaxOrigins: 8, Cache: shared}
	}
	net := joined(t, configs, func(i int) []summary.Fingerprint { return overlaylab.Fingerprints(50, 10*(i%4), uint64(i)) })
	for step := range changed + 2 {
		net.Run(net.Now + 10*time.Second)
		if step == changed {
			change(net, net.Peers[1].Overlay)
		}
		var all []string
		for _, p := range net.Peers {
			all = append(all, p.Overlay.String())
		}
		at = append(at, all)
	}
	return at
}

const changed = 3

// TestStringsTell: overlays of the same history describe themselves alike. What happens to one of their machines is seen
// at once, and later.
func TestStringsTell(t *testing.T) {
	plain := described(t, func(*overlaylab.Network, *overlay.Overlay) {})
	for at, all := range described(t, func(*overlaylab.Network, *overlay.Overlay) {}) {
		for i, s := range all {
			if s != plain[at][i] {
				t.Errorf("of two equal runs, peer %d at time %d differs: %s", i, at, firstDifference(plain[at][i], s))
			}
		}
	}
	for name, change := range map[string]func(*overlaylab.Network, *overlay.Overlay){
		"directory": func(net *overlaylab.Network, _ *overlay.Overlay) { net.Publish(1, overlaylab.Fingerprints(50, 10, 1)) },
		"exchange":  func(net *overlaylab.Network, o *overlay.Overlay) { net.Step(1, event.LinkClosed{Peer: o.Linked()[0]}) },
		"topology": func(net *overlaylab.Network, o *overlay.Overlay) {
			full := wire.Hello{Up: fast, Down: fast, Session: 1, Full: true}
			net.Step(1, event.HelloReceived{Peer: o.Neighbours()[0].Peer, Hello: full})
		},
		"region": func(net *overlaylab.Network, o *overlay.Overlay) {
			net.Step(1, event.ContactAnswered{Peer: wire.PeerID(o.Contacts()[0].Peer), Denied: true})
		},
	} {
		for at, all := range described(t, change) {
			for i, s := range all {
				if same := s == plain[at][i]; at < changed && !same || at >= changed && i == 1 && same {
					t.Errorf("%s: peer %d at time %d, changed at %d, is as without the change: %v: %s", name, i, at, changed, same, firstDifference(plain[at][i], s))
				}
			}
		}
	}
}

// firstDifference is the first line in which two texts differ.
func firstDifference(a, b string) string {
	as, bs := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(as), len(bs)) {
		if as[i] != bs[i] {
			return as[i] + " and " + bs[i]
		}
	}
	return "none, or one is longer"
}
