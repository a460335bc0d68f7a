package testnet

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/venn-p2p/venn/node"
	"github.com/venn-p2p/venn/overlay"
)

// Network is the name under which the nodes of a testnet meet.
const Network = "testnet"

// member is one peer of the testnet: a node on its host, and what is known of it from outside.
type member struct {
	number int
	name   string
	class  int // of its link
	host   host.Host
	meter  *meter
	conns  connCounter
	keys   *collection
	node   *node.Node
}

// start starts the node of a member, which knows its collection, its link and where to begin.
func (m *member) start(c *Config, rate uint64, keys *collection, shared []node.Option, random uint64, begin []peer.AddrInfo) error {
	options := append([]node.Option{
		node.WithNetwork(Network, 0),
		node.WithBandwidth(rate, rate),
		node.WithSummaryShare(c.SummaryShare),
		node.WithKeys(keys),
		node.WithRandomness(random),
		node.WithBootstrap(begin...),
	}, shared...)
	if c.Connections > 0 {
		options = append(options, node.WithMaxConnections(c.Connections))
	}
	if c.Memory > 0 {
		options = append(options, node.WithMemory(c.Memory))
	}
	if c.Origins > 0 {
		options = append(options, node.WithOrigins(c.Origins))
	}
	m.keys = keys
	var err error
	if m.node, err = node.New(m.host, options...); err != nil {
		return fmt.Errorf("testnet: peer %s: %w", m.name, err)
	}
	return nil
}

// closeNode closes the node, if there is one.
func (m *member) closeNode() {
	if m.node != nil {
		_ = m.node.Close()
	}
}

// find asks the node for one holder of the key or for all of them, and waits until the query is over.
func (m *member) find(ctx context.Context, key []byte, all bool, timeout time.Duration) (found []peer.ID, stats node.QueryStats, err error) {
	results, err := m.node.Query(ctx, key, node.QueryOptions{All: all, Timeout: timeout})
	if err != nil {
		return nil, stats, err
	}
	for info := range results.Providers() {
		found = append(found, info.ID)
	}
	stats, err = results.Stats()
	return found, stats, err
}

// similar lists the neighbours that the node chose by overlap.
func (m *member) similar(ctx context.Context) ([]peer.ID, error) {
	neighbours, err := m.node.Neighbours(ctx)
	var ids []peer.ID
	for _, n := range neighbours {
		if n.Kind == overlay.Similar.String() {
			ids = append(ids, n.Peer)
		}
	}
	return ids, err
}

// beginnings draws two peers before number i for it to begin from; the first peers have fewer before them.
func beginnings(all []peer.AddrInfo, i int, rng *rand.Rand) []peer.AddrInfo {
	var begin []peer.AddrInfo
	for _, j := range rng.Perm(i)[:min(i, 2)] {
		begin = append(begin, all[j])
	}
	return begin
}

// connCounter is a network.Notifiee that keeps the largest number of connections that a host had at one time.
type connCounter struct{ now, most atomic.Int64 }

// Connected counts a connection.
func (c *connCounter) Connected(network.Network, network.Conn) {
	now := c.now.Add(1)
	for most := c.most.Load(); now > most && !c.most.CompareAndSwap(most, now); {
		most = c.most.Load()
	}
}

// Disconnected counts the end of a connection.
func (c *connCounter) Disconnected(network.Network, network.Conn) { c.now.Add(-1) }

// Listen does nothing.
func (c *connCounter) Listen(network.Network, ma.Multiaddr) {}

// ListenClose does nothing.
func (c *connCounter) ListenClose(network.Network, ma.Multiaddr) {}
