package node

import (
	"maps"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/exchange"
	"github.com/venn-p2p/venn/routing"
)

// snapshot is the loop's state, as the metrics report it.
type snapshot struct {
	Status
	learned map[event.Transport]int // bytes of parts learned, by the way they came
	budgets exchange.Budgets
	own     int // bytes of the last summary of the node's own
}

// values holds a metric's values, by the values of its labels.
type values map[[2]string]float64

func one[N int | uint64 | float64](v N) values { return values{{}: float64(v)} }

// by returns counts as the values of a metric with one label.
func by[N int | uint64](counts map[string]N) values {
	out := make(values, len(counts))
	for label, v := range counts {
		out[[2]string{label}] = float64(v)
	}
	return out
}

// figure is a metric that is read off the node and its last snapshot.
type figure struct {
	kind   prometheus.ValueType
	name   string
	help   string
	labels []string
	of     func(*Node, *snapshot) values
}

const (
	total = prometheus.CounterValue
	gauge = prometheus.GaugeValue
)

func label(names ...string) []string { return names }

var figures = []figure{
	{gauge, "venn_keys", "Keys held.", nil, func(n *Node, _ *snapshot) values { return one(n.Len()) }},
	{gauge, "venn_fault", "1 while the key store fails, or the newest summary could not be made; else 0.", nil, func(_ *Node, s *snapshot) values { return one(min(len(s.Fault), 1)) }},
	{gauge, "venn_connections", "Peers connected.", nil, func(n *Node, _ *snapshot) values { return one(len(n.host.Network().Peers())) }},
	{gauge, "venn_connections_limit", "Peers connected at most.", nil, func(n *Node, _ *snapshot) values { return one(n.cfg.maxConnections) }},
	{gauge, "venn_links", "Peers that hello was said with.", nil, func(_ *Node, s *snapshot) values { return one(s.Links) }},
	{gauge, "venn_queue_length", "What waits for the loop, or in outbox and catalogues for pubsub, by queue; requests are the streams that peers have open.", label("queue"), queueLengths},
	{gauge, "venn_queue_bytes", "Bytes of pubsub's messages that wait for the loop.", nil, func(n *Node, _ *snapshot) values { _, bytes := n.in.Waiting(); return one(bytes) }},
	{total, "venn_refused_total", "Messages refused, by reason.", label("reason"), func(n *Node, _ *snapshot) values { refused, _ := n.counters.Maps(); return by(refused) }},
	{total, "venn_dropped_total", "Messages dropped for a full queue, by queue.", label("queue"), func(n *Node, _ *snapshot) values { _, dropped := n.counters.Maps(); return by(dropped) }},
	{total, "venn_stream_bytes_total", "Bytes on streams, by protocol and direction.", label("protocol", "direction"), streamBytes},
	{gauge, "venn_origins", "Peers whose summary is held.", nil, func(_ *Node, s *snapshot) values { return one(s.Origins) }},
	{gauge, "venn_origins_unrotated", "Of these, peers known only under the previous seed.", nil, func(_ *Node, s *snapshot) values { return one(s.Unrotated) }},
	{gauge, "venn_parts_held", "Parts of others' summaries held.", nil, func(_ *Node, s *snapshot) values { return one(s.PartsHeld) }},
	{gauge, "venn_summary_bytes_held", "Wire bytes of others' summaries held.", nil, func(_ *Node, s *snapshot) values { return one(s.BytesHeld) }},
	{gauge, "venn_summary_bytes_limit", "Budget for others' summaries, in bytes; 0: that of package overlay.", nil, func(n *Node, _ *snapshot) values { return one(n.cfg.overlay.Memory) }},
	{gauge, "venn_expected_false_matches", "Expected false matches of a query.", nil, func(_ *Node, s *snapshot) values { return one(s.FalseMatches) }},
	{total, "venn_announcements_ignored_total", "Announcements not taken in for want of room.", nil, func(_ *Node, s *snapshot) values { return one(s.Ignored) }},
	{total, "venn_epochs_total", "Summaries of the node's own that were published.", nil, func(_ *Node, s *snapshot) values { return one(s.Epochs) }},
	{gauge, "venn_own_summary_bytes", "Bytes of the last summary of the node's own.", nil, func(_ *Node, s *snapshot) values { return one(s.own) }},
	{total, "venn_learned_bytes_total", "Bytes of parts of others' summaries that were new, by the way they came.", label("way"), func(_ *Node, s *snapshot) values {
		return by(map[string]int{
			"pubsub": s.learned[event.Pubsub], "direct": s.learned[event.Direct], "delta": s.SparedBytes,
		})
	}},
	{total, "venn_deltas_total", "Newer epochs of others learned by deltas.", nil, func(_ *Node, s *snapshot) values { return one(s.Deltas) }},
	{total, "venn_delta_bytes_total", "Bytes of deltas that came in place of parts.", nil, func(_ *Node, s *snapshot) values { return one(s.DeltaBytes) }},
	{total, "venn_delta_fallbacks_total", "Newer epochs of peers known before that began with parts, for want of a delta.", nil, func(_ *Node, s *snapshot) values { return one(s.Fallbacks) }},
	{total, "venn_budget_used_bytes_total", "Bytes that counted against the budgets for summaries, with pubsub's control messages.", label("direction"), func(_ *Node, s *snapshot) values {
		return by(map[string]uint64{"sent": s.BudgetSent, "received": s.BudgetReceived})
	}},
	{gauge, "venn_budget_bytes_per_second", "What may be sent and received of summaries, by whose budget it is: the line's, or all links'.", label("of", "direction"), budgetRates},
}

