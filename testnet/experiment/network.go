package experiment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/venn-p2p/venn/testnet/heap"
	"github.com/venn-p2p/venn/testnet/holdings"
	"github.com/venn-p2p/venn/testnet/link"
	"github.com/venn-p2p/venn/testnet/scenario"
	"github.com/venn-p2p/venn/testnet/sim"
	"github.com/venn-p2p/venn/testnet/strategies"
	"github.com/venn-p2p/venn/testnet/strategy"
	"github.com/venn-p2p/venn/testnet/strategy/venn"
)

// The experiments on simulated networks, which have rows of their own kind.
const (
	Routing = "routing" // strategies side by side
	Scale   = "scale"   // cost per peer as the network grows
)

// Networks are the experiments on simulated networks; RunNetwork runs one.
func Networks() []Info {
	return []Info{
		{Name: Routing, Title: "who finds holders at what cost: strategies side by side, in a simulated network", Paper: "each strategy's own"},
		{Name: Scale, Title: "cost per peer as the network grows under a fixed budget, simulated", Paper: "none"},
	}
}

// NetworkOptions say what RunNetwork runs. Zero values mean the stated defaults.
type NetworkOptions struct {
	Peers      int                 // 0: 2,000; of Scale, the most: 1,000
	Links      string              // classes of the peers' lines, as package link reads them; "": 10 Mbit/s each way for all
	Keys       int                 // of every peer, for made-up collections; 0: 200
	Data       string              // "" or "clusters": made up; "debian", or a table or folder as package workload reads
	Strategies []strategy.Strategy // to run, in this order; nil: all, for Scale see there
	Free       bool                // Scale: the others may send for upkeep as much as they like, in place of what venn sends
	Sweeps     []string            // "name=value,value…" each, see Sweeps: all combinations are run
	Fixed      []string            // "name=value" each: what a sweep can vary, at one value in all runs
	Trials     int                 // of every point, each with a seed of its own, drawn from Seed; 0: 5, or 1 with Look
	Queries    int                 // of every run; 0: 2,000
	Like       string              // by which rule of package holdings queries are drawn, or a log of them to replay; "": interest
	Asking     time.Duration       // over which the queries are spread; 0: 60 s
	Warmup     time.Duration       // before the first query; 0: 60 s
	Patience   time.Duration       // of a query; 0: 30 s
	All        bool                // queries want every holder; else one
	Seed       uint64
	Topology   sim.Topology
	Split      bool                // go on when the topology falls apart; else that is an error
	Out        string              // folder for rows, plots and report, made when missing; empty for none
	Traces     string              // folder for the trace of every run that is not known from before, made when missing; empty for none
	Version    string              // of the program, for the report
	Progress   func(NetworkStatus) // called about every virtual second, never by two goroutines at once; may be nil
	// Look is shown the run about every virtual second and at its end; its error ends the run. It wants one run, of
	// venn, that no folder keeps. nil: nobody looks.
	Look func(s *sim.Sim, now, end time.Duration) error
	Work
}

// NetworkStatus is how far a run is.
type NetworkStatus struct {
	Run, Runs    int // which of how many, from 1
	Point        string
	Virtual, End time.Duration // of this run
	Wall         time.Duration // since this run began
	Done         float64       // part of all runs that is done, those known from before and those of other parts included
}

