package node

import (
	"errors"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/venn-p2p/venn/overlay/exchange"
)

// gathered are the values of all metrics, as name or name{label values}; of a histogram, how many were observed.
func gathered(t *testing.T, reg *prometheus.Registry) map[string]float64 {
	t.Helper()
	families := must(reg.Gather())
	out := make(map[string]float64)
	for _, f := range families {
		for _, m := range f.GetMetric() {
			var labels []string
			for _, l := range m.GetLabel() {
				labels = append(labels, l.GetValue())
			}
			name := f.GetName()
			if len(labels) > 0 {
				name += "{" + strings.Join(labels, ",") + "}"
			}
			out[name] = m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
		}
	}
	return out
}

// TestBudgetMetrics holds the metrics of budgets to what two nodes declare.
func TestBudgetMetrics(t *testing.T) {
	t.Parallel()
	const up, down, share = 1_000_000, 8_000_000, 0.5
	reg := prometheus.NewRegistry()
	a := newNode(t, WithRegisterer(reg), WithBandwidth(up, down), WithSummaryShare(share))
	b := newNode(t, WithBandwidth(2*up, up/2), WithSummaryShare(share))
	add(t, a, keysOf("a", 1000)...)
	connect(t, a, b)
	eventually(t, "b knows a", func() bool { return knows(b, a) })
	for name, want := range map[string]float64{
		"venn_budget_bytes_per_second{sent,line}":      share * up / 8, // direction before of: labels come sorted
		"venn_budget_bytes_per_second{received,line}":  share * down / 8,
		"venn_budget_bytes_per_second{sent,links}":     exchange.LinkRate(up, up/2, share),
		"venn_budget_bytes_per_second{received,links}": exchange.LinkRate(2*up, down, share),
	} {
		eventually(t, name, func() bool { return gathered(t, reg)[name] == want })
	}
	eventually(t, "the summary is charged", func() bool { return gathered(t, reg)["venn_budget_used_bytes_total{sent}"] > 1000 })
	eventually(t, "links are looked at", func() bool { return gathered(t, reg)["venn_link_budget_spent_ratio"] > 0 })
}

// TestFaultMetric: the metric of faults tells of a summary that cannot be made, as Status does, and of its end.
func TestFaultMetric(t *testing.T) {
	t.Parallel()
	reg := prometheus.NewRegistry()
	n := newNode(t, WithRegisterer(reg))
	for _, fault := range []error{errors.New("no summary"), nil} {
		look(t, n, func(l *loop) { l.publisher.fault = fault })
		want := 0.
		if fault != nil {
			want = 1
		}
		eventually(t, "the metric tells", func() bool { return gathered(t, reg)["venn_fault"] == want })
	}
}
