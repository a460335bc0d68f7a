// Package dist holds what is needed to run a peer as a service; its test holds the dashboard to the metrics.
package dist

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/libp2p/go-libp2p"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/venn-p2p/venn/node"
	"github.com/venn-p2p/venn/node/httpapi"
)

// TestDashboard holds the dashboard to the metrics of a node and of its HTTP server: it shows all, and none that there
// is not.
func TestDashboard(t *testing.T) {
	b, err := os.ReadFile("grafana.json")
	if err != nil {
		t.Fatal(err)
	}
	if !json.Valid(b) {
		t.Fatal("grafana.json is no JSON")
	}
	shown := make(map[string]bool)
	for _, name := range regexp.MustCompile(`\bvenn_[a-z_]+`).FindAllString(string(b), -1) {
		shown[strings.TrimSuffix(name, "_bucket")] = true // of a histogram
	}
	there := metrics(t)
	for name := range shown {
		if !there[name] {
			t.Errorf("%s is shown, but there is no such metric", name)
		}
	}
	for name := range there {
		if !shown[name] {
			t.Errorf("%s is not shown", name)
		}
	}
}

// metrics are the names of what a node and a server describe.
func metrics(t *testing.T) map[string]bool {
	t.Helper()
	h, err := libp2p.New(libp2p.NoListenAddrs, libp2p.DisableMetrics())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = h.Close() }()
	described := &recorder{names: make(map[string]bool)}
	n, err := node.New(h, node.WithRegisterer(described))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = n.Close() }()
	served := prometheus.NewRegistry()
	_ = httpapi.Public(httpapi.Config{Node: n, Registry: served})
	families, err := served.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if strings.HasPrefix(f.GetName(), "venn_") { // not those of boxo
			described.names[f.GetName()] = true
		}
	}
	return described.names
}

// recorder is a Registerer that notes the names of what is registered.
type recorder struct {
	prometheus.Registry
	names map[string]bool
}

func (r *recorder) Register(c prometheus.Collector) error {
	ch := make(chan *prometheus.Desc, 1000)
	c.Describe(ch)
	close(ch)
	for d := range ch {
		_, rest, _ := strings.Cut(d.String(), `fqName: "`)
		name, _, _ := strings.Cut(rest, `"`)
		r.names[name] = true
	}
	return nil
}

func (r *recorder) Unregister(prometheus.Collector) bool { return true }
