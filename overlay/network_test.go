package overlay_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay"
	"github.com/venn-p2p/venn/overlay/cache"
	"github.com/venn-p2p/venn/overlay/exchange"
	"github.com/venn-p2p/venn/overlay/overlaylab"
	"github.com/venn-p2p/venn/overlay/wire"
)

const (
	slow   = 256_000
	medium = 2_000_000
	fast   = 10_000_000
)

// shared is the cache of networks of many peers.
var shared = cache.New(1 << 24)

// build connects peers of the given line rates at random. Each has n keys, half of them shared by all.
func build(t testing.TB, rates []uint64, n int, seed uint64) *overlaylab.Network {
	t.Helper()
	var configs []overlay.Config
	for _, r := range rates {
		configs = append(configs, overlay.Config{Up: r, Down: r})
	}
	net, err := overlaylab.New(configs, seed)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(seed, 99))
	for i := range rates {
		net.Publish(i, overlaylab.Fingerprints(n, n/2, uint64(i)))
		for range min(i, 2) {
			net.Connect(i, rng.IntN(i))
		}
	}
	return net
}

func mixed(n int) []uint64 {
	rates := make([]uint64, n)
	for i := range rates {
		rates[i] = []uint64{slow, medium, fast}[i%3]
	}
	return rates
}

// TestRecords: all records are read, a few entries at a time.
func TestRecords(t *testing.T) {
	net := build(t, mixed(30), 200, 1)
	net.Run(25 * time.Second)
	o := net.Peers[0].Overlay
	var want, got []wire.PeerID
	for _, d := range o.Directory() {
		want = append(want, d.Peer)
	}
	for from, more := 0, true; more; more = from > 0 {
		var some []wire.Record
		if some, from = o.Records(from, 4); len(some) > 4 {
			t.Fatalf("%d records of 4 entries", len(some))
		}
		for _, r := range some {
			got = append(got, r.Peer)
		}
	}
	if len(got) != 29 || !slices.Equal(got, want) {
		t.Errorf("records of %v, want %v", got, want)
	}
}

func TestEverybodyLearnsEverySample(t *testing.T) {
	net := build(t, mixed(30), 20000, 1)
	net.Run(25 * time.Second)
	for i, p := range net.Peers {
		if got := p.Overlay.Origins(); got != 29 {
			t.Errorf("peer %d knows %d of 29 peers", i, got)
		}
		if len(p.Faults) > 0 {
			t.Errorf("peer %d reported %v of honest peers", i, p.Faults)
		}
	}
	// A peer with more bandwidth knows more.
	var f [3]float64
	for i, p := range net.Peers {
		f[i%3] += p.Overlay.FalseMatches() / 10
	}
	if f[2] > 0.1 || f[0] < f[1] || f[1] < f[2] {
		t.Errorf("expected false matches by class are %.2f, want falling, the last at most 0.1", f)
	}
}

// Every link and every line stays within rate × time + burst, at every instant, also while everything changes.
func TestBudgets(t *testing.T) {
	rates := mixed(24)
	net := build(t, rates, 20000, 5)
	links, lines := map[[2]int]*meter{}, map[int]*meter{}
	net.Sent = func(now time.Duration, from, to, bytes int) {
		k := [2]int{from, to}
		if links[k] == nil {
			links[k] = &meter{rate: exchange.LinkRate(rates[from], rates[to], 1.0/3)}
		}
		if lines[from] == nil {
			lines[from] = &meter{rate: exchange.LinkRate(rates[from], 0, 1.0/3)}
		}
		links[k].add(now, bytes)
		lines[from].add(now, bytes)
	}
	net.Run(40 * time.Second)
	churn(t, net, 20000, 1)
	if deltas, _, _, _ := sums(net); deltas == 0 {
		t.Error("no deltas")
	}
	for k, m := range links {
		if over := m.worst - exchange.Burst(m.rate); over > 0 {
			t.Errorf("link %v sent %.0f bytes more than its budget of %.0f B/s", k, over, m.rate)
		}
	}
	for i, m := range lines {
		if over := m.worst - exchange.Burst(m.rate); over > 0 {
			t.Errorf("peer %d sent %.0f bytes more than its line's budget of %.0f B/s", i, over, m.rate)
		}
	}
}

