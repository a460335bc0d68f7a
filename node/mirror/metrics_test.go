package mirror

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

// counted returns the value of a counter with a label.
func counted(t *testing.T, c prometheus.Gatherer, name, label string) float64 {
	t.Helper()
	all, err := c.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range all {
		for _, m := range family.GetMetric() {
			if family.GetName() == name && len(m.GetLabel()) == 1 && m.GetLabel()[0].GetValue() == label {
				return m.GetCounter().GetValue()
			}
		}
	}
	return 0
}
