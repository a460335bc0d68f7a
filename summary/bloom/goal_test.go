package bloom

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
)

// TestGoalErrors holds errors of what is chosen for a purpose to the numbers that the caller gave.
func TestGoalErrors(t *testing.T) {
	rate := func(n int, rate float64) error { _, err := NewForRate(n, rate); return err }
	goal := func(g Goal) error { _, err := g.Params(); return err }
	blocked := func(n int, rate float64) error { _, err := NewBlockedForRate(n, rate); return err }
	for _, c := range []struct {
		err  error
		want string
	}{
		{goal(Goal{Keys: 1000, Rate: 1e-320}), "1e-320"},
		{goal(Goal{Keys: 1000, Rate: 1e-320, Partitioned: true}), "1e-320"},
		{goal(Goal{Keys: math.MaxInt, Rate: 1e-3, Partitioned: true}), fmt.Sprint(math.MaxInt)},
		{goal(Goal{Keys: 1000, Rate: 1e-320, MaxBits: 1 << 20}), "1e-320"},
		{rate(math.MaxInt, 0.01), fmt.Sprint(math.MaxInt)},
		{rate(1000, 0), "rate 0"},
		{blocked(math.MaxInt, 0.01), fmt.Sprint(math.MaxInt)},
		{blocked(1000, 1e-300), "1e-300"},
	} {
		if !errors.Is(c.err, errParams) || !strings.Contains(c.err.Error(), c.want) {
			t.Errorf("%v, want one with %q", c.err, c.want)
			continue
		}
		for _, field := range []string{"BlockBits", "Blocks ", "Hashes "} {
			if strings.Contains(c.err.Error(), field) {
				t.Errorf("%v names %s, which the caller did not give", c.err, field)
			}
		}
	}
}
