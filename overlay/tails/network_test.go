package tails_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay/tails"
	"github.com/venn-p2p/venn/overlay/wire"
)

// lengthBytes is the length that stands before a message of tails.
const lengthBytes = 2

// line is a peer's line in a network of lines, and what it has carried.
type line struct {
	rate     float64 // bytes a second
	up, down time.Duration
	links    map[wire.PeerID]*bucket
	total    bucket

	bytes, pushes int // received: of messages; items with tails
	messages      int
	lag           []time.Duration // of each state of another that has come here, since the first key in it was added
	added         time.Duration   // when the first key of the tail under way was
	made          map[uint32]time.Duration
}

// bucket is a token bucket of a third of a line, as the overlay has them.
type bucket struct {
	rate, tokens float64
	last         time.Duration
}

func newBucket(rate float64) bucket { return bucket{rate: rate / 3, tokens: max(16<<10, rate/3)} }

func (b *bucket) refill(now time.Duration) {
	b.tokens = min(max(16<<10, b.rate), b.tokens+b.rate*(now-b.last).Seconds())
	b.last = now
}

func (n *net) rate(from, to wire.PeerID) float64 {
	if n.lines == nil {
		return 1 << 20
	}
	return min(n.lines[from].rate, n.lines[to].rate) / 3
}

func (n *net) roomOf(p *peer, q wire.PeerID) int {
	if n.lines == nil {
		return p.room
	}
	l := n.lines[p.id]
	b := l.links[q]
	if b == nil {
		made := newBucket(3 * n.rate(p.id, q))
		b = &made
		l.links[q] = b
	}
	b.refill(n.now)
	l.total.refill(n.now)
	return int(min(b.tokens, l.total.tokens))
}

// carry sends a message over the lines of both ends, one after another.
func (p *peer) carry(e tails.Send) {
	size := lengthBytes + wire.Tails(e.Items).Size()
	from, to := p.lines[p.id], p.lines[e.To]
	p.roomOf(p, e.To)
	from.links[e.To].tokens -= float64(size)
	from.total.tokens -= float64(size)
	second := func(rate float64) time.Duration { return time.Duration(float64(size) / rate * float64(time.Second)) }
	from.up = max(from.up, p.now) + second(from.rate)
	at := from.up + p.delay
	to.down = max(to.down, at) + second(to.rate)
	p.flying = append(p.flying, flight{to.down.Truncate(time.Millisecond) + time.Millisecond, p.id, e.To, e.Items})
	to.bytes += size
	to.messages++
	for _, it := range e.Items {
		if len(it.Tails) > 0 {
			to.pushes++
		}
	}
}

// reached notes how long it took until a peer knew of the states of another.
func (l *line) reached(p *peer, e tails.Advanced) {
	if e.Origin == p.id {
		if l.made == nil {
			l.made = map[uint32]time.Duration{}
		}
		l.made[e.Number] = l.added
		return
	}
	for n := p.was[e.Origin] + 1; n <= e.Number; n++ {
		l.lag = append(l.lag, p.now-p.lines[e.Origin].made[n])
	}
	p.was[e.Origin] = e.Number
}

// networkOf links peers at random with lines of three kinds.
func networkOf(t testing.TB, peers, degree int, rates ...float64) *net {
	names := ""
	for i := range peers {
		names += fmt.Sprintf("p%03d ", i)
	}
	n := newNet(t, names)
	n.quiet, n.delay = true, 20*time.Millisecond
	n.lines = map[wire.PeerID]*line{}
	for i, id := range n.names {
		r := rates[i%len(rates)] / 8
		n.lines[id] = &line{rate: r, links: map[wire.PeerID]*bucket{}, total: newBucket(r)}
		n.peers[id].was = map[wire.PeerID]uint32{}
	}
	n.all(func(p, q *peer) { p.learn(q) })
	rng := rand.New(rand.NewPCG(7, uint64(peers)))
	for i, id := range n.names {
		for range degree / 2 {
			if j := rng.IntN(peers); j != i && !n.peers[id].links[n.names[j]] {
				n.link(id, n.names[j])
			}
		}
	}
	return n
}

