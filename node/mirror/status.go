package mirror

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Status is what a mirror holds and has done.
type Status struct {
	Files    int   // whole, in the cache
	Bytes    int64 // that the cache takes, with what is being fetched
	Limit    int64 // of Bytes
	Fetching int   // contents under way

	FromPeers  int64 // bytes that came from peers
	FromOrigin int64 // bytes that came from origins
	FromCache  int64 // bytes of contents that clients asked for, and that were there
	ToPeers    int64 // bytes given to peers
	ToClients  int64 // bytes given to clients

	Recent []Fetch // the last that ended, the newest first
}

// Fetch is a fetch that has ended.
type Fetch struct {
	Name       string
	Sum        Sum
	Ended      time.Time
	Took       time.Duration
	FromPeers  int64    // bytes
	FromOrigin int64    // bytes
	Tried      []string // what went wrong on the way
	Err        error    // why it failed; nil: it did not
}

// maxRecent is the number of fetches that Status tells of.
const maxRecent = 32

type recent struct {
	mu  sync.Mutex
	all []Fetch
	sum Status // the totals
}

// count takes in bytes that came.
func (m *Mirror) count(from source, bytes int64) {
	m.metrics.came.WithLabelValues(string(from)).Add(float64(bytes))
	m.recent.mu.Lock()
	defer m.recent.mu.Unlock()
	switch from {
	case fromCache:
		m.recent.sum.FromCache += bytes
	case fromPeers:
		m.recent.sum.FromPeers += bytes
	case fromOrigin:
		m.recent.sum.FromOrigin += bytes
	}
}

// counter returns what counts bytes given to clients or peers.
func (m *Mirror) counter(to string) func(int) {
	given := m.metrics.given.WithLabelValues(to)
	return func(n int) {
		given.Add(float64(n))
		m.recent.mu.Lock()
		defer m.recent.mu.Unlock()
		if to == "peers" {
			m.recent.sum.ToPeers += int64(n)
		} else {
			m.recent.sum.ToClients += int64(n)
		}
	}
}

// hit takes in a request for content that is in the cache.
func (m *Mirror) hit(name string, size int64) {
	m.metrics.requests.WithLabelValues("cache").Inc()
	m.count(fromCache, size)
	m.log.Debug("mirror: from the cache", "name", name, "bytes", size)
}

// ended takes in a flight that is over, and logs it. f.mu is held.
func (m *Mirror) ended(f *flight) {
	e := Fetch{f.want.Name, f.want.Sum, time.Now(), time.Since(f.begun), f.tally[fromPeers], f.tally[fromOrigin], f.tried, f.err}
	result := "peers"
	switch {
	case e.Err != nil:
		result = "failed"
	case e.FromOrigin > 0:
		result = "origin"
	}
	m.metrics.requests.WithLabelValues(result).Inc()
	m.metrics.seconds.Observe(e.Took.Seconds())
	m.log.Info("mirror: fetched", "name", e.Name, "sum", e.Sum, "from_peers", e.FromPeers, "from_origin", e.FromOrigin,
		"took", e.Took.Round(time.Millisecond), "why", why(e), "err", e.Err)
	m.recent.mu.Lock()
	defer m.recent.mu.Unlock()
	m.recent.all = append([]Fetch{e}, m.recent.all[:min(len(m.recent.all), maxRecent-1)]...)
}

// why says why a fetch went the way that it did.
func why(e Fetch) any {
	switch {
	case len(e.Tried) > 0:
		return e.Tried
	case e.FromOrigin > 0 && e.FromPeers == 0:
		return "no peer has it"
	}
	return "peers have it"
}

// Status returns what the mirror holds and has done.
func (m *Mirror) Status() Status {
	m.recent.mu.Lock()
	s := m.recent.sum
	s.Recent = append([]Fetch(nil), m.recent.all...)
	m.recent.mu.Unlock()
	s.Bytes, s.Files = m.cache.usage()
	s.Limit = m.cfg.Size
	m.mu.Lock()
	defer m.mu.Unlock()
	s.Fetching = len(m.flights)
	return s
}

// metrics are those of a mirror.
type metrics struct {
	came, given, requests, failures *prometheus.CounterVec
	seconds, lookup                 prometheus.Histogram
}

func newMetrics() *metrics {
	counters := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	histogram := func(name, help string) prometheus.Histogram {
		return prometheus.NewHistogram(prometheus.HistogramOpts{Name: name, Help: help, Buckets: prometheus.ExponentialBuckets(0.001, 2, 18)})
	}
	return &metrics{
		came:     counters("venn_mirror_bytes_total", "Bytes of content, by where they came from: cache, peers or origin.", "from"),
		given:    counters("venn_mirror_given_bytes_total", "Bytes given, by to whom: clients or peers.", "to"),
		requests: counters("venn_mirror_requests_total", "Contents asked for, by result: cache, peers, origin, passed or failed.", "result"),
		failures: counters("venn_mirror_failures_total", "Transfers from peers that failed, by reason.", "reason"),
		seconds:  histogram("venn_mirror_fetch_seconds", "Time of fetches."),
		lookup:   histogram("venn_mirror_lookup_seconds", "Time of looks for holders."),
	}
}

func (s *metrics) all() []prometheus.Collector {
	return []prometheus.Collector{s.came, s.given, s.requests, s.failures, s.seconds, s.lookup}
}

var (
	descUsed  = prometheus.NewDesc("venn_mirror_cache_bytes", "Bytes that the mirror's cache takes.", nil, nil)
	descFiles = prometheus.NewDesc("venn_mirror_cache_files", "Contents in the mirror's cache.", nil, nil)
)

// collector gives a mirror's metrics to Prometheus.
type collector struct{ m *Mirror }

func (c collector) Describe(ch chan<- *prometheus.Desc) {
	ch <- descUsed
	ch <- descFiles
	for _, m := range c.m.metrics.all() {
		m.Describe(ch)
	}
}

func (c collector) Collect(ch chan<- prometheus.Metric) {
	used, files := c.m.cache.usage()
	ch <- prometheus.MustNewConstMetric(descUsed, prometheus.GaugeValue, float64(used))
	ch <- prometheus.MustNewConstMetric(descFiles, prometheus.GaugeValue, float64(files))
	for _, m := range c.m.metrics.all() {
		m.Collect(ch)
	}
}
