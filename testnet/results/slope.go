package results

import (
	"fmt"
	"math"

	"github.com/venn-p2p/venn/testnet/scenario"
	"github.com/venn-p2p/venn/testnet/statistics"
)

// Slope measures how a figure of a strategy grows with the network. It is 1 if the figure is proportional to the
// number of peers, and 0 if it does not change.
type Slope struct {
	Strategy string `json:"strategy"`
	Quantity string `json:"quantity"`
	// slope of the line through the logarithms of peers and figure, by least squares
	Value float64 `json:"value"`
	// half width of its 95 % interval; nil: not known, as with two values
	Half *float64 `json:"half_95,omitempty"`

	scenario string
}

// slopes returns the slopes of all figures, if the number of peers is swept and nothing else. It leaves out zeros,
// which have no logarithm.
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

// slopeOf formats the slope of a strategy's figure for tables and legends.
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
