package overlay_test

import (
	"fmt"
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
// at once, where it belongs.
func TestStringsTell(t *testing.T) {
	plain := described(t, func(*overlaylab.Network, *overlay.Overlay) {})
	for at, all := range described(t, func(*overlaylab.Network, *overlay.Overlay) {}) {
		for i, s := range all {
			if s != plain[at][i] {
				t.Errorf("of two equal runs, peer %d at time %d differs: %s", i, at, firstDifference(plain[at][i], s))
			}
		}
	}
	var was, is string // what a String says of the change: before, after
	for name, change := range map[string]func(*overlaylab.Network, *overlay.Overlay){
		"directory": func(net *overlaylab.Network, _ *overlay.Overlay) {
			was, is = `"peer-0001" held, 1.1 2 of 2`, `"peer-0001" held, 1.2 2 of 2, 1.1 2 of 2`
			net.Publish(1, overlaylab.Fingerprints(50, 10, 1))
		},
		"exchange": func(net *overlaylab.Network, o *overlay.Overlay) {
			p := o.Linked()[0]
			was, is = fmt.Sprintf("%q mesh", p), ""
			net.Step(1, event.LinkClosed{Peer: p})
		},
		"topology": func(net *overlaylab.Network, o *overlay.Overlay) {
			p := o.Neighbours()[0]
			was, is = fmt.Sprintf("%q %v since", p.Peer, p.Kind), ""
			net.Step(1, event.HelloReceived{Peer: p.Peer, Hello: wire.Hello{Up: fast, Down: fast, Session: 1, Full: true}})
		},
		"region": func(net *overlaylab.Network, o *overlay.Overlay) {
			c := o.Contacts()[0]
			was = fmt.Sprintf("%q %v, %d right, 0 denials", c.Peer, c.Range(), c.Right)
			is = fmt.Sprintf("%q %v, %d right, 1 denials", c.Peer, c.Range(), c.Right)
			net.Step(1, event.ContactAnswered{Peer: wire.PeerID(c.Peer), Denied: true})
		},
	} {
		got := described(t, change)
		for at := range changed {
			for i, s := range got[at] {
				if s != plain[at][i] {
					t.Errorf("%s: before any change, peer %d at time %d differs: %s", name, i, at, firstDifference(plain[at][i], s))
				}
			}
		}
		before, after := plain[changed][1], got[changed][1]
		if !strings.Contains(before, was) || strings.Contains(after, was) && !strings.Contains(is, was) || !strings.Contains(after, is) {
			t.Errorf("%s: nothing says that %q is %q: %s", name, was, is, firstDifference(before, after))
		}
		if got[changed+1][1] == plain[changed+1][1] {
			t.Errorf("%s: the same later", name)
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