// NetworkRow is what one run has shown.
type NetworkRow struct {
	Strategy             string   `json:"strategy"`
	Peers                int      `json:"peers"`
	Recall               float64  `json:"recall"`
	MessagesPerQuery     float64  `json:"messages_per_query"`
	WastedProbesPerQuery float64  `json:"wasted_probes_per_query"`
	UpkeepBytesPerPeer   float64  `json:"upkeep_bytes_per_peer"`  // to connect included
	StartupBytesPerPeer  float64  `json:"startup_bytes_per_peer"` // of that before the first query
	UpkeepRate           float64  `json:"upkeep_rate"`            // bytes a second that a peer which is there sends for upkeep in the second half of the warm-up
	ConnectBytesPerPeer  float64  `json:"connect_bytes_per_peer"` // of the upkeep, to connect, for queries, too
	QueryBytes           float64  `json:"query_bytes"`
	Covered              *float64 `json:"covered"`                  // share of the peers that a query asked or knew of; nil: the strategy cannot tell
	DirectoryBytes       *float64 `json:"directory_bytes_per_peer"` // what a peer keeps about others, as on the wire; nil: the strategy does not say
	Allowed              float64  `json:"upkeep_allowed,omitempty"` // bytes a second that a peer might send for upkeep, to connect left out; 0: as the strategy has it
	Hops                 float64  `json:"hops"`                     // of the queries that found a holder, as the latencies are; 0: none did
	LatencyP50           float64  `json:"latency_ms_p50"`
	LatencyP99           float64  `json:"latency_ms_p99"`
	TraceHash            string   `json:"trace_hash"`

	At             []Coordinate    `json:"at"` // what is varied, in the order of the sweeps; empty for nothing
	Trial          int             `json:"trial"`
	Seed           uint64          `json:"seed"`
	Keys           int             `json:"keys_per_peer"` // on average
	Queries        int             `json:"queries"`
	Online         float64         `json:"online"`             // peers that were there, on average
	UpkeepP99      float64         `json:"upkeep_bytes_p99"`   // of the peer that 99 of 100 stay below
	LoadP99        float64         `json:"load_p99_over_mean"` // messages that a peer sends for queries
	LoadMax        float64         `json:"load_max_over_mean"`
	VirtualSeconds float64         `json:"virtual_seconds"`
	WallSeconds    float64         `json:"wall_seconds"`         // of the run; runs beside each other share the processors
	StateBytes     float64         `json:"state_bytes_per_peer"` // in use at the end for this strategy; 0: not known, for runs were beside each other
	Components     int             `json:"topology_components"`
	Lines          []sim.Known     `json:"lines,omitempty"` // what peers know by the rate of their lines, where there are several classes
	Kinds          []scenario.Kind `json:"kinds"`           // what all peers sent for upkeep, by kind of message
}

// Coordinate is the value of what is varied, of a time in seconds.
type Coordinate struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
}

func (c Coordinate) label() string { return networkVariable(c.Name).label(c.Value) }

// NetworkResult is what RunNetwork has found, and the files it wrote.
type NetworkResult struct {
	Experiment string       `json:"experiment"`
	Version    string       `json:"version,omitempty"`
	Rows       []NetworkRow `json:"rows"`
	Slopes     []Slope      `json:"slopes,omitempty"` // of Scale, where there are two sizes at least
	Files      []string     `json:"files,omitempty"`
}

// ErrOptions is matched by the errors of options that make no sense, found before anything is run.
var ErrOptions = errors.New("experiment: bad options")

// Point is where the row is on the sweeps, as in "churn=10m, loss=0.1"; empty without a sweep.
func (r NetworkRow) Point() string { return pointOf(r.At) }

func pointOf(at []Coordinate) string {
	var out []string
	for _, c := range at {
		out = append(out, c.Name+"="+c.label())
	}
	return strings.Join(out, ", ")
}

