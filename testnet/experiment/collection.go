package experiment

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"

	"github.com/venn-p2p/venn/testnet/results/report"
	"github.com/venn-p2p/venn/testnet/runs"
	"github.com/venn-p2p/venn/testnet/statistics"
	"github.com/venn-p2p/venn/testnet/strategy"
)

// The experiments on collections and summaries of them, without a network.
const (
	Neighbours = "neighbours" // the peers that policies choose, and the queries that they can answer
	Overlaps   = "overlap"    // estimates against truth, beside other sketches of the same size
	Budget     = "budget"     // the knowledge in a directory of a number of bytes
)

// collectionKind is a kind of experiment on collections.
type collectionKind struct {
	Info
	sweeps  []strategy.Parameter // all that can be varied
	sweep   string               // default sweep
	setting collectionSetting    // values of what is not varied
	do      func(*collectionRun)
	terms   [][2]string // explain the cases and quantities
}

var peersOfData = strategy.Parameter{Name: "peers", Unit: "peers that the data is dealt to", Whole: true, Low: 3, High: 10_000}

var collectionKinds = []collectionKind{{
	Info:    Info{Name: Neighbours, Title: "policies of choosing neighbours: what share of queries those alone answer", Paper: "none"},
	sweeps:  []strategy.Parameter{peersOfData, {Name: "slots", Unit: "neighbours of a peer", Whole: true, Low: 1, High: 1000}},
	setting: collectionSetting{Slots: 8},
	do:      (*collectionRun).neighbours,
	terms: [][2]string{
		{"by exact, by sample", "the policies know every overlap exactly, or estimate it from the first KiB of every summary, as peers do"},
		{"biggest", "not a policy of ours: the peers with the largest collections, the same for all"},
		{"withheld keys answered", "of the asker's own keys that 2 to 10 others hold and that it was made to forget: the share that a neighbour has"},
		{"lacked keys answered", "of keys drawn evenly from all that the asker lacks and another holds: the share that a neighbour has"},
		{"clustering, path length, pairs connected", "of the graph of links: the mean clustering coefficient, the mean of the shortest paths, the share of pairs that have one"},
	},
}, {
	Info:    Info{Name: Overlaps, Title: "estimates of overlap against truth by bytes, beside theta, HyperLogLog and MinHash", Paper: "none"},
	sweeps:  []strategy.Parameter{peersOfData, {Name: "bytes", Unit: "bytes of a sketch", Whole: true, Low: 256, High: 1 << 20}},
	sweep:   "bytes=512,1024,2048,4096,16384",
	setting: collectionSetting{Bytes: 1024},
	do:      (*collectionRun).overlaps,
	terms: [][2]string{
		{"venn", "the first bytes of summaries: a deep sample, then a filter that deepens; the collections' sizes are in its header"},
		{"theta", "the smallest 64-bit hashes (KMV)"},
		{"MinHash", "8 bits of the smallest hash of each bucket, in one permutation"},
		{"HyperLogLog", "6-bit registers of both; the intersection from the sizes and the union"},
		{"error", "root mean square over 300 pairs of peers, as a share of the smaller collection; the sizes of both are known"},
	},
}, {
	Info: Info{Name: Budget, Title: "recall and wasted probes by the bytes of summaries known", Paper: "none"},
	sweeps: []strategy.Parameter{
		peersOfData,
		{Name: "share", Unit: "share of everybody's summaries that a peer has room for, up to 1", Low: 1e-6, High: 1},
		{Name: "bytes", Unit: "bytes of summaries that a peer has room for", Whole: true, Low: 1, High: 1e12},
	},
	sweep:   "share=0.015625,0.03125,0.0625,0.125,0.25,0.5,1",
	setting: collectionSetting{Share: 0.125},
	do:      (*collectionRun).budget,
	terms: [][2]string{
		{"bytes", "that a peer has for summaries, headers included; planned as nodes plan: samples first, then the part of most value a byte"},
		{"expected false matches", "how many peers a key that nobody holds would match; an unknown peer counts as a match"},
		{"recall", "share of queries that reach a holder among the peers known, when all that match are asked"},
		{"wasted probes per query", "peers asked in vain, the likeliest first, until one has the key"},
	},
}}

// kindOf returns the experiment on collections of that name, or the zero value.
func kindOf(name string) collectionKind {
	for _, k := range collectionKinds {
		if k.Name == name {
			return k
		}
	}
	return collectionKind{}
}

