package mirror

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	dto "github.com/prometheus/client_model/go"

	"github.com/venn-p2p/venn/node/httpapi"
)

// maxRecent caps the fetches in Status: the last ones. maxTried caps the failures noted of each.
const maxRecent, maxTried = 32, 8

// metrics are a mirror's counts.
type metrics struct {
	registry           *prometheus.Registry // exports all of them
	requests, failures *prometheus.CounterVec
	seconds, lookup    prometheus.Histogram
	// bytes
	fromCache, fromPeers, fromOrigin, toPeers, toClients prometheus.Counter
}

// Metrics returns the mirror's metrics, for a registry.
func (m *Mirror) Metrics() prometheus.Collector { return m.metrics.registry }

// ended counts a fetch that is over, and logs it with the reason that it went to peers or the origin.
func (m *Mirror) ended(e httpapi.Fetch, begun time.Time, err error) {
	e.Ended, e.Tried = time.Now(), e.Tried[:min(len(e.Tried), maxTried)]
	took, result, why := e.Ended.Sub(begun), "peers", "peers had it"
	e.Took = float64(took.Microseconds()) / 1000
	switch {
	case err != nil:
		result, e.Error, why = "failed", err.Error(), err.Error()
	case e.FromOrigin > 0:
		result, why = "origin", "no peer gave all of it"
	}
	m.metrics.requests.WithLabelValues(result).Inc()
	m.metrics.seconds.Observe(took.Seconds())
	m.log.Info("mirror: fetched", "name", e.Name, "sum", e.Sum, "from_peers", e.FromPeers, "from_origin", e.FromOrigin,
		"took", took.Round(time.Millisecond), "why", why, "tried", e.Tried)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.recent = append([]httpapi.Fetch{e}, m.recent[:min(len(m.recent), maxRecent-1)]...)
}

// Status returns the mirror's state and counts. It leaves Listen empty.
func (m *Mirror) Status() *httpapi.Mirror {
	s := &httpapi.Mirror{
		Limit: m.cfg.Size, FromPeers: count(m.metrics.fromPeers), FromOrigin: count(m.metrics.fromOrigin), FromCache: count(m.metrics.fromCache),
		ToPeers: count(m.metrics.toPeers), ToClients: count(m.metrics.toClients),
	}
	s.Bytes, s.Files = m.cache.usage()
	m.mu.Lock()
	defer m.mu.Unlock()
	s.Fetching, s.Recent = len(m.flights), append([]httpapi.Fetch{}, m.recent...)
	return s
}

// count returns the value of a counter.
func count(c prometheus.Counter) int64 {
	var out dto.Metric
	_ = c.Write(&out) // cannot fail
	return int64(out.GetCounter().GetValue())
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
	from := counters("venn_mirror_bytes_total", "Bytes of content, by where they came from: cache, peers or origin.", "from")
	out.fromCache, out.fromPeers = from.WithLabelValues("cache"), from.WithLabelValues("peers")
	out.fromOrigin = from.WithLabelValues("origin")
	given := counters("venn_mirror_given_bytes_total", "Bytes given, by to whom: clients or peers.", "to")
	out.toPeers, out.toClients = given.WithLabelValues("peers"), given.WithLabelValues("clients")
	gauge := func(name, help string, value func(used int64, files int) float64) {
		to.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, func() float64 { return value(m.cache.usage()) })
	}
	gauge("venn_mirror_cache_bytes", "Bytes that the mirror's cache takes.", func(used int64, _ int) float64 { return float64(used) })
	gauge("venn_mirror_cache_files", "Contents in the mirror's cache.", func(_ int64, files int) float64 { return float64(files) })
	return out
}
