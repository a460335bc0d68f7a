package threats

import (
	"testing"
)

// TestThreats runs all attacks, or in a short test those that take moments. Each hurts the undefended system, and the
// defended one withstands it.
func TestThreats(t *testing.T) {
	_, err := Run(t.Context(), Options{Quick: testing.Short(), Done: func(r Row) {
		t.Logf("%-55s %-6s %12.4g %12.4g  %-8s %v  %.1f s  %s", r.Attack, r.Where, r.Undefended, r.Defended, r.Target, r.OK, r.Seconds, r.Measured)
		if !r.OK {
			t.Errorf("%s: undefended %g, defended %g, target %s; %s", r.Attack, r.Undefended, r.Defended, r.Target, r.Err)
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
}
