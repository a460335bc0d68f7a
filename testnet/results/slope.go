package results

import (
	"fmt"
	"math"

	"github.com/venn-p2p/venn/testnet/scenario"
	"github.com/venn-p2p/venn/testnet/statistics"
)

// Slope measures how a figure of a strategy grows with the network. It is 1 where the figure grows as the number of
// peers does, 0 where it stays.
type Slope struct {
	Strategy string   `json:"strategy"`
	Quantity string   `json:"quantity"`
	Value    float64  `json:"value"`             // of the line through the logarithms of the peers and of the figure, by least squares
	Half     *float64 `json:"half_95,omitempty"` // half width of its 95 % interval; nil: not known of two points

	scenario string
}

// slopes returns the slopes of all figures, if nothing but the number of peers is varied. Zeros have no logarithm and
// are left out.
func (g group) slopes() (out []Slope) {
	for _, s := range g.strategies() {
		for _, f := range g.figures() {
			var at, values []float64
			for _, c := range g.cases {
				if len(c.of.At) != 1 || c.of.At[0].Name != "peers" {
					return nil
				}
				if c.strategy == s {
					for _, x := range c.rows[f.Name].Values {
						at, values = append(at, float64(c.runs[0].Peers)), append(values, x)
					}
				}
			}
			if v, half, ok := statistics.Slope(at, values); ok {
				slope := Slope{Strategy: s, Quantity: title(f), Value: v, scenario: g.of.Name}
				if !math.IsNaN(half) {
					slope.Half = &half
				}
				out = append(out, slope)
			}
		}
	}
	return out
}

// slopeOf formats a slope for tables and legends.
func slopeOf(slopes []Slope, of, strategy string, f scenario.Figure) string {
	for _, s := range slopes {
		if s.scenario == of && s.Strategy == strategy && s.Quantity == title(f) {
			if s.Half == nil {
				return fmt.Sprintf("%+.2f", s.Value)
			}
			return fmt.Sprintf("%+.2f ± %.2f", s.Value, *s.Half)
		}
	}
	return unknown
}
