package strategy

import (
	"fmt"
	"math"
	"slices"
)

// Parameter is a setting of a strategy, the same for all of its peers. If several strategies have a setting, it has
// the same name in each.
type Parameter struct {
	Name      string
	Unit      string  // unit of its values
	Default   string  // default value, in words
	Low, High float64 // range of its values, both included
	Whole     bool    // whole numbers only
}

// The parameters of several strategies. Each strategy sets its own default, see [Parameter.By].
var (
	Upkeep     = Parameter{Name: "upkeep", Unit: "bytes a second that a peer may send for upkeep", Default: "no bound", High: 1e12}
	BitsPerKey = Parameter{Name: "bits", Unit: "bits for every key in summaries and filters", High: 1e12}
	Budget     = Parameter{Name: "budget", Unit: "messages of a query", Default: "no bound", Low: 1, High: 1e12, Whole: true}
	Origins    = Parameter{Name: "origins", Unit: "peers whose summaries one keeps", Low: 1, High: 1e12, Whole: true}
)

// Check returns an error for a value that is out of range, or should be whole and is not.
func (p Parameter) Check(x float64) error {
	if !(x >= p.Low && x <= p.High) || p.Whole && x != math.Trunc(x) {
		return fmt.Errorf("is not from %v to %v", p.Low, p.High)
	}
	return nil
}

// By returns the parameter with another default.
func (p Parameter) By(fallback string) Parameter {
	p.Default = fallback
	return p
}

// Heeds reports whether a strategy declares a parameter of that name.
func (s Strategy) Heeds(name string) bool {
	return slices.ContainsFunc(s.Parameters, func(p Parameter) bool { return p.Name == name })
}

// Params has what a scenario sets of a strategy.
type Params struct {
	Values     map[string]float64 // values of parameters, by name; the others are each strategy's own default
	Strong     float64            // share of the peers, chosen by Drawn, that know all peers, whatever Origins is
	Undefended bool               // peers do not limit what other peers do; for experiments
}

// Of returns the value of a parameter. 0 means the strategy's own default.
func (p Params) Of(q Parameter) float64 { return p.Values[q.Name] }

// Drawn reports whether a peer is in the random share of all peers that a seed selects.
func Drawn(share float64, seed uint64, id ID) bool {
	return float64(Scramble(seed^Scramble(uint64(id)))>>11) < share*(1<<53)
}
