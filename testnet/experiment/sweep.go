package experiment

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/venn-p2p/venn/testnet/sim"
)

// Sweeps says what a sweep can vary, and in what unit.
var Sweeps = []struct{ Name, Unit string }{
	{"peers", "peers of the network"},
	{"keys", "keys of every peer"},
	{"upkeep", "bytes a second that a peer may send for upkeep"},
	{"bits", "bits for every key in summaries and filters"},
	{"budget", "messages of a query"},
	{"origins", "peers whose summaries one keeps"},
	{"churn", "median session, as a duration like 10m; 0 for none"},
	{"loss", "share of messages lost, 0 to 0.5"},
	{"degree", "links of a peer at the start"},
}

// value is one of a sweep; without a name it changes nothing.
type value struct {
	name string
	x    float64
}

// sweep reads the values of a sweep. Scale's own is over peers, three to a decade, up to the number given.
func (o *NetworkOptions) sweep(experiment string) ([]value, error) {
	if o.Sweep == "" && experiment == Scale {
		var values []value
		for x := 1000.0; x < float64(o.Peers); x *= math.Cbrt(10) {
			values = append(values, value{"peers", math.Round(x/100) * 100})
		}
		return append(values, value{"peers", float64(o.Peers)}), nil
	}
	if o.Sweep == "" {
		return []value{{}}, nil
	}
	name, list, _ := strings.Cut(o.Sweep, "=")
	if !slices.ContainsFunc(Sweeps, func(s struct{ Name, Unit string }) bool { return s.Name == name }) {
		return nil, fmt.Errorf("%w: sweep over %q: there are %s", ErrOptions, name, sweepNames())
	}
	var values []value
	for item := range strings.SplitSeq(list, ",") {
		if item = strings.TrimSpace(item); item == "" {
			continue
		}
		x, err := parseValue(name, item)
		if err != nil {
			return nil, err
		}
		values = append(values, value{name, x})
	}
	if len(values) == 0 {
		return nil, fmt.Errorf("%w: sweep %q has no points", ErrOptions, o.Sweep)
	}
	return values, nil
}

func sweepNames() string {
	var names []string
	for _, s := range Sweeps {
		names = append(names, s.Name)
	}
	return strings.Join(names, ", ")
}

// parseValue reads a value: a number, or for churn a duration, which becomes seconds.
func parseValue(name, item string) (float64, error) {
	if d, err := time.ParseDuration(item); name == "churn" && err == nil && d >= 0 {
		return d.Seconds(), nil
	}
	x, err := strconv.ParseFloat(item, 64)
	whole := slices.Contains([]string{"peers", "keys", "budget", "degree", "origins"}, name)
	switch {
	case err != nil || math.IsNaN(x) || math.IsInf(x, 0) || x < 0 || x > 1e12:
		return 0, fmt.Errorf("%w: sweep over %s: %q is no value", ErrOptions, name, item)
	case whole && (x != math.Trunc(x) || x < 1):
		return 0, fmt.Errorf("%w: sweep over %s: %q is no whole number from 1", ErrOptions, name, item)
	case name == "peers" && (x < 2 || x > sim.MaxPeers):
		return 0, fmt.Errorf("%w: sweep over peers: %q is not from 2 to %d", ErrOptions, item, sim.MaxPeers)
	case name == "loss" && x > 0.5:
		return 0, fmt.Errorf("%w: sweep over loss: %q is above 0.5", ErrOptions, item)
	}
	return x, nil
}

// set brings a point to the value.
func (v value) set(p *setting) {
	p.Sweep, p.Value = v.name, v.x
	switch v.name {
	case "peers":
		p.Peers = int(v.x)
	case "keys":
		p.Keys = int(v.x)
	case "upkeep":
		p.Params.Upkeep = v.x
	case "bits":
		p.Params.BitsPerKey = v.x
	case "budget":
		p.Params.Budget = int(v.x)
	case "origins":
		p.Params.Origins = int(v.x)
	case "churn":
		p.Churn.Median = time.Duration(v.x * float64(time.Second))
	case "loss":
		p.Loss = v.x
	case "degree":
		p.Topology.Degree = int(v.x)
	}
}