// RunNetwork runs the named experiment. Of small networks there are as many runs at a time as processors; a run of a
// large one has all of them, and so has the last run. With a folder, every run's row is kept there as soon as it is
// known. A later call of the same program with the same options and data goes on where this one was interrupted. When
// ctx ends, it returns its error and the rows known by then.
//
// Errors before anything long is done match ErrOptions, or are those of the file system.
func RunNetwork(ctx context.Context, name string, o NetworkOptions) (NetworkResult, error) {
	result := NetworkResult{Experiment: name, Version: o.Version}
	points, err := o.points(name)
	if err != nil {
		return result, err
	}
	runs := make([]string, len(points))
	for i, p := range points {
		runs[i] = p.id()
	}
	known, err := openLedger[NetworkRow](o.Out, name, o.Work, runs)
	if err != nil {
		return result, err
	}
	defer known.close()
	defer heap.Grow(gcPercent(points))()
	all := networkRuns{
		options: &o, points: points, names: runs, known: known, atOnce: o.jobs(runsAtOnce(points)), done: make([]float64, len(points)), once: make([]onceRun, len(points)),
	}
	all.data.keep, all.processors.atOnce = all.atOnce, all.atOnce
	for i, run := range runs {
		if known.todo(i, run) {
			all.processors.left.Add(1)
		} else {
			all.done[i] = 1
		}
	}
	rows, err := runEach(ctx, runs, all.atOnce, known, func(ctx context.Context, i int) (NetworkRow, error) {
		defer all.processors.left.Add(-1)
		return all.row(ctx, i)
	})
	for _, row := range rows {
		if row != nil {
			result.Rows = append(result.Rows, *row)
		}
	}
	if name == Scale {
		result.Slopes = slopesOf(result.Rows)
	}
	if o.reports() && o.Out != "" && len(result.Rows) > 0 {
		var writeErr error
		result.Files, writeErr = o.write(name, result, len(points))
		err = errors.Join(err, writeErr)
	}
	return result, err
}

// runsAtOnce is how many runs fit in memory beside each other, and on the processors.
func runsAtOnce(points []setting) int {
	largest := 0
	for _, p := range points {
		largest = max(largest, p.Peers)
	}
	return together(largest)
}

// together is how many runs of networks of the given size go at one time.
func together(peers int) int {
	const most = 2500 // peers
	return max(1, min(runtime.GOMAXPROCS(0), most/max(1, peers)))
}

// processors are shared by the runs of an experiment.
type processors struct {
	atOnce int          // runs
	left   atomic.Int32 // runs that are not done
}

// each is how many processors a run has. The last ones have those of runs that are done.
func (p *processors) each() int {
	const most = 8 // a run has work for no more of them
	return max(1, min(most, runtime.GOMAXPROCS(0)/max(1, min(p.atOnce, int(p.left.Load())))))
}

// gcPercent lets the heap of a large network, which takes gigabytes that live, grow by half between collections, and
// others double. The environment's GOGC wins.
func gcPercent(points []setting) int {
	const large = 20_000 // peers
	if slices.ContainsFunc(points, func(p setting) bool { return p.Peers > large }) {
		return 50
	}
	return 100
}

// setting is what one run is made of.
type setting struct {
	Experiment string
	Strategy   string
	Peers      int
	Keys       int
	Data       string
	Contents   string // of the data
	At         []Coordinate
	Trial      int
	Queries    int
	Like       string
	Logged     string // what is in the log that is replayed
	Warmup     time.Duration
	Asking     time.Duration
	Patience   time.Duration
	All        bool
	Outside    float64
	Links      string
	Beside     string // strategy whose upkeep in the same network is the most that this one may send; "": none
	Topology   sim.Topology
	Params     strategy.Params
	Churn      sim.Churn
	Loss       float64
	Seed       uint64

	strategy strategy.Strategy
}

// id names all that the point's row follows from.
func (p setting) id() string { return runID(p) }

func (p setting) String() string {
	s := fmt.Sprintf("%s, %d peers", p.Strategy, p.Peers)
	for _, c := range p.At {
		if c.Name != sweepPeers.Name {
			s += fmt.Sprintf(", %s %s", c.Name, c.label())
		}
	}
	if p.Trial > 0 {
		s += fmt.Sprintf(", trial %d", p.Trial+1)
	}
	return s
}

