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
)

// TestDashboard holds the dashboard to the metrics of a node: it shows all, and none that there is not.
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

// metrics are the names that a node describes.
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
	_ = n.Close()
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