func queueLengths(n *Node, _ *snapshot) values {
	partials, _ := n.in.Waiting()
	return by(map[string]int{
		"requests": n.streams.Admit.Held(), "results": len(n.in.Results), "partials": partials,
		"outbox": n.mesh.Waiting(), "catalogues": n.mesh.Catalogues(),
	})
}

func streamBytes(n *Node, _ *snapshot) values {
	out := make(values)
	for id, t := range n.counters.Protocols() {
		out[[2]string{string(id), "sent"}], out[[2]string{string(id), "received"}] = float64(t.Sent), float64(t.Received)
	}
	return out
}

// budgetRates returns the bytes a second that may be sent and received: by the line, and by all links together.
func budgetRates(_ *Node, s *snapshot) values {
	out := values{{"line", "sent"}: s.budgets.LineOut, {"line", "received"}: s.budgets.LineIn}
	for _, l := range s.budgets.Links {
		out[[2]string{"links", "sent"}] += l.Out
		out[[2]string{"links", "received"}] += l.In
	}
	return out
}

// metrics counts queries and the use of links' budgets, which no Status has. It is safe for concurrent use.
type metrics struct {
	queries, asked *prometheus.CounterVec
	messages       prometheus.Counter
	seconds, spent prometheus.Histogram
}

func newMetrics() *metrics {
	return &metrics{
		queries: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "venn_queries_total", Help: "Own queries that ended, by how.",
		}, label("end")),
		asked: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "venn_query_asked_total", Help: "Peers asked by own queries, by why they were and what came of it.",
		}, label("why", "result")),
		messages: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "venn_query_messages_total", Help: "Messages that own queries cost, here and elsewhere.",
		}),
		seconds: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "venn_query_seconds", Help: "Time of own queries.", Buckets: prometheus.ExponentialBuckets(0.001, 2, 15),
		}),
		spent: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "venn_link_budget_spent_ratio", Help: "Share of what a link may send at once that is used up, of every link each second.",
			Buckets: prometheus.LinearBuckets(0.1, 0.1, 10),
		}),
	}
}

func (m *metrics) collectors() []prometheus.Collector {
	return []prometheus.Collector{m.queries, m.seconds, m.messages, m.asked, m.spent}
}

// ended counts an own query that is over.
func (m *metrics) ended(s routing.Stats) {
	m.queries.WithLabelValues(s.End.String()).Inc()
	m.seconds.Observe(s.Elapsed.Seconds())
	m.messages.Add(float64(s.Messages))
	for _, r := range s.Explain {
		m.asked.WithLabelValues(r.Why.String(), r.Result.String()).Inc()
	}
}

// snap keeps a snapshot for the metrics.
func (l *loop) snap() {
	s := snapshot{Status: l.status(), learned: maps.Clone(l.learned), budgets: l.core.Overlay.Budgets(l.n.now()), own: l.publisher.bytes}
	l.n.snapshot.Store(&s)
	for _, link := range s.budgets.Links {
		l.n.metrics.spent.Observe(link.Spent)
	}
}

// collector gives the metrics to Prometheus.
type collector struct{ n *Node }

func (f figure) desc() *prometheus.Desc { return prometheus.NewDesc(f.name, f.help, f.labels, nil) }

func (c collector) Describe(ch chan<- *prometheus.Desc) {
	for _, f := range figures {
		ch <- f.desc()
	}
	for _, m := range c.n.metrics.collectors() {
		m.Describe(ch)
	}
}

func (c collector) Collect(ch chan<- prometheus.Metric) {
	s := c.n.snapshot.Load()
	if s == nil {
		s = new(snapshot)
	}
	for _, f := range figures {
		for labels, v := range f.of(c.n, s) {
			ch <- prometheus.MustNewConstMetric(f.desc(), f.kind, v, labels[:len(f.labels)]...)
		}
	}
	for _, m := range c.n.metrics.collectors() {
		m.Collect(ch)
	}
}