// points checks the options and lists the runs.
func (o *NetworkOptions) points(name string) ([]setting, error) {
	if o.Peers == 0 {
		o.Peers = map[string]int{Routing: 2000, Scale: 1000}[name]
	}
	setDefault(&o.Keys, 200)
	if o.Look != nil {
		setDefault(&o.Trials, 1)
	}
	setDefault(&o.Trials, 5)
	setDefault(&o.Queries, 2000)
	setDefault(&o.Asking, asking)
	setDefault(&o.Warmup, warmup)
	setDefault(&o.Patience, patience)
	setDefault(&o.Data, clustered)
	setDefault(&o.Like, holdings.Interest)
	if o.Strategies == nil {
		o.Strategies = strategies.All()
		if name == Scale {
			o.Strategies = o.scaled()
		}
	}
	if err := errors.Join(o.check(name), o.Work.check()); err != nil {
		return nil, err
	}
	places, err := o.places(name)
	if err != nil {
		return nil, err
	}
	fixed, err := o.fixed(places[0])
	if err != nil {
		return nil, err
	}
	inside := "" // of clusters: they follow from the rest of the setting
	if o.Data != clustered {
		if inside, err = contents(o.Data); err != nil {
			return nil, err
		}
	}
	logged := ""
	if holdings.CheckRule(o.Like) != nil {
		if logged, err = contents(o.Like); err != nil {
			return nil, fmt.Errorf("%w: queries like %s: neither a rule (%s) nor a log: %w", ErrOptions, o.Like, strings.Join(holdings.Rules, ", "), err)
		}
	}
	beside := o.beside(name, append(slices.Clone(places[0]), fixed...))
	var points []setting
	for _, place := range places {
		for trial := range o.Trials { // strategies are compared on the same collections: those follow each other
			for _, s := range o.Strategies {
				p := setting{
					Experiment: name, Strategy: s.Name, Peers: o.Peers, Keys: o.Keys, Data: o.Data, Contents: inside, Trial: trial,
					Queries: o.Queries, Like: o.Like, Logged: logged, Warmup: o.Warmup, Asking: o.Asking, Patience: o.Patience, All: o.All, Links: o.Links, Topology: o.Topology, Seed: strategy.TrialSeed(o.Seed, trial), strategy: s,
				}
				if name == Scale {
					p.scale()
				}
				if beside != s.Name && s.Heeds(strategy.Upkeep.Name) {
					p.Beside = beside
				}
				for _, v := range fixed {
					p.set(v)
				}
				for _, v := range place {
					p.set(v)
					p.At = append(p.At, Coordinate{v.Name, v.x})
				}
				points = append(points, p)
			}
		}
	}
	if o.Look != nil {
		if err := o.lookable(points); err != nil {
			return nil, err
		}
	}
	return points, o.connected(points)
}

// lookable refuses to look at runs other than one of venn that is sure to be done.
func (o *NetworkOptions) lookable(points []setting) error {
	switch {
	case len(points) != 1:
		return fmt.Errorf("%w: a recording is of one run, and these are %d: name one strategy, one trial and no sweep", ErrOptions, len(points))
	case points[0].Strategy != venn.Strategy.Name:
		return fmt.Errorf("%w: a recording shows peers of venn, not of %s", ErrOptions, points[0].Strategy)
	case o.Out != "" || !o.reports() || o.Lines != nil:
		return fmt.Errorf("%w: a recording goes without a folder and without parts: a run known from before is not done again", ErrOptions)
	}
	return nil
}

// places are all combinations of the values of the sweeps, the first sweep's changing last. Scale's own sweep is over
// peers, three to a decade, up to the number given.
func (o *NetworkOptions) places(name string) ([][]value, error) {
	if len(o.Sweeps) == 0 && name == Scale {
		return o.sizes(), nil
	}
	places := [][]value{nil}
	for _, sweep := range o.Sweeps {
		values, err := parseSweep(variablesOf(o.Strategies), cmp.Or(sweep, "="))
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(places[0], func(v value) bool { return v.Name == values[0].Name }) {
			return nil, fmt.Errorf("%w: %s is swept twice", ErrOptions, values[0].Name)
		}
		if err := o.heeded(values[0].Name); err != nil {
			return nil, err
		}
		var more [][]value
		for _, p := range places {
			for _, v := range values {
				more = append(more, append(slices.Clone(p), v))
			}
		}
		places = more
	}
	return places, nil
}

