package scenario

import (
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/venn-p2p/venn/testnet/sim"
	"github.com/venn-p2p/venn/testnet/statistics"
)

// Status is the progress of several runs.
type Status struct {
	Run, Runs int
	What      string
	Done      float64 // share of all runs' work that is done
}

// Run is the result of one strategy in one trial, on either engine.
type Run struct {
	Scenario string
	Strategy string
	Engine   string // Simulated or Real
	Trial    int
	Seed     uint64
	sim.Report

	Keys    int     // mean number of keys of a peer at the start
	Allowed float64 // bytes a second that a peer might send for upkeep, connecting aside; 0: the strategy's default
	Wall    float64 // seconds that the run took; runs beside each other share the processors
	State   float64 // bytes of memory of a peer at the end; 0: not known, because other runs ran at the time
}

// The engines.
const (
	Simulated = "simulated"
	Real      = "real"
)

// Figure is a quantity of a run.
type Figure struct {
	Name  string
	Title string
	Unit  string
	Log   bool // drawn on a logarithmic axis
	Share bool // the value is at most 1
	Maybe bool // not every run has it
}

// figures are the figures of every run, in the order of tables.
var figures = []Figure{
	{Name: "recall", Title: "recall", Share: true},
	{Name: "messages", Title: "messages a query", Log: true},
	{Name: "query_bytes", Title: "bytes a query", Unit: "B", Log: true},
	{Name: "wasted", Title: "wasted probes a query", Log: true},
	{Name: "hops", Title: "hops to the first holder"},
	{Name: "latency_p50", Title: "latency, median", Unit: "ms", Log: true},
	{Name: "latency_p99", Title: "latency, 99th percentile", Unit: "ms", Log: true},
	{Name: "upkeep", Title: "upkeep of a peer", Unit: "kB", Log: true},
	{Name: "startup", Title: "upkeep of a peer until the first query", Unit: "kB", Log: true},
	{Name: "rate", Title: "upkeep of a peer from then on", Unit: "B/s", Log: true},
	{Name: "steady", Title: "upkeep of a peer in the second half of the warm-up", Unit: "B/s", Log: true},
	{Name: "connect", Title: "upkeep of a peer to connect", Unit: "kB", Log: true, Maybe: true},
	{Name: "directory", Title: "directory of a peer", Unit: "kB", Log: true, Maybe: true},
	{Name: "covered", Title: "share of the peers covered by a query", Share: true, Maybe: true},
	{Name: "load", Title: "load: 99th percentile of peers over the mean", Maybe: true},
	{Name: "wrong", Title: "wrong holders a query"},
}

// RecallOf returns the name of the figure for the recall in a window.
func RecallOf(window string) string { return "recall_" + window }

// Figures returns the names and units of the figures of a run of the scenario.
func (s *Scenario) Figures() []Figure {
	out := slices.Clone(figures)
	for _, w := range slices.Sorted(maps.Keys(s.Windows)) {
		out = append(out, Figure{Name: RecallOf(w), Title: "recall, " + w, Share: true})
	}
	return out
}

func (s *Scenario) figureNames() []string {
	var names []string
	for _, f := range s.Figures() {
		names = append(names, f.Name)
	}
	return names
}

// QueriesOf estimates the number of a trial's queries that a recall figure covers.
func (s *Scenario) QueriesOf(figure string) float64 {
	n := float64(s.Queries.Number)
	w, part := s.Windows[strings.TrimPrefix(figure, RecallOf(""))]
	if !part {
		return n
	}
	from, to := max(w[0], s.Warmup), min(w[1], s.Warmup+s.Asking)
	return max(1, n*float64(to-from)/float64(s.Asking))
}

// Values returns the run's figures by name. A latency or hop count is NaN if nothing was found.
func (s *Scenario) Values(r *Run) map[string]float64 {
	v := map[string]float64{"recall": Recall(r.Queries), "wrong": float64(r.Wrong) / float64(max(1, len(r.Queries)))}
	var latencies []float64
	var hops, wasted counts
	for _, q := range r.Queries {
		wasted.add(q.Wasted)
		if q.Latency >= 0 {
			latencies = append(latencies, q.Latency)
			hops.add(q.Hops)
		}
	}
	v["messages"], v["query_bytes"], v["wasted"] = r.Messages, r.Bytes, wasted.mean()
	v["hops"] = hops.mean()
	v["latency_p50"], v["latency_p99"] = Quantile(latencies, 0.5), Quantile(latencies, 0.99)
	startup, rest, late, there := int64(0), int64(0), int64(0), 0
	for _, sec := range r.Seconds {
		at := time.Duration(sec.At) * time.Second
		if sec.At >= int(time.Duration(s.Warmup)/time.Second) {
			rest += sec.Upkeep
			continue
		}
		startup += sec.Upkeep
		if at >= time.Duration(s.Warmup)/2 {
			late, there = late+sec.Upkeep, there+sec.Online
		}
	}
	peers := float64(max(1, r.Peers))
	v["startup"], v["upkeep"] = float64(startup)/peers/1000, float64(startup+rest)/peers/1000
	v["rate"] = float64(rest) / peers / (s.End() - time.Duration(s.Warmup)).Seconds()
	v["steady"] = float64(late) / float64(there)
	v["connect"], v["load"] = known(&r.Connect)/1000, known(&r.LoadP99)
	v["covered"], v["directory"] = known(r.Covered), known(r.Directory)/1000
	for name, w := range s.Windows {
		v[RecallOf(name)] = Recall(within(r.Queries, w))
	}
	return v
}

// counts adds up counts, except those that are unknown.
type counts struct{ sum, number int }

func (c *counts) add(n int) {
	if n != sim.Unknown {
		c.sum, c.number = c.sum+n, c.number+1
	}
}

// mean returns the mean of the known counts; NaN if there are none.
func (c *counts) mean() float64 { return float64(c.sum) / float64(c.number) }

// known returns a figure that is known and not 0, else NaN.
func known(x *float64) float64 {
	if x == nil || *x == 0 {
		return math.NaN()
	}
	return *x
}

// within returns the queries that began in a window.
func within(all []sim.Query, w Window) []sim.Query {
	return slices.DeleteFunc(slices.Clone(all), func(q sim.Query) bool {
		at := time.Duration(q.At * float64(time.Second))
		return at < time.Duration(w[0]) || at >= time.Duration(w[1])
	})
}

// Recall returns the share of the findable holders that were found; NaN without queries. A query that wants one holder
// has one findable holder.
func Recall(queries []sim.Query) float64 {
	found, findable := 0, 0
	for _, q := range queries {
		found, findable = found+q.Found, findable+q.Findable
	}
	return float64(found) / float64(findable)
}

// Quantile does the same as statistics.Quantile, but returns NaN without values.
func Quantile(values []float64, share float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	return statistics.Quantile(values, share)
}
