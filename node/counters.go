package node

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	"github.com/prometheus/client_golang/prometheus"
)

// Traffic is what went over the streams of one protocol with one peer, in bytes, without the headers of the connection.
// Pubsub's are those of its RPCs with their lengths.
type Traffic struct {
	Peer           peer.ID
	Protocol       protocol.ID
	Sent, Received uint64
}

type trafficKey struct {
	peer     peer.ID
	protocol protocol.ID
}

// counters counts what the node refuses, drops, sends and receives. It is safe for concurrent use.
type counters struct {
	mu      sync.Mutex
	refused map[string]uint64 // by reason
	dropped map[string]uint64 // by queue
	traffic map[trafficKey]*Traffic
	totals  map[protocol.ID]*Traffic
}

func newCounters() *counters {
	return &counters{
		refused: make(map[string]uint64),
		dropped: make(map[string]uint64),
		traffic: make(map[trafficKey]*Traffic),
		totals:  make(map[protocol.ID]*Traffic),
	}
}

func (c *counters) refuse(reason string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.refused[reason]++
}

func (c *counters) drop(queue string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.dropped[queue]++
}

func (c *counters) count(p peer.ID, id protocol.ID, sent, received int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	k := trafficKey{p, id}
	if c.traffic[k] == nil {
		c.traffic[k] = &Traffic{Peer: p, Protocol: id}
	}
	if c.totals[id] == nil {
		c.totals[id] = &Traffic{Protocol: id}
	}
	for _, t := range []*Traffic{c.traffic[k], c.totals[id]} {
		t.Sent += uint64(sent)
		t.Received += uint64(received)
	}
}

// maxTrafficPeers bounds the peers whose traffic is told apart; what peers that left had is dropped beyond it.
const maxTrafficPeers = 4096

// forget drops the traffic of a peer that left, if there are too many.
func (c *counters) forget(p peer.ID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.traffic) > maxTrafficPeers {
		maps.DeleteFunc(c.traffic, func(k trafficKey, _ *Traffic) bool { return k.peer == p })
	}
}

// byPeer returns the traffic with every peer, in the order of their ids and protocols.
func (c *counters) byPeer() []Traffic {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := make([]Traffic, 0, len(c.traffic))
	for _, t := range c.traffic {
		out = append(out, *t)
	}
	slices.SortFunc(out, func(a, b Traffic) int {
		if d := strings.Compare(string(a.Peer), string(b.Peer)); d != 0 {
			return d
		}
		return strings.Compare(string(a.Protocol), string(b.Protocol))
	})
	return out
}

func (c *counters) maps() (refused, dropped map[string]uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.refused), maps.Clone(c.dropped)
}

// collector gives the counters, and the node's last status, to Prometheus.
type collector struct{ n *Node }

var (
	descRefused = prometheus.NewDesc("venn_refused_total", "Messages refused, by reason.", []string{"reason"}, nil)
	descDropped = prometheus.NewDesc("venn_dropped_total", "Messages dropped for a full queue, by queue.", []string{"queue"}, nil)
	descBytes   = prometheus.NewDesc("venn_stream_bytes_total", "Bytes on streams, by protocol and direction.", []string{"protocol", "direction"}, nil)
	descKeys    = prometheus.NewDesc("venn_keys", "Keys held.", nil, nil)
	descConns   = prometheus.NewDesc("venn_connections", "Peers connected.", nil, nil)
	descOrigins = prometheus.NewDesc("venn_origins", "Peers whose summary is held.", nil, nil)
	descParts   = prometheus.NewDesc("venn_parts_held", "Parts of others' summaries held.", nil, nil)
	descHeld    = prometheus.NewDesc("venn_summary_bytes_held", "Wire bytes of others' summaries held.", nil, nil)
	descEpochs  = prometheus.NewDesc("venn_epochs_published_total", "Own summaries published.", nil, nil)
	descDeltas  = prometheus.NewDesc("venn_deltas_total", "Newer epochs of others learned by deltas.", nil, nil)
	descDelta   = prometheus.NewDesc("venn_delta_bytes_total", "Bytes of these deltas, with headers.", nil, nil)
	descSpared  = prometheus.NewDesc("venn_delta_spared_bytes_total", "Bytes of the parts in whose place they came.", nil, nil)
	descFalls   = prometheus.NewDesc("venn_delta_fallbacks_total", "Newer epochs of peers known before that began with parts, for want of a delta.", nil, nil)
	descLearned = prometheus.NewDesc("venn_parts_bytes_total", "Bytes of parts learned, by the way they came.", []string{"way"}, nil)
	descIgnored = prometheus.NewDesc("venn_announcements_ignored_total", "Announcements not taken in for want of room.", nil, nil)
	descFalse   = prometheus.NewDesc("venn_expected_false_matches", "Expected false matches of a query.", nil, nil)
)

func (c collector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{descRefused, descDropped, descBytes, descKeys, descConns, descOrigins, descParts, descHeld, descFalse, descEpochs, descDeltas, descDelta, descSpared, descFalls, descLearned, descIgnored} {
		ch <- d
	}
}

func (c collector) Collect(ch chan<- prometheus.Metric) {
	refused, dropped := c.n.counters.maps()
	for reason, v := range refused {
		ch <- prometheus.MustNewConstMetric(descRefused, prometheus.CounterValue, float64(v), reason)
	}
	for queue, v := range dropped {
		ch <- prometheus.MustNewConstMetric(descDropped, prometheus.CounterValue, float64(v), queue)
	}
	for id, t := range c.n.counters.protocols() {
		ch <- prometheus.MustNewConstMetric(descBytes, prometheus.CounterValue, float64(t.Sent), string(id), "sent")
		ch <- prometheus.MustNewConstMetric(descBytes, prometheus.CounterValue, float64(t.Received), string(id), "received")
	}
	gauge := func(d *prometheus.Desc, v float64) { ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v) }
	gauge(descKeys, float64(c.n.keys.Len()))
	gauge(descConns, float64(len(c.n.host.Network().Peers())))
	if s := c.n.gauges.Load(); s != nil {
		gauge(descOrigins, float64(s.Origins))
		gauge(descParts, float64(s.PartsHeld))
		gauge(descHeld, float64(s.BytesHeld))
		gauge(descFalse, s.FalseMatches)
		total := func(d *prometheus.Desc, v int, labels ...string) {
			ch <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(v), labels...)
		}
		total(descEpochs, s.Epochs)
		total(descDeltas, s.Deltas)
		total(descDelta, s.DeltaBytes)
		total(descSpared, s.SparedBytes)
		total(descFalls, s.Fallbacks)
		total(descLearned, s.PubsubBytes, "pubsub")
		total(descLearned, s.DirectBytes, "direct")
		total(descIgnored, s.Ignored)
	}
}

func (c *counters) protocols() map[protocol.ID]Traffic {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := make(map[protocol.ID]Traffic, len(c.totals))
	for id, t := range c.totals {
		out[id] = *t
	}
	return out
}
