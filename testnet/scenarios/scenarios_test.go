package scenarios_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/venn-p2p/venn/testnet/scenarios"
)

// All scenarios are good, ask something, and can be explained.
func TestAll(t *testing.T) {
	all, err := scenarios.All()
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
		if _, err := s.Explain(); err != nil {
			t.Errorf("%s: %v", s.Name, err)
		}
	}
	if _, err := scenarios.Load("nothing"); !errors.Is(err, scenarios.ErrUnknown) {
		t.Error(err)
	}
}
