package results

import (
	"fmt"
	"slices"
)

// Ahead is a case in which a strategy beats the first one of its scenario. Either its recall is higher, by more than
// the half width of the difference's 95 % interval. Or its recall is not below the first one's interval, and it
// sends fewer messages a query and less upkeep.
type Ahead struct {
	Scenario string `json:"scenario"`
	At       string `json:"at,omitempty"` // the point of the sweep
	Engine   string `json:"engine"`
	Strategy string `json:"strategy"`
	By       string `json:"by"` // "recall" or "cost", see beats
	Figures  string `json:"figures"`
}

// ahead returns the cases in which a strategy beats the first one.
func (g group) ahead() (out []Ahead) {
	for _, c := range g.cases {
		i := slices.IndexFunc(g.cases, func(f situation) bool {
			return f.of == c.of && f.engine == c.engine && f.strategy == c.of.Strategies[0]
		})
		if i < 0 || g.cases[i].strategy == c.strategy {
			continue
		}
		if by := c.beats(g.cases[i]); by != "" {
			out = append(out, Ahead{g.of.Name, c.at(), c.engine, c.strategy, by, c.beside(g.cases[i])})
		}
	}
	return out
}

// beats returns the figure by which a strategy beats another one in the same case: "recall", "cost", or "" for none.
func (c situation) beats(other situation) string {
	a, b := other.rows["recall"], c.rows["recall"]
	m, _ := difference(a.Mean, b.Mean, a.Seeds, b.Seeds, a.Values, b.Values)
	less := func(figure string) bool { return c.rows[figure].Mean.Value < other.rows[figure].Mean.Value }
	switch {
	case m.Value > m.Half:
		return "recall"
	case b.Mean.Value >= a.Mean.Value-a.Mean.Half && less("messages") && less("upkeep"):
		return "cost"
	}
	return ""
}

// beside formats the figures by which strategies are compared, with those of the other one in brackets.
func (c situation) beside(other situation) string {
	of := func(name string) string {
		return fmt.Sprintf("%.4g (%.4g)", c.rows[name].Mean.Value, other.rows[name].Mean.Value)
	}
	return fmt.Sprintf("recall %s, messages %s, upkeep %s kB", of("recall"), of("messages"), of("upkeep"))
}
