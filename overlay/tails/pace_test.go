package tails_test

import (
	"slices"
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay/tails"
	"github.com/venn-p2p/venn/overlay/wire"
)

// TestPace: drivers that are behind send fewer messages that say more, and all that was added is known in the end. Once
// they keep up again, they send as often as before.
func TestPace(t *testing.T) {
	net := acquainted(t, "a b c", "a-b b-c")
	net.run(2 * time.Second)
	due, waiting, serial := map[wire.PeerID]time.Duration{}, map[wire.PeerID]int{}, 0
	add := func(p *peer) {
		p.change(fps(serial, waiting[p.id]), nil)
		serial += waiting[p.id]
		due[p.id], waiting[p.id] = net.now+max(100*time.Millisecond, p.machine.Pace()), 0
	}
	// messages of ten seconds in which each peer adds ten keys a second, as often as its pace allows
	messages := func(slow time.Duration) (n int) {
		for _, p := range net.peers {
			p.slow, p.writes = slow, 0
			p.publish(p.header.Epoch.Sequence + 1)
		}
		net.all(func(p, q *peer) { p.learn(q) })
		for range 100 {
			for _, id := range net.names {
				if waiting[id]++; net.now >= due[id] {
					add(net.peers[id])
				}
			}
			net.run(net.now + 100*time.Millisecond)
		}
		for _, id := range net.names {
			n += net.peers[id].writes
			add(net.peers[id])
		}
		net.run(net.now + 20*time.Second)
		net.all(func(p, q *peer) {
			if err := p.knows(q, nil); err != nil {
				t.Errorf("with %v of lag: %v", slow, err)
			}
		})
		for _, p := range net.peers {
			clear(p.keys)
		}
		return n
	}
	messages(0)
	quick, behind := messages(0), messages(300*time.Millisecond)
	messages(0)
	again := messages(0)
	t.Logf("%d messages; %d when all are behind; then %d again", quick, behind, again)
	if behind*3 > quick || again*10 < 9*quick {
		t.Error("wanted: a third at most, and as many again")
	}
}

// TestPaceOfOneLink: a link whose own messages wait long leaves the pace as it was, and so does a peer without a link.
// A machine that went by the longest wait would be paced. Where all links wait, the node is paced.
func TestPaceOfOneLink(t *testing.T) {
	for _, c := range []struct {
		name   string
		behind float64
		wait   []wire.PeerID
		paced  bool
	}{
		{"one of four", 0, []wire.PeerID{"e"}, false},
		{"one of four, by the longest wait", 1, []wire.PeerID{"e"}, true},
		{"no link", 1, []wire.PeerID{"unlinked"}, false},
		{"all", 0, []wire.PeerID{"b", "c", "d", "e"}, true},
	} {
		net := newNet(t, "")
		net.limits.Behind = c.behind
		for _, name := range []string{"a", "b", "c", "d", "e"} {
			net.add(name)
		}
		for _, p := range net.names[1:] {
			net.link("a", p)
		}
		net.run(2 * time.Second)
		a := net.peers["a"]
		for range 20 {
			for _, p := range net.names[1:] {
				if !slices.Contains(c.wait, p) {
					a.step(tails.Received{From: p})
				}
			}
			for _, p := range c.wait {
				a.step(tails.Received{From: p, Waited: 2 * time.Second})
			}
			net.run(net.now + 100*time.Millisecond)
		}
		if pace := a.machine.Pace(); pace > 0 != c.paced || c.paced && pace < 7*time.Second {
			t.Errorf("%s: a pace of %v", c.name, pace)
		}
		net.run(net.now + time.Minute)
		if pace := a.machine.Pace(); pace > 0 {
			t.Errorf("%s: still a pace of %v, a minute later", c.name, pace)
		}
	}
}