func (o *NetworkOptions) sizes() (places [][]value) {
	for exact := leastScale; o.Look == nil; exact *= math.Cbrt(10) {
		x := math.Round(exact/leastScale) * leastScale
		if x >= float64(o.Peers) {
			break
		}
		places = append(places, []value{{sweepPeers, x}})
	}
	return append(places, []value{{sweepPeers, float64(o.Peers)}})
}

// says reports whether a sweep is over what has this name, or it is fixed.
func (o *NetworkOptions) says(name string) bool {
	return slices.ContainsFunc(slices.Concat(o.Sweeps, o.Fixed), func(s string) bool {
		of, _, _ := strings.Cut(s, "=")
		return strings.TrimSpace(of) == name
	})
}

// heeds says whether the rows of a strategy depend on what has this name.
func heeds(s *strategy.Strategy, name string) bool {
	switch {
	case name == degreeName:
		return !s.Connects
	case ofNetworks(name):
		return true
	}
	return s.Heeds(name)
}

// heeded refuses to sweep what a strategy ignores: its rows would all be the same.
func (o *NetworkOptions) heeded(name string) error {
	var heed, ignore []string
	for _, s := range o.Strategies {
		if heeds(&s, name) {
			heed = append(heed, s.Name)
		} else {
			ignore = append(ignore, s.Name)
		}
	}
	switch {
	case len(ignore) == 0:
		return nil
	case len(heed) == 0:
		return fmt.Errorf("%w: sweep over %s, which %s ignore", ErrOptions, name, strings.Join(ignore, ", "))
	}
	return fmt.Errorf("%w: sweep over %s, which %s ignore: name strategies that do not, as %s", ErrOptions, name, strings.Join(ignore, ", "), strings.Join(heed, ", "))
}

// fixed are the values of all runs; none is that of a sweep. At least one strategy heeds each.
func (o *NetworkOptions) fixed(swept []value) ([]value, error) {
	var fixed []value
	for _, f := range o.Fixed {
		values, err := parseSweep(variablesOf(o.Strategies), f)
		if err != nil {
			return nil, err
		}
		if len(values) > 1 || values[0].Name == "" {
			return nil, fmt.Errorf("%w: %q is not one value of one name", ErrOptions, f)
		}
		if name := values[0].Name; slices.ContainsFunc(append(slices.Clone(swept), fixed...), func(f value) bool { return f.Name == name }) {
			return nil, fmt.Errorf("%w: %s is given twice", ErrOptions, name)
		}
		fixed = append(fixed, values[0])
	}
	return fixed, nil
}

// set brings a point to a value.
func (p *setting) set(v value) {
	switch v.Name {
	case "peers":
		p.Peers = int(v.x)
	case keysName:
		p.Keys = int(v.x)
	case "churn":
		p.Churn.Median = time.Duration(v.x * float64(time.Second))
	case "loss":
		p.Loss = v.x
	case degreeName:
		p.Topology.Degree = int(v.x)
	case outsideName:
		p.Outside = v.x
	case "killed":
		p.Churn.Killed, p.Churn.KilledAt = v.x, p.Warmup/2
	case strongName:
		p.Params.Strong = v.x
	case rewireName:
		p.Topology.Rewire = v.x
	default:
		p.Params.Set(v.Name, v.x)
	}
}

