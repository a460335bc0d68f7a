package experiment

import (
	"fmt"
	"math"

	"github.com/venn-p2p/venn/testnet/statistics"
)

// Slope is how a quantity of a strategy grows with the network. It is 1 where the quantity grows as the number of peers
// does, 0 where it stays.
type Slope struct {
	Strategy string   `json:"strategy"`
	Quantity string   `json:"quantity"`
	Value    float64  `json:"value"`             // of the line through the logarithms of the peers and of the quantity, by least squares
	Half     *float64 `json:"half_95,omitempty"` // half width of its 95 % interval; nil: not known of two points
}

// slopesOf are the slopes of all quantities that are drawn, where nothing but the size of the network was varied. Zeros
// have no logarithm and are left out.
func slopesOf(rows []NetworkRow) (out []Slope) {
	if len(rows) == 0 || len(rows[0].At) != 1 || rows[0].At[0].Name != sweepPeers.Name {
		return nil
	}
	for _, s := range strategiesOf(rows) {
		for _, m := range networkMeasures {
			var at, values []float64
			for _, r := range rows {
				if r.Strategy == s {
					at, values = append(at, float64(r.Peers)), append(values, m.of(r))
				}
			}
			if v, half, ok := statistics.Slope(at, values); ok {
				slope := Slope{Strategy: s, Quantity: m.title, Value: v}
				if !math.IsNaN(half) {
					slope.Half = &half
				}
				out = append(out, slope)
			}
		}
	}
	return out
}

// slope is that of a strategy's quantity as it is written in tables and legends.
func (r *NetworkResult) slope(strategy, quantity string) string {
	for _, s := range r.Slopes {
		if s.Strategy == strategy && s.Quantity == quantity {
			if s.Half == nil {
				return fmt.Sprintf("%+.2f", s.Value)
			}
			return fmt.Sprintf("%+.2f ±%.2f", s.Value, *s.Half)
		}
	}
	return unknown
}
