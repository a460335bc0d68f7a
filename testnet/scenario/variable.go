package scenario

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/venn-p2p/venn/testnet/strategy"
)

// Variable is the short name of a key that holds one value: sweeps, flags and tables name it so.
type Variable struct {
	Name string
	Unit string // unit of its values
	Key  string // key of the scenario, as "sessions.median"
	over bool   // values are above 0: 0 would mean the default
}

// Size is another name of the variable peers.
const Size = "size"

var variables = []Variable{
	{Name: "peers", Unit: "peers of the network; size is the same", Key: "peers"},
	{Name: "keys", Unit: "keys of every peer", Key: "collections.keys", over: true},
	{Name: "churn", Unit: "median session, as a duration like 10m; 0 for none", Key: "sessions.median"},
	{Name: "loss", Unit: "share of packets lost, 0 to 0.5", Key: "loss"},
	{Name: "degree", Unit: "links of a peer at the start; of a star, peers at which all begin", Key: "links.degree", over: true},
	{Name: "outside", Unit: "share of queries for what any peer holds, not one of the asker's interest, above 0 up to 1", Key: "queries.outside", over: true},
	{Name: "killed", Unit: "share of peers killed at once halfway through the warm-up, below 1", Key: "killed"},
	{Name: "strong", Unit: "share of peers with a line of 100 Mbit/s and room for everybody, above 0 up to 1; the others have 1 Mbit/s", Key: "strong", over: true},
	{Name: "rewire", Unit: "share of links that go anywhere in a small world, above 0 up to 1", Key: "links.rewire", over: true},
}

const parameters = "parameters."

// Variables returns the variables of all scenarios, then the parameters that strategies declare.
func Variables(of []strategy.Strategy) []Variable {
	out := slices.Clone(variables)
	for _, s := range of {
		for _, p := range s.Parameters {
			if !slices.ContainsFunc(out, func(v Variable) bool { return v.Name == p.Name }) {
				out = append(out, Variable{Name: p.Name, Unit: p.Unit, Key: parameters + p.Name})
			}
		}
	}
	return out
}

// variableOf returns the variable of a key. It names a key without a short name by the key itself.
func variableOf(key string) Variable {
	if i := slices.IndexFunc(variables, func(v Variable) bool { return v.Key == key }); i >= 0 {
		return variables[i]
	}
	name := strings.TrimPrefix(key, parameters)
	return Variable{Name: name, Unit: name, Key: key}
}

// Setting is a key of a scenario with the value that it has in all runs, or the values of a sweep.
type Setting struct {
	Key    string
	Values []any // values as TOML has them
}

// ParseSetting reads "name=value,value…", of variables. Errors match ErrScenario.
func ParseSetting(variables []Variable, text string) (Setting, error) {
	name, list, _ := strings.Cut(text, "=")
	if name = strings.TrimSpace(name); name == Size {
		name = "peers"
	}
	i := slices.IndexFunc(variables, func(v Variable) bool { return v.Name == name })
	if i < 0 {
		var names []string
		for _, v := range variables {
			names = append(names, v.Name)
		}
		return Setting{}, fmt.Errorf("%w: sweep over %q: there are %s", ErrScenario, name, strings.Join(names, ", "))
	}
	out := Setting{Key: variables[i].Key}
	for item := range strings.SplitSeq(list, ",") {
		if item = strings.TrimSpace(item); item == "" {
			continue
		}
		x := variables[i].value(item)
		if variables[i].over && (x == int64(0) || x == 0.0) {
			return Setting{}, fmt.Errorf("%w: %s: %q is not above 0", ErrScenario, name, item)
		}
		if slices.Contains(out.Values, x) {
			return Setting{}, fmt.Errorf("%w: sweep over %s: %q twice", ErrScenario, name, item)
		}
		out.Values = append(out.Values, x)
	}
	if len(out.Values) == 0 {
		return Setting{}, fmt.Errorf("%w: sweep %q has no points, want %s=VALUE,VALUE…", ErrScenario, text, name)
	}
	return out, nil
}