func (o *NetworkOptions) check(name string) error {
	var faults []error
	fault := func(bad bool, format string, args ...any) {
		if bad {
			faults = append(faults, fmt.Errorf("%w: "+format, append([]any{ErrOptions}, args...)...))
		}
	}
	fault(name != Routing && name != Scale, "%q is no experiment on networks", name)
	fault(o.Peers < 2 || o.Peers > sim.MaxPeers, "%d peers, want 2 to %d", o.Peers, sim.MaxPeers)
	fault(o.Keys < 1, "%d keys, want 1 or more", o.Keys)
	fault(o.Trials < 1, "%d trials, want 1 or more", o.Trials)
	fault(o.Queries < 1, "%d queries, want 1 or more", o.Queries)
	fault(o.Asking < 0 || o.Warmup < 0 || o.Patience < 0, "a warm-up of %v, queries over %v, a patience of %v: below 0", o.Warmup, o.Asking, o.Patience)
	fault(len(o.Strategies) == 0, "no strategy")
	fault(o.Free && name != Scale, "in %s nothing bounds upkeep but the sweep over it: free is for %s", name, Scale)
	if o.Links != "" {
		_, err := link.ParseMix(o.Links)
		fault(err != nil, "%w", err)
		fault(o.says(strongName), "classes of lines, and a share of strong ones: say one")
	}
	fault(o.says(keysName) && o.Data != clustered, "%s is of collections that are made up, and those of %s are as they are", keysName, o.Data)
	fault(o.says(outsideName) && (o.Data != clustered || o.Like != holdings.Interest), "%s is of queries by interest, of collections that are made up", outsideName)
	fault(o.says(rewireName) && o.Topology.Kind != sim.SmallWorld, "%s is of a topology of the kind %s", rewireName, sim.SmallWorld)
	if err := o.Topology.Check(); err != nil {
		fault(true, "%w", err)
	}
	names := map[string]bool{}
	for _, s := range o.Strategies {
		fault(s.Name == "" || s.Open == nil, "strategy %q has no name or no Open", s.Name)
		fault(names[s.Name], "strategy %q twice", s.Name)
		names[s.Name] = true
	}
	return errors.Join(faults...)
}

// connected refuses a topology that falls apart, unless that is wanted.
func (o *NetworkOptions) connected(points []setting) error {
	type network struct {
		sim.Topology
		peers int
		seed  uint64
	}
	seen := map[network]bool{}
	for _, p := range points {
		n := network{p.Topology, p.Peers, p.Seed}
		if o.Split || seen[n] {
			continue
		}
		seen[n] = true
		if parts := p.Topology.Parts(p.Peers, p.Seed); parts > 1 {
			return fmt.Errorf("%w: the topology of %d peers falls into %d parts: more links would connect them, or say that this is wanted", ErrOptions, p.Peers, parts)
		}
	}
	return nil
}

func setDefault[T comparable](p *T, v T) {
	var zero T
	if *p == zero {
		*p = v
	}
}

// networkRuns are the runs of an experiment.
type networkRuns struct {
	options *NetworkOptions
	points  []setting
	names   []string // of the runs, in the ledger
	known   *ledger[NetworkRow]
	atOnce  int
	data    recent[*sim.Data]
	once    []onceRun

	processors processors

	mu   sync.Mutex
	done []float64 // part of each run
}

// onceRun is a run that is done once, although others wait for it, too.
type onceRun struct {
	sync.Once
	row NetworkRow
	err error
}

// row is what a run has found, which is done now if it is not known.
func (n *networkRuns) row(ctx context.Context, i int) (NetworkRow, error) {
	r := &n.once[i]
	r.Do(func() {
		if row, known := n.known.get(n.names[i]); known {
			r.row = row
			return
		}
		r.row, r.err = n.run(ctx, i)
	})
	return r.row, r.err
}

