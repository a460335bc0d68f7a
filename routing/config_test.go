package routing_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/venn-p2p/venn/routing"
	"github.com/venn-p2p/venn/routing/routinglab"
)

// TestConfigRefusesNumbers: numbers that mean nothing are refused, each by its name, and the numbers next to them are
// not. A zero means the default.
func TestConfigRefusesNumbers(t *testing.T) {
	good := func() routing.Config {
		return routing.Config{Self: "self", Has: func([]byte) bool { return false }, Fingerprint: routinglab.Fingerprint, Rand: rand.New(rand.NewPCG(1, 1))}
	}
	for name, numbers := range map[string]struct {
		set    func(*routing.Config, float64)
		refuse []float64
		take   []float64
	}{
		"Prior":   {func(c *routing.Config, x float64) { c.Prior = x }, []float64{-0.1, 1, math.NaN()}, []float64{0, 0.001, 0.999}},
		"Poor":    {func(c *routing.Config, x float64) { c.Poor = x }, []float64{-1, math.NaN()}, []float64{0, 0.1, 16}},
		"PoorAll": {func(c *routing.Config, x float64) { c.PoorAll = x }, []float64{-1, math.NaN()}, []float64{0, 0.1, 100}},
		"Useless": {func(c *routing.Config, x float64) { c.Useless = x }, []float64{3.9, -1, math.NaN()}, []float64{0, 4, 100}},
		"Hops":    {func(c *routing.Config, x float64) { c.Hops = int(x) }, []float64{-1}, []float64{0, 1}},
	} {
		for _, x := range numbers.refuse {
			c := good()
			numbers.set(&c, x)
			if _, err := routing.New(c, nil); err == nil || !strings.Contains(err.Error(), ": "+name+" ") {
				t.Errorf("%s of %v: %v", name, x, err)
			}
		}
		for _, x := range numbers.take {
			c := good()
			numbers.set(&c, x)
			if _, err := routing.New(c, nil); err != nil {
				t.Errorf("%s of %v: %v", name, x, err)
			}
		}
	}
}
