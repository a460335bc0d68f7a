package testnet

import (
	"context"
	"runtime"
	"sync/atomic"

	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"

	"github.com/venn-p2p/venn/node"
	"github.com/venn-p2p/venn/node/signed"
	"github.com/venn-p2p/venn/overlay/cache"
	"github.com/venn-p2p/venn/testnet/link"
	"github.com/venn-p2p/venn/testnet/runs"
	"github.com/venn-p2p/venn/testnet/scenario"
	"github.com/venn-p2p/venn/testnet/sim"
	"github.com/venn-p2p/venn/testnet/strategy"
)

// Network is the name under which the nodes of a testnet meet.
const Network = scenario.Network

const cacheBytes = 1 << 25 // bytes of decoded summaries that no node holds just now; all nodes share the cache

// member is one peer: its host, and its facts as known from outside.
type member struct {
	number int
	name   string
	class  int // index of its line's class
	host   host.Host
	line   *link.Line
	meter  *meter
	conns  connections
	keys   *keys
	node   *node.Node // nil: it runs no node
}

// openMember makes the host of the next member.
func (t *stage) openMember(at site) (*member, error) {
	m := &member{number: at.number, meter: newMeter(t.began)}
	var err error
	if m.host, m.line, err = t.wires.host(at, m.meter); err != nil {
		return nil, err
	}
	m.host.Network().Notify(&network.NotifyBundle{
		ConnectedF:    func(network.Network, network.Conn) { m.conns.begin() },
		DisconnectedF: func(network.Network, network.Conn) { m.conns.now.Add(-1) },
	})
	t.roster.add(m.host.ID(), at.number)
	t.members = append(t.members, m)
	return m, nil
}

// info returns the id and addresses of a member.
func (m *member) info() peer.AddrInfo { return *host.InfoFromHost(m.host) }

// numbers returns the numbers of peers, or stranger.
func (t *stage) numbers(of []peer.ID) (out []strategy.ID) {
	for _, p := range of {
		out = append(out, strategy.ID(t.roster.number(p)))
	}
	return out
}

// volume counts writes, and their bytes.
type volume struct{ messages, bytes uint64 }

func (v volume) plus(o volume) volume  { return volume{v.messages + o.messages, v.bytes + o.bytes} }
func (v volume) minus(o volume) volume { return volume{v.messages - o.messages, v.bytes - o.bytes} }

// sent adds up what all members have sent by the protocols that by accepts.
func (t *stage) sent(by func(protocol.ID) bool) (sum volume) {
	for id, v := range t.volumes() {
		if by(id) {
			sum = sum.plus(v)
		}
	}
	return sum
}

// volumes adds up what all members have sent, by protocol.
func (t *stage) volumes() map[protocol.ID]volume {
	sums := map[protocol.ID]volume{}
	for _, m := range t.members {
		for id, v := range m.meter.sent() {
			sums[id] = sums[id].plus(v)
		}
	}
	return sums
}

// each calls do for every member that has a node, at most atOnce at one time.
func (t *stage) each(atOnce int, do func(i int, m *member)) {
	runs.Parallel(len(t.members), atOnce, func(i int) {
		if m := t.members[i]; m.node != nil {
			do(i, m)
		}
	})
}

// closing is the number of peers closed at a time: a node mostly waits while its goodbye goes out.
var closing = 32 * runtime.GOMAXPROCS(0)

// closeNodes ends all nodes. Hosts are closed afterwards: a node that runs makes up for each link that it loses.
func (t *stage) closeNodes() {
	t.each(closing, func(_ int, m *member) { _ = m.node.Close() })
}

// nodeOptions returns the options of all nodes of a run.
func (c *Config) nodeOptions(peers int) []node.Option {
	options := []node.Option{node.WithSummaryShare(c.SummaryShare)}
	if !c.NoShare {
		options = append(options, sharing(peers)...)
	}
	if c.Connections > 0 {
		options = append(options, node.WithMaxConnections(c.Connections))
	}
	if c.Memory > 0 {
		options = append(options, node.WithMemory(c.Memory))
	}
	if c.Origins > 0 {
		options = append(options, node.WithOrigins(c.Origins))
	}
	return options
}

// sharing has the nodes of one process share decoded summaries and headers.
func sharing(peers int) []node.Option {
	return []node.Option{node.WithCaches(cache.New(cacheBytes), signed.NewCache(max(1<<12, 8*peers)))}
}

// similar lists the neighbours that the node chose by overlap.
func (m *member) similar(ctx context.Context) ([]peer.ID, error) {
	neighbours, err := m.node.Neighbours(ctx)
	var ids []peer.ID
	for _, n := range neighbours {
		if n.Kind == node.KindOverlap {
			ids = append(ids, n.Peer)
		}
	}
	return ids, err
}

// connections counts the connections of a host: open now, the most at one time, and ever opened.
type connections struct{ now, most, opened atomic.Int64 }

// bytes returns the bytes that this end sent to open its connections, as the simulator counts them.
func (c *connections) bytes() int64 { return sim.HandshakeBytes * c.opened.Load() }

// begin counts a connection.
func (c *connections) begin() {
	c.opened.Add(1)
	now := c.now.Add(1)
	for most := c.most.Load(); now > most && !c.most.CompareAndSwap(most, now); {
		most = c.most.Load()
	}
}