// run runs a point.
func (n *networkRuns) run(ctx context.Context, i int) (NetworkRow, error) {
	o, p := n.options, n.points[i]
	if err := n.pace(ctx, &p); err != nil {
		return NetworkRow{}, err
	}
	began := time.Now()
	data, err := n.data.get(fmt.Sprint(p.Data, p.Peers, p.Keys, p.Seed), p.load)
	if err != nil {
		return NetworkRow{}, err
	}
	before := 0.0
	if n.atOnce == 1 {
		before = live()
	}
	trace, err := newTrace(o.Traces, p.traceName())
	if err != nil {
		return NetworkRow{}, err
	}
	defer trace.drop()
	var s *sim.Sim
	var lookErr error
	look := func(now, end time.Duration) bool {
		if o.Look != nil && lookErr == nil {
			lookErr = o.Look(s, now, end)
		}
		return lookErr == nil
	}
	like, asks, err := p.like(data)
	if err != nil {
		return NetworkRow{}, err
	}
	lines, err := p.lines()
	if err != nil {
		return NetworkRow{}, err
	}
	crew := NewCrew(n.processors.each())
	defer crew.Close()
	s, err = sim.New(sim.Config{
		Like: like, Script: sim.Script{Asks: asks}, Strategy: p.strategy, Params: p.Params, Data: data, Topology: p.Topology, Churn: p.Churn, Loss: p.Loss,
		Warmup: p.Warmup, Asking: p.Asking, Patience: p.Patience, Queries: p.Queries, All: p.All, Outside: p.Outside, Lines: lines, Rates: p.rates(), Seed: p.Seed, Each: crew.Each, Notes: o.Look != nil,
		Detail: true, Trace: trace.writer(),
		Progress: func(now, end time.Duration) bool {
			crew.Grow(n.processors.each())
			n.tell(i, now, end, time.Since(began))
			return look(now, end) && ctx.Err() == nil
		},
	})
	if err != nil {
		return NetworkRow{}, err
	}
	if s.Components() > 1 && !o.Split {
		return NetworkRow{}, fmt.Errorf("%w: the topology falls into %d parts", ErrOptions, s.Components())
	}
	r, err := s.Run()
	if errors.Is(err, sim.ErrStopped) {
		return NetworkRow{}, cmp.Or(lookErr, ctx.Err())
	}
	if err != nil {
		return NetworkRow{}, fmt.Errorf("experiment: %v: %w", p, err)
	}
	if !look(r.Virtual, r.Virtual) {
		return NetworkRow{}, lookErr
	}
	if err := trace.keep(); err != nil {
		return NetworkRow{}, err
	}
	row := p.row(r, data, time.Since(began))
	if n.atOnce == 1 {
		row.StateBytes = max(0, live()-before) / float64(p.Peers)
		runtime.KeepAlive(s)
	}
	return row, nil
}

// tell reports progress.
func (n *networkRuns) tell(i int, now, end, wall time.Duration) {
	if n.options.Progress == nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.done[i] = float64(now) / float64(end)
	sum := 0.0
	for _, d := range n.done {
		sum += d
	}
	n.options.Progress(NetworkStatus{i + 1, len(n.points), n.points[i].String(), now, end, wall, sum / float64(len(n.points))})
}

// The times of a run: peers join and learn of each other, queries begin (unless something else is asked for), the last
// ones end.
const (
	warmup   = 60 * time.Second
	asking   = 60 * time.Second
	patience = 30 * time.Second
)

