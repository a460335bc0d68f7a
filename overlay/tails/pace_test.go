package tails_test

import (
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay"
)

// TestPace: drivers that are behind send fewer messages that say more, and all that was added is known in the end. Once
// they keep up again, they send as often as before.
func TestPace(t *testing.T) {
	net := newNet(t, "a b c")
	net.all(func(p, q *peer) { p.learn(q) })
	net.link("a", "b")
	net.link("b", "c")
	net.run(2 * time.Second)
	due, waiting, serial := map[overlay.PeerID]time.Duration{}, map[overlay.PeerID]int{}, 0
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
