package experiment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"

	"github.com/venn-p2p/venn/testnet/results/report"
	"github.com/venn-p2p/venn/testnet/runs"
)

// The experiments on collections and summaries of them, without a network.
const (
	Neighbours = "neighbours" // the peers that policies choose, and the queries that they can answer
	Overlaps   = "overlap"    // estimates against truth, beside other sketches of the same size
	Budget     = "budget"     // the knowledge in a directory of a number of bytes
)

// Collections lists the experiments on collections; RunCollection runs one.
func Collections() []Info {
	return []Info{
		{Name: Neighbours, Title: "policies of choosing neighbours: what share of queries those alone answer", Paper: "none"},
		{Name: Overlaps, Title: "estimates of overlap against truth by bytes, beside theta, HyperLogLog and MinHash", Paper: "none"},
		{Name: Budget, Title: "recall and wasted probes by the bytes of summaries known", Paper: "none"},
	}
}

// CollectionRow is one number found: the mean of the trials.
type CollectionRow struct {
	Experiment string  `json:"experiment"`
	Sweep      string  `json:"sweep"` // name of the swept variable; empty without a sweep
	At         float64 `json:"at"`    // value of the swept variable
	Peers      int     `json:"peers"`
	Case       string  `json:"case"` // a policy, a sketch
	By         string  `json:"by,omitempty"`
	Bytes      int     `json:"bytes,omitempty"` // bytes of one sketch; in the budget experiment, of all summaries of a peer
	Quantity   string  `json:"quantity"`
	Value      float64 `json:"value"`
	Error      float64 `json:"standard_error"` // standard error of the value; 0 with one trial
	Trials     int     `json:"trials"`
}

// CollectionResult is the result of RunCollection.
type CollectionResult struct {
	Experiment string          `json:"experiment"`
	Version    string          `json:"version,omitempty"`
	Rows       []CollectionRow `json:"rows"`
	Files      []string        `json:"files,omitempty"`
}

// collectionSetting has the settings of one run: one trial at one point of the sweep.
type collectionSetting struct {
	Experiment string
	Data       string
	Contents   string // hash of the data's files
	Peers      int
	Sweep      string
	At         float64
	Slots      int     // neighbours of a peer, for Neighbours
	Bytes      int     // bytes of a sketch, or of a budget without Share
	Share      float64 // budget as a share of the bytes of all summaries; 0: Bytes
	Seed       uint64
	Trial      int
}

// set applies one value of the sweep to the setting; bytes overrides share.
func (s *collectionSetting) set(v value) {
	s.Sweep, s.At = v.name, v.x
	switch v.name {
	case "peers":
		s.Peers = int(v.x)
	case "slots":
		s.Slots = int(v.x)
	case "share":
		s.Share = v.x
	case "bytes":
		s.Bytes, s.Share = int(v.x), 0
	}
}

func (s collectionSetting) String() string {
	out := s.Experiment
	if s.Sweep != "" {
		out += fmt.Sprintf(", %s %s", s.Sweep, report.Number(s.At))
	}
	return fmt.Sprintf("%s, trial %d", out, s.Trial+1)
}

// measure is one number of one run.
type measure struct {
	Case, By string
	Bytes    int
	Quantity string
	Value    float64
}

// collectionKind is a kind of experiment on collections.
type collectionKind struct {
	sweep string // default sweep
	do    func(*collectionRun)
}

var collectionKinds = map[string]collectionKind{
	Neighbours: {"", (*collectionRun).neighbours},
	Overlaps:   {"bytes=512,1024,2048,4096,16384", (*collectionRun).overlaps},
	Budget:     {"share=0.015625,0.03125,0.0625,0.125,0.25,0.5,1", (*collectionRun).budget},
}