func (p setting) row(r *sim.Report, d *sim.Data, wall time.Duration) NetworkRow {
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	row := NetworkRow{
		Strategy: p.Strategy, Peers: r.Peers, Recall: r.Recall, MessagesPerQuery: r.MessagesPerQuery,
		WastedProbesPerQuery: r.WastedProbesPerQuery, UpkeepBytesPerPeer: r.UpkeepBytesPerPeer,
		ConnectBytesPerPeer: r.ConnectBytes, Allowed: p.Params.Upkeep, QueryBytes: r.QueryBytes,
		Hops: r.Hops, LatencyP50: ms(r.LatencyP50), LatencyP99: ms(r.LatencyP99), TraceHash: r.TraceHash,
		At: p.At, Trial: p.Trial, Seed: p.Seed, Keys: d.Holdings() / d.Peers(), Queries: r.Queries,
		Online: r.Online, UpkeepP99: r.UpkeepBytesP99, LoadP99: r.LoadP99, LoadMax: r.LoadMax,
		VirtualSeconds: r.Virtual.Seconds(), WallSeconds: wall.Seconds(), Components: r.Components,
	}
	row.StartupBytesPerPeer, row.UpkeepRate = p.upkeepBefore(r)
	if r.Covered >= 0 {
		row.Covered = &r.Covered
	}
	if r.Known.Peers > 0 {
		row.DirectoryBytes = &r.Known.DirectoryBytes
	}
	if len(r.Lines) > 1 || p.classes() { // of several classes one may be left at the end
		row.Lines = r.Lines
	}
	for _, k := range r.Detail.Upkeep {
		row.Kinds = append(row.Kinds, scenario.Kind(k))
	}
	return row
}

// upkeepBefore is what a peer sends for upkeep before the first query: the bytes, and the bytes a second of the peers that
// are there in the second half of that time.
func (p setting) upkeepBefore(r *sim.Report) (bytes, rate float64) {
	all, late, there := int64(0), int64(0), 0
	for i, s := range r.Detail.Seconds {
		at := time.Duration(i) * time.Second
		if at >= p.Warmup {
			break
		}
		all += s.Upkeep
		if at >= p.Warmup/2 {
			late, there = late+s.Upkeep, there+s.Online
		}
	}
	return float64(all) / float64(max(1, r.Peers)), float64(late) / float64(max(1, there))
}

// like is the rule by which queries are drawn, or those of a log, in which peers and keys are numbers.
func (p setting) like(data *sim.Data) (rule string, asks []sim.Ask, err error) {
	if p.Logged == "" {
		return p.Like, nil, nil
	}
	f, err := os.Open(p.Like)
	if err != nil {
		return "", nil, fmt.Errorf("experiment: %w", err)
	}
	defer f.Close()
	below := func(text string, most int) (int, bool) {
		n, err := strconv.Atoi(text)
		return n, err == nil && n >= 0 && n < most
	}
	logged, err := holdings.ReadLog(f, p.Warmup+p.Asking,
		func(text string) (strategy.ID, bool) { n, ok := below(text, data.Peers()); return strategy.ID(n), ok },
		holdings.KeyNames(data.Keys(), func([]byte) (uint32, bool) { return 0, false }))
	if err != nil {
		return "", nil, fmt.Errorf("%w: %s: %w", ErrOptions, p.Like, err)
	}
	if len(logged) == 0 {
		return "", nil, fmt.Errorf("%w: %s: no query is in it", ErrOptions, p.Like)
	}
	for _, q := range logged {
		asks = append(asks, sim.Ask{At: q.At, Peer: q.Asker, Key: q.Key})
	}
	slices.SortStableFunc(asks, func(a, b sim.Ask) int { return cmp.Compare(a.At, b.At) })
	return "", asks, nil
}

// Parallel calls do(0) to do(n-1) on all processors, and returns when all are done.
func Parallel(n int, do func(i int)) {
	var next atomic.Int64
	work := func() {
		for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
			do(i)
		}
	}
	var others sync.WaitGroup
	for range min(n, runtime.GOMAXPROCS(0)) - 1 {
		others.Go(work)
	}
	work()
	others.Wait()
}

const clustered = "clusters"

// load makes or reads the collections of a point.
func (p setting) load() (*sim.Data, error) {
	rng := strategy.Random(p.Seed, "experiment: collections", 0)
	if p.Data == clustered {
		return sim.NewClusters(sim.Clusters{Peers: p.Peers, Keys: p.Keys}, rng)
	}
	return loadSimulated(p.Data, p.Peers, rng)
}