// meter is a leaky bucket that remembers how full it was.
type meter struct {
	rate, level, worst float64
	last               time.Duration
}

func (m *meter) add(now time.Duration, bytes int) {
	m.level = max(0, m.level-m.rate*(now-m.last).Seconds()) + float64(bytes)
	m.last = now
	m.worst = max(m.worst, m.level)
}

// A neighbour that announces and never delivers is not asked for ever.
func TestSilentNeighbour(t *testing.T) {
	net := build(t, mixed(20), 2000, 3)
	for i := range 3 {
		net.Peers[5*i+2].Silent = true
	}
	net.Run(50 * time.Second)
	for i, p := range net.Peers {
		want := 19 - 3 // nobody but themselves sends what silent peers hold
		if p.Silent {
			want++
		}
		if got := p.Overlay.Origins(); got < want {
			t.Errorf("peer %d knows %d peers, want at least %d", i, got, want)
		}
	}
}

// The old epoch answers until the new one is as deep, and then the new one does.
func TestEpochChange(t *testing.T) {
	net := build(t, mixed(6), 5000, 4)
	net.Run(30 * time.Second)
	kept := overlaylab.Fingerprints(5000, 2500, 0)[0]
	fresh := overlaylab.Fingerprints(5200, 2500, 77)
	fresh[0] = kept
	net.Publish(0, fresh)
	p, id := net.Peers[3], net.Peers[0].ID
	before, _ := p.Overlay.Held(id)
	for at := 31 * time.Second; at < 70*time.Second; at += time.Second {
		net.Run(at)
		held, ok := p.Overlay.Held(id)
		if !ok || !held.Contains(kept) {
			t.Fatalf("after %v a key of both epochs is not found", at)
		}
		if held.FalsePositiveRate() > 1.1*before.FalsePositiveRate() {
			t.Fatalf("after %v the rate is %v, was %v", at, held.FalsePositiveRate(), before.FalsePositiveRate())
		}
	}
	if held, _ := p.Overlay.Held(id); held.Header().Epoch.Sequence != 2 {
		t.Errorf("the epoch held at the end is %v", held.Header().Epoch)
	}
}

// meshed is a network of peers of one configuration, each linked with two before it, and with keys of its own and shared
// ones.
func meshed(t *testing.T, n int, cfg overlay.Config, keys, shared int) *overlaylab.Network {
	t.Helper()
	configs := slices.Repeat([]overlay.Config{cfg}, n)
	net, err := overlaylab.New(configs, 6)
	if err != nil {
		t.Fatal(err)
	}
	for i := range configs {
		net.Publish(i, overlaylab.Fingerprints(keys, shared, uint64(i)))
		net.Connect(i, max(0, i-1))
		net.Connect(i, i/2)
	}
	return net
}

// Memory holds, also with bases: they go first, and samples last.
func TestMemoryLimit(t *testing.T) {
	for _, c := range []struct{ peers, limit, keys, shared, rounds int }{{12, 300_000, 20_000, 10_000, 0}, {8, 120_000, 3000, 0, 3}} {
		net := meshed(t, c.peers, overlay.Config{Up: fast, Down: fast, Memory: c.limit}, c.keys, c.shared)
		net.Run(40 * time.Second)
		churn(t, net, c.keys, c.rounds)
		for i, p := range net.Peers {
			if got := p.Overlay.Memory(); got > c.limit {
				t.Errorf("%+v: peer %d holds %d bytes", c, i, got)
			}
			if p.Overlay.Origins() != c.peers-1 {
				t.Errorf("%+v: peer %d knows %d peers", c, i, p.Overlay.Origins())
			}
		}
	}
}

// A peer with a limit knows that many peers, and those that it is linked with.
func TestOriginsLimit(t *testing.T) {
	const limit = 5
	net := meshed(t, 20, overlay.Config{Up: fast, Down: fast, MaxOrigins: limit}, 500, 250)
	net.Run(30 * time.Second)
	for i, p := range net.Peers {
		if got, most := p.Overlay.Origins(), limit+len(p.Overlay.Linked()); got < limit || got > most {
			t.Errorf("peer %d knows %d peers, want %d to %d", i, got, limit, most)
		}
	}
}
