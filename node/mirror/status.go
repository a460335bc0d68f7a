package mirror

import (
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/venn-p2p/venn/node/httpapi"
)

// maxRecent caps the fetches in Status: the last ones.
const maxRecent = 32

// flow is a source or a destination of bytes of content.
type flow int

const (
	fromCache flow = iota
	fromPeers
	fromOrigin
	toPeers
	toClients
	flows
)

// metrics are a mirror's counts.
type metrics struct {
	registry           *prometheus.Registry // exports all of them
	bytes              [flows]atomic.Int64
	requests, failures *prometheus.CounterVec
	seconds, lookup    prometheus.Histogram

	mu     sync.Mutex
	recent []httpapi.Fetch
}

func (m *Mirror) count(way flow, bytes int64) { m.metrics.bytes[way].Add(bytes) }

// ended counts a fetch that is over, and logs it, with why: the reason that it went to peers or the origin.
func (m *Mirror) ended(e httpapi.Fetch, begun time.Time, why any, err error) {
	e.Ended = time.Now()
	took, result := e.Ended.Sub(begun), "peers"
	e.Took = float64(took.Microseconds()) / 1000
	switch {
	case err != nil:
		result, e.Error = "failed", err.Error()
	case e.FromOrigin > 0:
		result = "origin"
	}
	m.metrics.requests.WithLabelValues(result).Inc()
	m.metrics.seconds.Observe(took.Seconds())
	m.log.Info("mirror: fetched", "name", e.Name, "sum", e.Sum, "from_peers", e.FromPeers, "from_origin", e.FromOrigin,
		"took", took.Round(time.Millisecond), "why", why, failure(err))
	m.metrics.mu.Lock()
	defer m.metrics.mu.Unlock()
	m.metrics.recent = append([]httpapi.Fetch{e}, m.metrics.recent[:min(len(m.metrics.recent), maxRecent-1)]...)
}

// failure returns an error as an attribute of a log line; the empty attribute if err is nil.
func failure(err error) slog.Attr {
	if err == nil {
		return slog.Attr{}
	}
	return slog.Any("err", err)
}

// Status returns the mirror's state and counts. It leaves Listen empty.
func (m *Mirror) Status() *httpapi.Mirror {
	bytes := func(way flow) int64 { return m.metrics.bytes[way].Load() }
	s := &httpapi.Mirror{
		Limit: m.cfg.Size, FromPeers: bytes(fromPeers), FromOrigin: bytes(fromOrigin), FromCache: bytes(fromCache), ToPeers: bytes(toPeers),
		ToClients: bytes(toClients),
	}
	s.Bytes, s.Files = m.cache.usage()
	m.metrics.mu.Lock()
	s.Recent = append([]httpapi.Fetch{}, m.metrics.recent...)
	m.metrics.mu.Unlock()
	m.mu.Lock()
	defer m.mu.Unlock()
	s.Fetching = len(m.flights)
	return s
}

func (m *Mirror) newMetrics() *metrics {
	reg := prometheus.NewRegistry()
	to := promauto.With(reg)
	counters := func(name, help, label string) *prometheus.CounterVec {
		return to.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, []string{label})
	}
	histogram := func(name, help string) prometheus.Histogram {
		return to.NewHistogram(prometheus.HistogramOpts{Name: name, Help: help, Buckets: prometheus.ExponentialBuckets(0.001, 2, 18)})
	}
	out := &metrics{
		registry: reg,
		requests: counters("venn_mirror_requests_total", "Contents asked for, by result: cache, peers, origin, passed or failed.", "result"),
		failures: counters("venn_mirror_failures_total", "Transfers from peers that failed, by reason.", "reason"),
		seconds:  histogram("venn_mirror_fetch_seconds", "Time of fetches."),
		lookup:   histogram("venn_mirror_lookup_seconds", "Time of looks for holders."),
	}
	for way, label := range [flows][2]string{
		fromCache: {"from", "cache"}, fromPeers: {"from", "peers"}, fromOrigin: {"from", "origin"}, toPeers: {"to", "peers"}, toClients: {"to", "clients"},
	} {
		opts := prometheus.CounterOpts{
			Name: "venn_mirror_bytes_total", Help: "Bytes of content, by where they came from: cache, peers or origin.",
			ConstLabels: prometheus.Labels{label[0]: label[1]},
		}
		if label[0] == "to" {
			opts.Name, opts.Help = "venn_mirror_given_bytes_total", "Bytes given, by to whom: clients or peers."
		}
		to.NewCounterFunc(opts, func() float64 { return float64(out.bytes[way].Load()) })
	}
	gauge := func(name, help string, value func(used int64, files int) float64) {
		to.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, func() float64 { return value(m.cache.usage()) })
	}
	gauge("venn_mirror_cache_bytes", "Bytes that the mirror's cache takes.", func(used int64, _ int) float64 { return float64(used) })
	gauge("venn_mirror_cache_files", "Contents in the mirror's cache.", func(_ int64, files int) float64 { return float64(files) })
	return out
}
