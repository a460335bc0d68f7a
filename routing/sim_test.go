package routing_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/routing"
	"github.com/venn-p2p/venn/routing/routinglab"
)

// class is what the link of a peer lets it know of the others.
type class struct {
	name string
	rate func(rng *rand.Rand) float64
}

// classes are those of a network with lines of 256 kbit/s, 2 Mbit/s and 10 Mbit/s. Of 120 others the slow know 90 by
// name only. The middling expect 1 to 5 false matches, the fast 0.1.
var classes = []class{
	{"slow", func(rng *rand.Rand) float64 {
		if rng.Float64() < 0.75 {
			return 1
		}
		return 0.02 * rng.Float64()
	}},
	{"middling", func(rng *rand.Rand) float64 { return 0.05 * rng.Float64() }},
	{"fast", func(rng *rand.Rand) float64 { return 0.0016 * rng.Float64() }},
}

// holders draws how many of 121 peers hold a key, as the chunks of Debian packages are spread over machines by role.
func holders(rng *rand.Rand) int {
	u := rng.Float64()
	for _, s := range []struct {
		share float64
		n     int
	}{
		{0.569, 1},
		{0.652, 2},
		{0.729, 3},
		{0.776, 4},
		{0.798, 5},
		{0.837, 6},
		{0.899, 8},
		{0.919, 10},
		{0.938, 15},
		{0.951, 20},
		{0.968, 30},
		{0.983, 50},
		{0.988, 80},
	} {
		if u < s.share {
			return s.n
		}
	}
	return 120
}

const simPeers = 121

// network makes 121 peers with the given number of keys, about eight links each way.
func network(seed uint64, keys int) (*routinglab.Net, []*routinglab.Node) {
	rng := rand.New(rand.NewPCG(seed, 7))
	net := routinglab.NewNet(seed, routing.Config{})
	nodes := make([]*routinglab.Node, simPeers)
	for i := range nodes {
		nodes[i] = net.Peer(wire.PeerID(fmt.Sprintf("p%03d", i)))
	}
	for i, n := range nodes {
		for j, other := range nodes {
			if i != j {
				n.Knows[other.ID] = classes[i%3].rate(rng)
			}
		}
		for range 4 {
			routinglab.Link(n, nodes[rng.IntN(simPeers)])
		}
	}
	for k := range keys {
		for _, i := range rng.Perm(simPeers)[:holders(rng)] {
			nodes[i].Holds[key(k)] = true
		}
	}
	return net, nodes
}

func key(k int) string { return fmt.Sprintf("key %d", k) }

// tally is what the queries of one class and mode cost and brought.
type tally struct {
	queries, held, found, answered, probes, wrong, messages int
	elapsed                                                 time.Duration
}

func (c tally) per(n int) float64 { return float64(n) / float64(c.queries) }

func (c tally) String() string {
	return fmt.Sprintf("%d queries: answered %.4f, holders found %.4f, probes %.2f (%.2f more than found), false %.3f, messages %.2f, mean %v",
		c.queries, c.per(c.answered), float64(c.found)/float64(c.held), c.per(c.probes), c.per(c.probes-c.found), c.per(c.wrong),
		c.per(c.messages), (c.elapsed / time.Duration(c.queries)).Round(time.Millisecond))
}

// ask lets every live node look for keys that it lacks and a live one holds, and tallies by class.
func ask(net *routinglab.Net, nodes []*routinglab.Node, mode wire.Mode, keys, each int, seed uint64) [3]tally {
	rng := rand.New(rand.NewPCG(seed, 8))
	var out [3]tally
	for i, n := range nodes {
		for id := range each {
			if n.Down {
				continue
			}
			k := key(rng.IntN(keys))
			for n.Holds[k] || live(nodes, k) == 0 {
				k = key(rng.IntN(keys))
			}
			held := live(nodes, k)
			search(net, n, routing.Query{ID: routing.QueryID(id), Key: []byte(k), Mode: mode})
			out[i%3].add(n.Done[len(n.Done)-1].Stats, held, mode)
		}
	}
	return out
}

// live is how many peers that can be reached hold a key.
func live(nodes []*routinglab.Node, key string) int {
	n := 0
	for _, m := range nodes {
		if m.Holds[key] && !m.Down {
			n++
		}
	}
	return n
}

func (c *tally) add(s routing.Stats, held int, mode wire.Mode) {
	if mode == wire.Any {
		held = min(held, 1)
	}
	c.queries++
	c.held += held
	c.found += s.Found
	if s.Found > 0 {
		c.answered++
	}
	c.probes += s.Probes
	c.wrong += s.FalseProbes
	c.messages += s.Messages
	c.elapsed += s.Elapsed
}

// TestNetworkOf121 holds the machine to its figures: recall 0.99 in every class, and at most 8 probes a query more than
// holders found. Peers that know nearly everything make at most 0.1 false probes.
func TestNetworkOf121(t *testing.T) {
	const keys, each = 2000, 30
	net, nodes := network(1, keys)
	for _, mode := range []wire.Mode{wire.Any, wire.All} {
		for c, got := range ask(net, nodes, mode, keys, each, 2) {
			t.Logf("%s, %-8s: %v", mode, classes[c].name, got)
			if recall := float64(got.found) / float64(got.held); recall < 0.99 {
				t.Errorf("%s, %s: recall %.4f", mode, classes[c].name, recall)
			}
			if more := got.per(got.probes - got.found); more > 8 {
				t.Errorf("%s, %s: %.2f probes a query more than holders found", mode, classes[c].name, more)
			}
			if wrong := got.per(got.wrong); classes[c].name == "fast" && wrong > 0.1 {
				t.Errorf("%s, %s: %.3f false probes a query", mode, classes[c].name, wrong)
			}
		}
	}
}

// TestWithFaults takes down every fourth peer without anybody's directory noticing, and lets every third of the others
// claim keys that it lacks. The records of the liars build up while queries run.
func TestWithFaults(t *testing.T) {
	const keys, each = 500, 15
	net, nodes := network(3, keys)
	for i, n := range nodes {
		n.Down = i%4 == 0
		for k := range keys {
			if i%4 != 0 && i%3 == 1 && k%3 == 0 {
				n.Claims[key(k)] = true
			}
		}
	}
	for _, mode := range []wire.Mode{wire.Any, wire.All} {
		for c, got := range ask(net, nodes, mode, keys, each, 4) {
			t.Logf("%s, %-8s: %v", mode, classes[c].name, got)
			if recall := float64(got.found) / float64(got.held); recall < 0.99 {
				t.Errorf("%s, %s: recall %.4f", mode, classes[c].name, recall)
			}
		}
	}
}