// RunCollection runs the named experiment, some runs at a time. Errors of options match runs.ErrOptions, or come from
// package workload or the file system, before anything long is done. When ctx ends, it returns its error and the rows
// of the trials done by then. With a folder, a later call of the same program with the same options and data goes on
// from there.
func RunCollection(ctx context.Context, name string, o Options) (CollectionResult, error) {
	result := CollectionResult{Experiment: name, Version: o.Version}
	settings, err := o.settings(name)
	if err != nil {
		return result, err
	}
	all := collectionRuns{settings: settings, data: runs.Recent[*collections]{Keep: o.Workers()}}
	var of runs.Pieces[[]measure]
	for _, s := range settings {
		of.Of = append(of.Of, runs.Piece{ID: runs.ID(s), Name: s.String(), Cost: 1})
	}
	of.Tell = o.tell(of.Of)
	found, err := of.Do(ctx, o.Out, name, o.Work, o.Workers(), all.run)
	result.Rows = collectionRows(settings, found)
	if o.Reports() && o.Out != "" && len(result.Rows) > 0 {
		var writeErr error
		missing := slices.DeleteFunc(slices.Clone(found), func(f *[]measure) bool { return f != nil })
		result.Files, writeErr = o.write(name, result.Rows, report.Unfinished(len(found)-len(missing), len(found)))
		err = errors.Join(err, writeErr)
	}
	return result, err
}

// settings checks the options and lists the runs.
func (o *Options) settings(name string) ([]collectionSetting, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	o.Trials = cmp.Or(o.Trials, 3)
	o.Data = cmp.Or(o.Data, debian)
	kind, known := collectionKinds[name]
	switch {
	case !known:
		return nil, fmt.Errorf("%w: %q is no experiment on collections", runs.ErrOptions, name)
	case o.Trials < 1:
		return nil, fmt.Errorf("%w: %d trials, want 1 or more", runs.ErrOptions, o.Trials)
	case o.Peers != 0 && peersOfData.Check(float64(o.Peers)) != nil:
		return nil, fmt.Errorf("%w: peers: %d %w", runs.ErrOptions, o.Peers, peersOfData.Check(float64(o.Peers)))
	}
	o.Sweep = cmp.Or(o.Sweep, kind.sweep)
	values, err := parseSweep(Sweeps(name), o.Sweep)
	if err != nil {
		return nil, err
	}
	inside, err := runs.Contents(o.Data)
	if err != nil {
		return nil, err
	}
	var out []collectionSetting
	for _, v := range values {
		for trial := range o.Trials {
			s := collectionSetting{Experiment: name, Data: o.Data, Contents: inside, Peers: o.Peers, Seed: o.Seed, Trial: trial}
			switch name {
			case Neighbours:
				s.Slots = 8
			case Overlaps:
				s.Bytes = 1024
			case Budget:
				s.Share = 0.125
			}
			s.set(v)
			out = append(out, s)
		}
	}
	return out, nil
}

// collectionRuns are the runs of an experiment.
type collectionRuns struct {
	settings []collectionSetting
	data     runs.Recent[*collections]
}

// run does one run.
func (c *collectionRuns) run(ctx context.Context, i int) ([]measure, error) {
	s := c.settings[i]
	data, err := c.data.Get(fmt.Sprint(s.Peers), func() (*collections, error) { return loadCollections(s.Data, s.Peers, s.Seed) })
	if err != nil {
		return nil, err
	}
	run := collectionRun{collections: data, collectionSetting: s, ctx: ctx, rng: rand.New(rand.NewPCG(s.Seed, uint64(s.Trial)+1))}
	collectionKinds[s.Experiment].do(&run)
	return run.found, nil
}

// collectionRun is one run. All that it draws follows from the seed and the trial: points of a sweep are compared on
// the same pairs and questions.
type collectionRun struct {
	*collections
	collectionSetting
	ctx   context.Context
	rng   *rand.Rand
	found []measure
}

func (c *collectionRun) add(what, by string, bytes int, quantity string, value float64) {
	c.found = append(c.found, measure{what, by, bytes, quantity, value})
}

// each calls do(0) to do(n-1) on all processors, and leaves out the rest when the run is interrupted.
func (c *collectionRun) each(n int, do func(i int)) {
	runs.Parallel(n, runtime.GOMAXPROCS(0), func(i int) {
		if c.ctx.Err() == nil {
			do(i)
		}
	})
}
