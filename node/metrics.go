package node

import (
	"maps"
	"slices"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/venn-p2p/venn/overlay"
	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/routing"
)

// metrics counts what the loop and the events report. It is safe for concurrent use.
type metrics struct {
	queries  *prometheus.CounterVec
	seconds  prometheus.Histogram
	messages prometheus.Counter
	asked    *prometheus.CounterVec
	learned  *prometheus.CounterVec
	deltas   prometheus.Counter
	saved    prometheus.Counter
	falls    prometheus.Counter
	epochs   prometheus.Counter
	own      prometheus.Gauge
	links    prometheus.Gauge
	rates    *prometheus.GaugeVec
	spent    prometheus.Histogram
}

func newMetrics() *metrics {
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
	}
	counters := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	gauge := func(name, help string) prometheus.Gauge {
		return prometheus.NewGauge(prometheus.GaugeOpts{Name: name, Help: help})
	}
	return &metrics{
		queries: counters("venn_queries_total", "Own queries that ended, by how.", "end"),
		seconds: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "venn_query_seconds", Help: "Time of own queries.", Buckets: prometheus.ExponentialBuckets(0.001, 2, 15),
		}),
		messages: counter("venn_query_messages_total", "Messages that own queries cost, here and elsewhere."),
		asked:    counters("venn_query_asked_total", "Peers asked by own queries, by why they were and what came of it.", "why", "result"),
		learned:  counters("venn_learned_bytes_total", "Bytes of parts of others' summaries that were new, by the way they came.", "way"),
		deltas:   counter("venn_deltas_total", "Newer epochs of others learned by deltas."),
		falls:    counter("venn_delta_fallbacks_total", "Newer epochs of peers known before that began with parts, for want of a delta."),
		saved:    counter("venn_delta_bytes_total", "Bytes of deltas that came in place of parts."),
		epochs:   counter("venn_epochs_total", "Summaries of the node's own that were published."),
		own:      gauge("venn_own_summary_bytes", "Bytes of the last summary of the node's own."),
		links:    gauge("venn_links", "Peers that hello was said with."),
		rates: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "venn_budget_bytes_per_second", Help: "What may be sent and received of summaries, by whose budget it is: the line's, or all links'.",
		}, []string{"of", "direction"}),
		spent: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "venn_link_budget_spent_ratio", Help: "Share of what a link may send at once that is used up, of every link each second.",
			Buckets: prometheus.LinearBuckets(0.1, 0.1, 10),
		}),
	}
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

func (m *metrics) took(e event.Learned) {
	way := map[event.Transport]string{event.Pubsub: "pubsub", event.Direct: "direct", event.Message: "message"}[e.Transport]
	if e.Delta > 0 {
		way = "delta"
		m.deltas.Inc()
	}
	if e.Fallback {
		m.falls.Inc()
	}
	m.learned.WithLabelValues(way).Add(float64(e.Bytes))
	m.saved.Add(float64(e.Delta))
}

func (m *metrics) event(ev any) {
	switch ev := ev.(type) {
	case EvtSummaryPublished:
		m.epochs.Inc()
		m.own.Set(float64(ev.Bytes))
	case EvtLinkOpened:
		m.links.Inc()
	case EvtLinkClosed:
		m.links.Dec()
	}
}

// budgets records the rates of the line and of links.
func (m *metrics) budgets(b overlay.Budgets) {
	var out, in float64
	for _, l := range b.Links {
		out += l.Out
		in += l.In
		m.spent.Observe(l.Spent)
	}
	m.rates.WithLabelValues("line", "sent").Set(b.LineOut)
	m.rates.WithLabelValues("line", "received").Set(b.LineIn)
	m.rates.WithLabelValues("links", "sent").Set(out)
	m.rates.WithLabelValues("links", "received").Set(in)
}

func (m *metrics) collectors() []prometheus.Collector {
	return []prometheus.Collector{m.queries, m.seconds, m.messages, m.asked, m.learned, m.deltas, m.saved, m.falls, m.epochs, m.own, m.links, m.rates, m.spent}
}

// collector gives the metrics, the counters and the node's last status to Prometheus.
type collector struct{ n *Node }

