package tails_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay/tails"
	"github.com/venn-p2p/venn/overlay/wire"
)

// TestTornTrees has links come and go, messages get lost and epochs come, while all peers change. Once that ends, all
// know all, however the trees were torn. A ring keeps the peers in one piece.
func TestTornTrees(t *testing.T) {
	seeds := uint64(30)
	if testing.Short() {
		seeds = 5
	}
	for seed := range seeds {
		rng := rand.New(rand.NewPCG(seed, 4))
		n := newNet(t, "a b c d e f g h i j k l m n")
		n.quiet = true
		n.all(func(p, q *peer) { p.learn(q) })
		size := len(n.names)
		for i := range n.names {
			n.link(n.names[i], n.names[(i+1)%size])
		}
		lossy := true
		n.lose = func(wire.PeerID, wire.PeerID) bool { return lossy && rng.IntN(20) == 0 }
		serial := 0
		for range 400 {
			p := n.peers[n.names[rng.IntN(size)]]
			q := n.peers[n.names[rng.IntN(size)]]
			i, j := indexOf(n, p.id), indexOf(n, q.id)
			near := (i+1)%size == j || (j+1)%size == i
			switch k := rng.IntN(20); {
			case k < 2 && p != q && !near && !p.links[q.id]:
				n.link(p.id, q.id)
			case k < 4 && p != q && !near && p.links[q.id]:
				n.unlink(p.id, q.id)
			case k == 4:
				p.publish(p.header.Epoch.Sequence + 1)
				for _, id := range n.names { // others learn of it one after another
					if id != p.id {
						n.run(n.now + time.Duration(rng.IntN(20))*time.Millisecond)
						n.peers[id].learn(p)
					}
				}
			default:
				p.change(fps(serial, 1+rng.IntN(3)), nil)
				serial += 3
			}
			n.run(n.now + time.Duration(rng.IntN(100))*time.Millisecond)
		}
		lossy = false
		for _, id := range n.names { // what was lost last shows when more comes
			n.peers[id].change(fps(serial, 1), nil)
			serial++
		}
		n.run(n.now + 60*time.Second)
		n.all(func(p, q *peer) {
			a, _, _ := p.machine.State(q.id)
			b, _, _ := q.machine.State(q.id)
			if a != b {
				t.Errorf("seed %d: %s knows state %d of %s, which is at %d", seed, p.id, a, q.id, b)
			}
		})
		if len(n.reports) > 0 {
			t.Errorf("seed %d: refused: %v", seed, n.reports)
		}
	}
}

func indexOf(n *net, p wire.PeerID) int {
	for i, id := range n.names {
		if id == p {
			return i
		}
	}
	return -1
}

// TestPartedNetwork parts twenty linked peers, which change all the time, in two halves. Soon after a few links between the
// halves are there again, everybody knows what everybody held when they were: each half has its trees torn, and those who
// hear of it first tell the others.
func TestPartedNetwork(t *testing.T) {
	seeds := uint64(10)
	if testing.Short() {
		seeds = 3
	}
	worst := time.Duration(0)
	for seed := range seeds {
		rng := rand.New(rand.NewPCG(seed, 1))
		n := newNet(t, "a b c d e f g h i j k l m n o p q r s t")
		n.quiet = true
		n.all(func(p, q *peer) { p.learn(q) })
		pairs := func(f func(p, q wire.PeerID, apart bool)) {
			for i, p := range n.names {
				for j, q := range n.names[:i] {
					f(p, q, (i+j)%2 > 0)
				}
			}
		}
		serial := 0
		change := func(until time.Duration) {
			for ; n.now < until; serial++ {
				n.peers[n.names[rng.IntN(len(n.names))]].change(fps(serial, 1), nil)
				n.run(n.now + time.Duration(rng.IntN(70))*time.Millisecond)
			}
		}
		pairs(func(p, q wire.PeerID, _ bool) { n.link(p, q) })
		change(5 * time.Second)
		pairs(func(p, q wire.PeerID, apart bool) {
			if apart {
				n.unlink(p, q)
			}
		})
		change(20 * time.Second)
		pairs(func(p, q wire.PeerID, apart bool) {
			if apart && rng.IntN(25) == 0 {
				n.link(p, q)
				change(n.now + 200*time.Millisecond)
			}
		})
		joined, want := n.now, map[wire.PeerID]uint32{}
		for _, id := range n.names {
			want[id], _, _ = n.peers[id].machine.State(id)
		}
		for behind := true; behind; {
			change(n.now + 250*time.Millisecond)
			behind = false
			n.all(func(p, q *peer) {
				state, _, _ := p.machine.State(q.id)
				behind = behind || state < want[q.id]
			})
		}
		worst = max(worst, n.now-joined)
	}
	if worst > 5*time.Second {
		t.Errorf("all is known %v after the halves are linked again, want 5 s", worst)
	}
}