// value returns an item as a value for TOML. Durations are written as Go writes them; a median session given as a
// number is in seconds.
func (v Variable) value(item string) any {
	if x, err := strconv.ParseFloat(item, 64); err == nil && !math.IsNaN(x) && !math.IsInf(x, 0) {
		switch {
		case v.Key == "sessions.median":
			return time.Duration(x * float64(time.Second)).String()
		case x == math.Trunc(x) && math.Abs(x) < 1<<53:
			return int64(x)
		}
		return x
	}
	if d, err := time.ParseDuration(item); err == nil {
		return d.String()
	}
	return item
}

// Coordinate is the place of a scenario on one of its sweeps.
type Coordinate struct {
	Name  string `json:"name"`
	Value any    `json:"value"` // a number, of seconds for a time, or a text
	label string
	unit  string
}

// coordinate returns the coordinate for a value of key. A text that is a duration becomes a number of seconds.
func coordinate(key string, value any) Coordinate {
	v := variableOf(key)
	c := Coordinate{Name: v.Name, Value: value, label: fmt.Sprint(value), unit: v.Unit}
	switch x := value.(type) {
	case int64:
		c.Value = float64(x)
	case float64:
		c.label = strconv.FormatFloat(x, 'g', -1, 64)
	case string:
		if d, err := time.ParseDuration(x); err == nil {
			c.Value, c.label = d.Seconds(), short(d)
		}
	}
	return c
}

// short formats a duration without zeros at its end.
func short(d time.Duration) string {
	s := d.String()
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(s, zero) {
			s = s[:len(s)-2]
		}
	}
	if d == 0 {
		return "none"
	}
	return s
}

// String returns the coordinate for tables and names, as "churn=10m".
func (c Coordinate) String() string { return c.Name + "=" + c.label }

// Label returns the value for tables.
func (c Coordinate) Label() string { return c.label }

// Unit describes the possible values.
func (c Coordinate) Unit() string { return c.unit }

// Time reports whether the value is a time.
func (c Coordinate) Time() bool { return c.Name == "churn" || strings.HasSuffix(c.label, "s") }

// Number returns the value, if it is a number.
func (c Coordinate) Number() (float64, bool) {
	x, is := c.Value.(float64)
	return x, is
}

// With returns the scenario with other values of some keys, and with sweeps in place of its own if there are any. A key
// of its own sweep that is fixed varies no more. Its answers are left out, for they are of other runs. Errors match
// ErrScenario.
func (s *Scenario) With(fixed, sweeps []Setting) (*Scenario, error) {
	if len(fixed)+len(sweeps) == 0 {
		return s, nil
	}
	all, err := s.table()
	if err != nil {
		return nil, err
	}
	delete(all, "answers")
	if len(sweeps) == 0 {
		sweeps = slices.DeleteFunc(slices.Clone(s.sweeps), func(k Setting) bool {
			return slices.ContainsFunc(fixed, func(f Setting) bool { return f.Key == k.Key })
		})
	}
	seen := map[string]bool{}
	for _, f := range slices.Concat(fixed, sweeps) {
		if seen[f.Key] {
			return nil, fmt.Errorf("%w: %s is given twice", ErrScenario, variableOf(f.Key).Name)
		}
		seen[f.Key] = true
	}
	for _, f := range fixed {
		if len(f.Values) != 1 {
			return nil, fmt.Errorf("%w: %v are not one value of %s", ErrScenario, f.Values, f.Key)
		}
		if err := set(all, strings.Split(f.Key, "."), f.Values[0]); err != nil {
			return nil, s.source.fault(f.Key, "%w", err)
		}
	}
	out, err := s.encoded(all, s.Name, sweeps)
	if err == nil && seen["collections.keys"] && out.Collections.Data != Clusters {
		return nil, fmt.Errorf("%w: keys are of collections that are made up, and those of %s are as they are", ErrScenario, out.Collections.Data)
	}
	return out, err
}