// CollectionRow is one number found: the mean of the trials.
type CollectionRow struct {
	Experiment string  `json:"experiment"`
	Sweep      string  `json:"sweep"` // name of the swept variable; empty without a sweep
	At         float64 `json:"at"`    // value of the swept variable
	Peers      int     `json:"peers"`
	Measure
	Error  float64 `json:"standard_error"` // standard error of the value; 0 with one trial
	Trials int     `json:"trials"`

	mean statistics.Mean
}

// Measure is one number of one run.
type Measure struct {
	Case     string  `json:"case"` // a policy, a sketch
	By       string  `json:"by,omitempty"`
	Bytes    int     `json:"bytes,omitempty"` // bytes of one sketch; in the budget experiment, of all summaries of a peer
	Quantity string  `json:"quantity"`
	Value    float64 `json:"value"`
}

// CollectionRows are the rows of an experiment on collections.
type CollectionRows []CollectionRow

// Len returns the number of rows.
func (r CollectionRows) Len() int { return len(r) }

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

// at returns the setting at one value of its sweep; bytes overrides share.
func (s collectionSetting) at(x float64) collectionSetting {
	s.At = x
	switch s.Sweep {
	case "peers":
		s.Peers = int(x)
	case "slots":
		s.Slots = int(x)
	case "share":
		s.Share = x
	case "bytes":
		s.Bytes, s.Share = int(x), 0
	}
	return s
}

func (s collectionSetting) String() string {
	out := s.Experiment
	if s.Sweep != "" {
		out += fmt.Sprintf(", %s %s", s.Sweep, report.Number(s.At))
	}
	return fmt.Sprintf("%s, trial %d", out, s.Trial+1)
}

// collectionTrials are the runs of an experiment.
type collectionTrials struct {
	collectionKind
	options  Options
	settings []collectionSetting
	data     runs.Recent[*collections]
	found    CollectionRows
}

// newTrials checks the options and lists the runs.
func newTrials(name string, o Options, of *runs.Pieces[found]) (*collectionTrials, error) {
	c := &collectionTrials{collectionKind: kindOf(name), data: runs.Recent[*collections]{Keep: o.Workers()}}
	o.Trials, o.Data, o.Sweep = cmp.Or(o.Trials, 3), cmp.Or(o.Data, debian), cmp.Or(o.Sweep, c.sweep)
	c.options = o
	if err := peersOfData.Check(float64(o.Peers)); o.Peers != 0 && err != nil {
		return nil, fmt.Errorf("%w: peers: %d %w", runs.ErrOptions, o.Peers, err)
	}
	s := c.setting
	s.Experiment, s.Data, s.Peers, s.Seed = name, o.Data, o.Peers, o.Seed
	var values []float64
	var err error
	if s.Sweep, values, err = parseSweep(c.sweeps, o.Sweep); err != nil {
		return nil, err
	}
	if s.Contents, err = runs.Contents(o.Data); err != nil {
		return nil, err
	}
	for _, x := range values {
		for s.Trial = range o.Trials {
			at := s.at(x)
			c.settings = append(c.settings, at)
			of.Of = append(of.Of, runs.Piece{ID: runs.ID(at), Name: at.String(), Cost: 1})
		}
	}
	return c, nil
}

// do does one run.
func (c *collectionTrials) do(ctx context.Context, i int) (found, error) {
	s := c.settings[i]
	data, err := c.data.Get(fmt.Sprint(s.Peers), func() (*collections, error) { return loadCollections(s.Data, s.Peers, s.Seed) })
	if err != nil {
		return found{}, err
	}
	run := collectionRun{collections: data, collectionSetting: s, ctx: ctx, rng: rand.New(rand.NewPCG(s.Seed, uint64(s.Trial)+1))}
	c.collectionKind.do(&run)
	return found{Measures: run.found}, nil
}

// collectionRun is one run. All that it draws follows from the seed and the trial: points of a sweep are compared on
// the same pairs and questions.
type collectionRun struct {
	*collections
	collectionSetting
	ctx   context.Context
	rng   *rand.Rand
	found []Measure
}

func (c *collectionRun) add(what, by string, bytes int, quantity string, value float64) {
	c.found = append(c.found, Measure{what, by, bytes, quantity, value})
}

// each calls do(0) to do(n-1) on all processors, and leaves out the rest when the run is interrupted.
func (c *collectionRun) each(n int, do func(i int)) {
	runs.Parallel(n, runtime.GOMAXPROCS(0), func(i int) {
		if c.ctx.Err() == nil {
			do(i)
		}
	})
}
