package scenario_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/venn-p2p/venn/testnet/scenario"
)

// All scenarios are good, ask something, and can be explained, at each point of their sweeps. Points of 10,000 peers are
// checked, but not drawn: that would take minutes.
func TestBuilt(t *testing.T) {
	all, err := scenario.All()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 14 {
		t.Errorf("%d scenarios", len(all))
	}
	for _, s := range all {
		if !strings.HasSuffix(s.Question, "?") {
			t.Errorf("%s: %q is no question", s.Name, s.Question)
		}
		points, err := s.Points()
		if err != nil {
			t.Error(err)
		}
		for _, p := range append(points, s) {
			if p.Peers > 1000 {
				continue
			}
			if _, err := p.Explain(); err != nil {
				t.Errorf("%s: %v", p.Name, err)
			}
		}
	}
	if _, err := scenario.Load("nothing"); !errors.Is(err, scenario.ErrUnknown) {
		t.Error(err)
	}
}
