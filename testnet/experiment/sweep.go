package experiment

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/venn-p2p/venn/testnet/results/report"
	"github.com/venn-p2p/venn/testnet/sim"
	"github.com/venn-p2p/venn/testnet/strategies"
	"github.com/venn-p2p/venn/testnet/strategy"
)

// Names of variables that not all networks and strategies heed.
const (
	keysName    = "keys"
	outsideName = "outside"
	strongName  = "strong"
	degreeName  = "degree"
	rewireName  = "rewire"
)

const aboveZero = 1e-9 // the least value of what is at its default at 0

// Variable is what a sweep can vary.
type Variable struct {
	Name string
	Unit string // what its values are

	axis      string  // of a plot
	whole     bool    // whole numbers only
	time      bool    // values are durations, kept as seconds
	low, high float64 // the range of values
}

const most = 1e12 // where nothing else bounds a value

var (
	sweepPeers    = Variable{Name: "peers", Unit: "peers of the network; size is the same", axis: "peers", whole: true, low: 2, high: sim.MaxPeers}
	networkSweeps = []Variable{
		sweepPeers,
		{Name: keysName, Unit: "keys of every peer", axis: "keys of every peer", whole: true, low: 1, high: most},
		{Name: "churn", Unit: "median session, as a duration like 10m; 0 for none", axis: "median session", time: true, high: most},
		{Name: "loss", Unit: "share of packets lost, 0 to 0.5", axis: "share of packets lost", high: 0.5},
		{Name: degreeName, Unit: "links of a peer at the start", axis: "links of a peer", whole: true, low: 1, high: most},
		{Name: outsideName, Unit: "share of queries for what any peer holds, not one of the asker's interest, above 0 up to 1", axis: "share of queries outside of interests", low: aboveZero, high: 1},
		{Name: "killed", Unit: "share of peers killed at once halfway through the warm-up, below 1", axis: "share of peers killed", high: 0.99},
		{Name: strongName, Unit: "share of peers with a line of 100 Mbit/s and room for everybody, above 0 up to 1; the others have 1 Mbit/s", axis: "share of strong peers", low: aboveZero, high: 1},
		{Name: rewireName, Unit: "share of links that go anywhere in a small world, above 0 up to 1", axis: "share of links rewired", low: aboveZero, high: 1},
	}
	collectionPeers = Variable{Name: "peers", Unit: "peers that the data is dealt to", axis: "peers", whole: true, low: 3, high: 10_000}
	neighbourSweeps = []Variable{collectionPeers, {Name: "slots", Unit: "neighbours of a peer", axis: "neighbours of a peer", whole: true, low: 1, high: 1000}}
	overlapSweeps   = []Variable{collectionPeers, {Name: "bytes", Unit: "bytes of a sketch", axis: "bytes of a sketch", whole: true, low: 256, high: 1 << 20}}
	budgetSweeps    = []Variable{
		collectionPeers,
		{Name: "share", Unit: "share of everybody's summaries that a peer has room for, up to 1", axis: "room for summaries, share of all in full", low: 1e-6, high: 1},
		{Name: "bytes", Unit: "bytes of summaries that a peer has room for", axis: "room for summaries, bytes", whole: true, low: 1, high: most},
	}
)

// Sweeps are what a sweep of an experiment can vary, with the strategies that the program comes with; none for those
// that repeat a paper.
func Sweeps(experiment string) []Variable {
	of := variablesOf(strategies.Named())
	return map[string][]Variable{
		Routing: of, Scale: of, Neighbours: neighbourSweeps, Overlaps: overlapSweeps, Budget: budgetSweeps,
	}[experiment]
}

// variablesOf are what experiments on networks can vary: the network, and what one of the strategies declares.
func variablesOf(all []strategy.Strategy) []Variable {
	out := slices.Clone(networkSweeps)
	for _, s := range all {
		for _, p := range s.Parameters {
			if !slices.ContainsFunc(out, func(v Variable) bool { return v.Name == p.Name }) {
				out = append(out, Variable{Name: p.Name, Unit: p.Unit, axis: p.Unit, whole: p.Whole, low: p.Low, high: p.High})
			}
		}
	}
	return out
}