// cost is what states cost those who learn of them, and how soon they do.
type cost struct {
	states, bytes, pushes, messages int
	lag                             []time.Duration
}

// count adds up what the lines of one kind, out of kinds, have carried since the last count.
func (n *net) count(kind, kinds int) (c cost) {
	for i, id := range n.names {
		if l := n.lines[id]; i%kinds == kind {
			c.states += len(l.lag)
			c.bytes += l.bytes
			c.pushes += l.pushes
			c.messages += l.messages
			c.lag = append(c.lag, l.lag...)
			l.lag, l.bytes, l.pushes, l.messages = nil, 0, 0, 0
		}
	}
	slices.Sort(c.lag)
	return c
}

func (c *cost) each(of int) float64 { return float64(of) / float64(c.states) }

// TestNetworkOfTails has 121 peers with lines of three kinds add a key a second each: each state reaches each peer once,
// at few bytes, and soon after the key was added.
func TestNetworkOfTails(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some ten seconds")
	}
	const seconds, begins = 24, 12
	const peers, degree = 121, 16
	rates := []float64{256_000, 2_000_000, 10_000_000}
	n := networkOf(t, peers, degree, rates...)
	rng := rand.New(rand.NewPCG(11, 1))
	n.run(2 * time.Second)
	type change struct { // a tail, and the first of its keys
		at, added time.Duration
		who, keys int
	}
	var changes []change
	for i := range n.names {
		pause := tails.Pause(rates[i%len(rates)]/8/3, degree, peers-1)
		at := n.now - pause
		for key := n.now + time.Duration(rng.Int64N(int64(time.Second))); key < n.now+seconds*time.Second; {
			c := change{at: max(key, at+pause), added: key, who: i}
			for ; key <= c.at; key += time.Second {
				c.keys++
			}
			changes, at = append(changes, c), c.at
		}
	}
	slices.SortFunc(changes, func(a, b change) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.who, b.who)) })
	steady, serial := n.now+begins*time.Second, 0
	for _, c := range changes {
		if steady > 0 && c.at >= steady { // all are fed now
			steady = 0
			for kind := range rates {
				began := n.count(kind, len(rates))
				t.Logf("line %d, first %d s: %.0f bytes a state", kind, begins, began.each(began.bytes))
				if began.each(began.bytes) > 140 {
					t.Error("wanted: 140 bytes while feeders are found")
				}
			}
		}
		n.run(c.at)
		n.lines[n.names[c.who]].added = c.added
		n.peers[n.names[c.who]].change(fps(serial, c.keys), nil)
		serial += c.keys
	}
	n.run(n.now + time.Second)
	for kind := range rates {
		c := n.count(kind, len(rates))
		p50, p99 := c.lag[len(c.lag)/2], c.lag[len(c.lag)*99/100]
		t.Logf("line %d: %.0f bytes, %.3f copies and %.2f messages a state; p50 %v, p99 %v", kind, c.each(c.bytes), c.each(c.pushes), c.each(c.messages), p50, p99)
		if c.each(c.bytes) > 12+120 || c.each(c.pushes) > 1.02 || p99 > 1500*time.Millisecond {
			t.Error("wanted: 132 bytes, one copy, a second and a half")
		}
	}
	n.run(n.now + 5*time.Second)
	n.all(func(p, q *peer) {
		a, _, _ := p.machine.State(q.id)
		b, _, _ := q.machine.State(q.id)
		if a != b {
			t.Errorf("%s knows state %d of %s, which is at %d", p.id, a, q.id, b)
		}
	})
	if len(n.reports) > 0 {
		t.Errorf("refused: %v", n.reports)
	}
}
