package testnet

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/metrics"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"

	"github.com/venn-p2p/venn/node"
	"github.com/venn-p2p/venn/overlay/wire"
)

// The window over which a link's use of its budget is judged, and the grain at which bytes are counted.
const (
	window  = 5 * time.Second
	grain   = 250 * time.Millisecond
	buckets = int(window / grain)
)

// carriesSummaries reports whether the bytes of a protocol count against a link's budget for summaries. Pubsub with all
// its control messages, tails, and parts fetched from a peer count. Hellos, confirmations and queries don't.
func carriesSummaries(id protocol.ID) bool {
	return strings.HasPrefix(string(id), "/venn/meshsub/") || is(id, node.PartsID, node.TailsID)
}

// is reports whether a protocol is one of the nodes' protocols with the given names.
func is(id protocol.ID, names ...protocol.ID) bool {
	return slices.Contains(names, protocolName(id))
}

// protocolName returns the name of the nodes' protocol that has this id on the wire, and any other id unchanged.
func protocolName(id protocol.ID) protocol.ID {
	for _, name := range []protocol.ID{node.HelloID, node.HaveID, node.QueryID, node.PartsID, node.PeersID, node.TailsID, node.JoinID} {
		if id == protocolID(name) {
			return name
		}
	}
	return id
}

// protocolID returns the id on the wire of a protocol of nodes.
func protocolID(name protocol.ID) protocol.ID { return wire.ProtocolIn(Network, name) }

// meter counts what a host sends. It is the host's metrics.Reporter, so that it sees every byte of every stream; bytes
// are counted once, by their sender. It is safe for concurrent use.
type meter struct {
	metrics.Reporter // nil: libp2p calls only the methods below
	start            time.Time

	mu        sync.Mutex
	protocols map[protocol.ID]volume // sent; a write counts as a message
	lines     map[peer.ID]*line      // lines by receiver, with the bytes of summaries
}

func newMeter(start time.Time) *meter {
	return &meter{start: start, protocols: make(map[protocol.ID]volume), lines: make(map[peer.ID]*line)}
}

// LogSentMessageStream counts n bytes written.
func (m *meter) LogSentMessageStream(n int64, id protocol.ID, to peer.ID) {
	id = protocolName(id)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.protocols[id] = m.protocols[id].plus(volume{1, uint64(n)})
	if !carriesSummaries(id) {
		return
	}
	if m.lines[to] == nil {
		m.lines[to] = &line{}
	}
	m.lines[to].add(int(time.Since(m.start)/grain), uint64(n))
}

// LogSentMessage does nothing: every byte is counted with its stream.
func (m *meter) LogSentMessage(int64) {}

// LogRecvMessage does nothing: bytes are counted where they are sent.
func (m *meter) LogRecvMessage(int64) {}

// LogRecvMessageStream does nothing: bytes are counted where they are sent.
func (m *meter) LogRecvMessageStream(int64, protocol.ID, peer.ID) {}

// sent returns the writes so far and their bytes, by protocol. It gives the nodes' protocols by name.
func (m *meter) sent() map[protocol.ID]volume {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.protocols)
}

// worst returns, by receiver, the most bytes of summaries that were sent in any window.
func (m *meter) worst() map[peer.ID]uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	worst := make(map[peer.ID]uint64, len(m.lines))
	for to, l := range m.lines {
		worst[to] = l.worst
	}
	return worst
}

// marked counts what a line has carried since the meter's mark.
type marked struct{ bytes, worst uint64 }

// mark resets the counts that marked returns.
func (m *meter) mark() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, l := range m.lines {
		l.since = marked{}
	}
}

// marked returns, by receiver, the bytes of summaries since the mark, and the most in any window that ended since.
func (m *meter) marked() map[peer.ID]marked {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := make(map[peer.ID]marked, len(m.lines))
	for to, l := range m.lines {
		all[to] = l.since
	}
	return all
}

// line counts bytes in one direction between two peers, and remembers the worst window. It needs the memory of a
// window, however long it runs.
type line struct {
	ring  [buckets]uint64
	last  int // bucket of the latest bytes
	sum   uint64
	worst uint64
	since marked
}

// add counts n bytes in a bucket, which must not be earlier than the bucket of the call before.
func (l *line) add(bucket int, n uint64) {
	if bucket-l.last >= buckets {
		l.ring, l.sum = [buckets]uint64{}, 0
	} else {
		for b := l.last + 1; b <= bucket; b++ {
			l.sum -= l.ring[b%buckets]
			l.ring[b%buckets] = 0
		}
	}
	l.last = bucket
	l.ring[bucket%buckets] += n
	l.sum += n
	l.worst = max(l.worst, l.sum)
	l.since.bytes += n
	l.since.worst = max(l.since.worst, l.sum)
}