var (
	descRefused = prometheus.NewDesc("venn_refused_total", "Messages refused, by reason.", []string{"reason"}, nil)
	descDropped = prometheus.NewDesc("venn_dropped_total", "Messages dropped for a full queue, by queue.", []string{"queue"}, nil)
	descQueue   = prometheus.NewDesc("venn_queue_length", "What waits for the loop, or in outbox and catalogues for pubsub, by queue; requests are the streams that peers have open.", []string{"queue"}, nil)
	descWaiting = prometheus.NewDesc("venn_queue_bytes", "Bytes of pubsub's messages that wait for the loop.", nil, nil)
	descBytes   = prometheus.NewDesc("venn_stream_bytes_total", "Bytes on streams, by protocol and direction.", []string{"protocol", "direction"}, nil)
	descKeys    = prometheus.NewDesc("venn_keys", "Keys held.", nil, nil)
	descFault   = prometheus.NewDesc("venn_fault", "1 while the key store fails, else 0.", nil, nil)
	descConns   = prometheus.NewDesc("venn_connections", "Peers connected.", nil, nil)
	descMost    = prometheus.NewDesc("venn_connections_limit", "Peers connected at most.", nil, nil)
	descOrigins = prometheus.NewDesc("venn_origins", "Peers whose summary is held.", nil, nil)
	descOld     = prometheus.NewDesc("venn_origins_unrotated", "Of these, peers known only under the previous seed.", nil, nil)
	descParts   = prometheus.NewDesc("venn_parts_held", "Parts of others' summaries held.", nil, nil)
	descHeld    = prometheus.NewDesc("venn_summary_bytes_held", "Wire bytes of others' summaries held.", nil, nil)
	descMemory  = prometheus.NewDesc("venn_summary_bytes_limit", "Budget for others' summaries, in bytes; 0: that of package overlay.", nil, nil)
	descIgnored = prometheus.NewDesc("venn_announcements_ignored_total", "Announcements not taken in for want of room.", nil, nil)
	descBudget  = prometheus.NewDesc("venn_budget_used_bytes_total", "Bytes that counted against the budgets for summaries, with pubsub's control messages.", []string{"direction"}, nil)
	descFalse   = prometheus.NewDesc("venn_expected_false_matches", "Expected false matches of a query.", nil, nil)
)

func (c collector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		descRefused, descDropped, descQueue, descWaiting, descBytes, descKeys, descFault, descConns, descMost, descOrigins, descOld, descParts, descHeld,
		descMemory, descFalse, descIgnored,
	} {
		ch <- d
	}
	ch <- descBudget
	for _, m := range c.n.metrics.collectors() {
		m.Describe(ch)
	}
}

func (c collector) Collect(ch chan<- prometheus.Metric) {
	c.counted(ch)
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	in := c.n.in
	gauge(descQueue, float64(c.n.streams.Admit.Held()), "requests")
	gauge(descQueue, float64(len(in.Results)), "results")
	partials, bytes := in.Waiting()
	gauge(descQueue, float64(partials), "partials")
	gauge(descQueue, float64(c.n.mesh.Waiting()), "outbox")
	gauge(descQueue, float64(c.n.mesh.Catalogues()), "catalogues")
	gauge(descWaiting, float64(bytes))
	gauge(descKeys, float64(c.n.Len()))
	failing := 0.0
	if c.n.fault() != nil {
		failing = 1
	}
	gauge(descFault, failing)
	gauge(descConns, float64(len(c.n.host.Network().Peers())))
	gauge(descMost, float64(c.n.cfg.maxConnections))
	gauge(descMemory, float64(c.n.cfg.memory))
	if s := c.n.gauges.Load(); s != nil {
		gauge(descOrigins, float64(s.Origins))
		gauge(descOld, float64(s.Unrotated))
		gauge(descParts, float64(s.PartsHeld))
		gauge(descHeld, float64(s.BytesHeld))
		gauge(descFalse, s.FalseMatches)
		count := func(d *prometheus.Desc, v float64, labels ...string) {
			ch <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, v, labels...)
		}
		count(descIgnored, float64(s.Ignored))
		count(descBudget, float64(s.BudgetSent), "sent")
		count(descBudget, float64(s.BudgetReceived), "received")
	}
	for _, m := range c.n.metrics.collectors() {
		m.Collect(ch)
	}
}

// counted gives the counters.
func (c collector) counted(ch chan<- prometheus.Metric) {
	counter := func(d *prometheus.Desc, v uint64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(v), labels...)
	}
	refused, dropped := c.n.counters.Maps()
	for reason, v := range refused {
		counter(descRefused, v, reason)
	}
	for queue, v := range dropped {
		counter(descDropped, v, queue)
	}
	totals := c.n.counters.Protocols()
	for _, id := range slices.Sorted(maps.Keys(totals)) {
		counter(descBytes, totals[id].Sent, string(id), "sent")
		counter(descBytes, totals[id].Received, string(id), "received")
	}
}