// TestUnheardNeed ends the link between an origin and a peer, and loses the peer's word of it: its other links go on to
// believe that the origin sends it each tail. It hears of later tails by their rumours.
func TestUnheardNeed(t *testing.T) {
	n := acquainted(t, "a b c", "a-b b-c a-c")
	a, b := n.peers["a"], n.peers["b"]
	a.change(fps(0, 1), nil)
	n.run(5 * time.Second)
	n.lose = func(from, _ wire.PeerID) bool { return from == "b" }
	n.unlink("a", "b")
	n.run(n.now + time.Second)
	n.lose = nil
	a.change(fps(1, 1), nil)
	n.run(n.now + 5*time.Second)
	if got, _, _ := b.machine.State("a"); got != 2 {
		t.Errorf("b knows state %d of a, which is at 2", got)
	}
}

// TestDeadFeeder lets a feeder fall silent, its links staying up: another feeds in its place before long.
func TestDeadFeeder(t *testing.T) {
	n := acquainted(t, "a b c d", "a-b a-c b-d c-d")
	n.run(time.Second)
	a, d := n.peers["a"], n.peers["d"]
	change := func(serial int) {
		a.change(fps(serial, 1), nil)
		n.run(n.now + time.Second)
	}
	for i := range 5 {
		change(i)
	}
	var feeder wire.PeerID
	n.lose = func(from, to wire.PeerID) bool { return to == "d" && from == feeder }
	for _, feeder = range []wire.PeerID{"b", "c"} {
		for i := range 10 {
			change(100 + 10*i)
		}
		want, _, _ := a.machine.State("a")
		if got, _, _ := d.machine.State("a"); got < want-1 {
			t.Errorf("%s silent: d is at state %d of %d", feeder, got, want)
		}
	}
}

// TestLyingFeeder: a link that tells of states that do not exist is asked, and soon no longer believed; the other feeds
// on.
func TestLyingFeeder(t *testing.T) {
	behind := func(l tails.Limits) (seconds int) {
		n := newNet(t, "")
		n.limits = l
		for _, name := range []string{"0liar", "a", "b", "d"} {
			n.add(name)
		}
		n.all(func(p, q *peer) { p.learn(q) })
		n.link("a", "b")
		n.link("b", "d")
		n.link("0liar", "d")
		n.run(time.Second)
		a, d := n.peers["a"], n.peers["d"]
		for i := range 60 {
			a.change(fps(i, 1), nil)
			d.step(tails.Received{From: "0liar", Items: []wire.TailItem{{Group: wire.GroupOf(a.header), Number: 1000 + uint32(i), Fed: true}}})
			n.run(n.now + time.Second)
			want, _, _ := a.machine.State("a")
			if got, _, _ := d.machine.State("a"); i >= 30 && got < want {
				seconds++
			}
		}
		return seconds
	}
	if s := behind(tails.Limits{}); s > 0 {
		t.Errorf("behind in %d of 30 seconds", s)
	}
	if s := behind(tails.Limits{Disbelief: -1}); s == 0 {
		t.Error("without disbelief the lie does no harm")
	}
}