// ofNetworks says whether a name is of the network, and not of a strategy.
func ofNetworks(name string) bool { return variable(networkSweeps, name).Name != "" }

// networkVariable is the one of a name, if only the name is known.
func networkVariable(name string) Variable {
	if v := variable(Sweeps(Routing), name); v.Name != "" {
		return v
	}
	return Variable{Name: name, axis: name}
}

// size is another name for peers.
const size = "size"

// value is one of a sweep; without a variable's name it changes nothing.
type value struct {
	Variable
	x float64
}

// parseSweep reads "name=value,value…". "" is one value that changes nothing.
func parseSweep(variables []Variable, sweep string) ([]value, error) {
	if sweep == "" {
		return []value{{}}, nil
	}
	name, list, _ := strings.Cut(sweep, "=")
	if name = strings.TrimSpace(name); name == size {
		name = sweepPeers.Name
	}
	i := slices.IndexFunc(variables, func(v Variable) bool { return v.Name == name })
	if i < 0 {
		return nil, fmt.Errorf("%w: sweep over %q: there are %s", ErrOptions, name, variableNames(variables))
	}
	var values []value
	for item := range strings.SplitSeq(list, ",") {
		if item = strings.TrimSpace(item); item == "" {
			continue
		}
		x, err := variables[i].parse(item)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(values, func(v value) bool { return v.x == x }) {
			return nil, fmt.Errorf("%w: sweep over %s: %q twice", ErrOptions, name, item)
		}
		values = append(values, value{variables[i], x})
	}
	if len(values) == 0 {
		return nil, fmt.Errorf("%w: sweep %q has no points, want %s=VALUE,VALUE…", ErrOptions, sweep, name)
	}
	return values, nil
}

// variable is the one of that name.
func variable(of []Variable, name string) Variable {
	if i := slices.IndexFunc(of, func(v Variable) bool { return v.Name == name }); i >= 0 {
		return of[i]
	}
	return Variable{}
}

func variableNames(variables []Variable) string {
	var names []string
	for _, v := range variables {
		names = append(names, v.Name)
	}
	return strings.Join(names, ", ")
}

// parse reads a value: a number or, of a time, a duration.
func (v Variable) parse(item string) (float64, error) {
	if d, err := time.ParseDuration(item); v.time && err == nil && d >= 0 {
		return d.Seconds(), nil
	}
	x, err := strconv.ParseFloat(item, 64)
	switch {
	case err != nil || math.IsNaN(x):
		return 0, fmt.Errorf("%w: sweep over %s: %q is no value", ErrOptions, v.Name, item)
	case x < v.low || x > v.high:
		return 0, fmt.Errorf("%w: sweep over %s: %q is not from %s to %s", ErrOptions, v.Name, item, report.Number(v.low), report.Number(v.high))
	case v.whole && x != math.Trunc(x):
		return 0, fmt.Errorf("%w: sweep over %s: %q is no whole number", ErrOptions, v.Name, item)
	}
	return x, nil
}

// label is a value as it is written in tables.
func (v Variable) label(x float64) string {
	switch {
	case v.Name == "":
		return ""
	case v.time && x == 0:
		return "none"
	case v.time:
		s := time.Duration(x * float64(time.Second)).String()
		for _, zero := range []string{"m0s", "h0m"} {
			if strings.HasSuffix(s, zero) {
				s = s[:len(s)-2]
			}
		}
		return s
	}
	return report.Number(x)
}

// sweepParameter tells of a sweep in a report.
func sweepParameter(asked string, v Variable) [2]string {
	if asked == "" {
		asked = v.Name
	}
	return [2]string{"sweep", asked + " (" + v.Unit + ")"}
}
