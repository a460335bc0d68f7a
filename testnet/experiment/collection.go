package experiment

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/venn-p2p/venn/summary"
	"github.com/venn-p2p/venn/testnet/workload"
)

// The experiments on collections and summaries of them, without a network.
const (
	Neighbours = "neighbours" // whom policies choose, and what those can answer
	Overlaps   = "overlap"    // estimates against truth, beside other sketches of the same size
	Budget     = "budget"     // what a directory of so many bytes knows
)

// Collections are the experiments on collections; RunCollection runs one.
func Collections() []Info {
	return []Info{
		{Name: Neighbours, Title: "policies of choosing neighbours: what share of queries those alone answer", Paper: "none"},
		{Name: Overlaps, Title: "estimates of overlap against truth by bytes, beside theta, HyperLogLog and MinHash", Paper: "none"},
		{Name: Budget, Title: "recall and wasted probes by the bytes of summaries known", Paper: "none"},
	}
}

// CollectionOptions say what RunCollection runs. Zero values mean the stated defaults.
type CollectionOptions struct {
	Peers    int    // 0: as many as the data has; more are dealt its files anew
	Data     string // "" or "debian", or a table or folder as package workload reads
	Trials   int    // 0: 3
	Seed     uint64
	Out      string            // folder for the rows and plots, made when missing; empty for none
	Progress func(what string) // may be nil
}

// CollectionRow is one number found: the mean of the trials.
type CollectionRow struct {
	Experiment string  `json:"experiment"`
	Case       string  `json:"case"` // a policy, a sketch
	By         string  `json:"by,omitempty"`
	Bytes      int     `json:"bytes,omitempty"` // of a summary, or of all known
	Quantity   string  `json:"quantity"`
	Value      float64 `json:"value"`
	Error      float64 `json:"standard_error"` // of the value; 0 with one trial
	Trials     int     `json:"trials"`
}

// CollectionResult is what RunCollection has found.
type CollectionResult struct {
	Rows  []CollectionRow `json:"rows"`
	Files []string        `json:"files,omitempty"`
}

// collections is one such experiment being run.
type collections struct {
	options CollectionOptions
	ctx     context.Context
	data    *workload.Data
	truth   *holdings
	fps     [][]summary.Fingerprint // of every peer
	sums    map[rowKey][]float64
	order   []rowKey
}

type rowKey struct {
	what, by string
	bytes    int
	quantity string
}

// RunCollection runs the named experiment. Errors of options match ErrOptions, or are those of package workload, before
// anything long is done. When ctx ends, it returns its error and the rows of the trials done by then.
func RunCollection(ctx context.Context, name string, o CollectionOptions) (CollectionResult, error) {
	setDefault(&o.Trials, 3)
	do, known := map[string]func(*collections, *rand.Rand){
		Neighbours: (*collections).neighbours, Overlaps: (*collections).overlaps, Budget: (*collections).budget,
	}[name]
	switch {
	case !known:
		return CollectionResult{}, fmt.Errorf("%w: %q is no experiment on collections", ErrOptions, name)
	case o.Trials < 1 || o.Peers < 0 || o.Peers == 1:
		return CollectionResult{}, fmt.Errorf("%w: %d trials with %d peers, want 1 or more, 2 or more", ErrOptions, o.Trials, o.Peers)
	}
	if o.Out != "" {
		if err := folder(o.Out); err != nil {
			return CollectionResult{}, err
		}
	}
	c := &collections{options: o, ctx: ctx, sums: map[rowKey][]float64{}}
	if err := c.load(); err != nil {
		return CollectionResult{}, err
	}
	for trial := range o.Trials {
		if ctx.Err() != nil {
			break
		}
		if o.Progress != nil {
			o.Progress(fmt.Sprintf("%s: trial %d of %d", name, trial+1, o.Trials))
		}
		do(c, rand.New(rand.NewPCG(o.Seed, uint64(trial)+1)))
	}
	r := CollectionResult{Rows: c.rows(name)}
	err := ctx.Err()
	if o.Out != "" && len(r.Rows) > 0 {
		var writeErr error
		r.Files, writeErr = c.write(name, r.Rows)
		err = errors.Join(err, writeErr)
	}
	return r, err
}

// load reads the data and hashes its keys.
func (c *collections) load() error {
	path := c.options.Data
	if path == "debian" {
		path = ""
	}
	cfg := workload.Config{Path: path, Peers: c.options.Peers, Rand: rand.New(rand.NewPCG(c.options.Seed, 0))}
	var err error
	if c.data, err = workload.Load(cfg); err != nil {
		return err
	}
	if n := len(c.data.Peers()); n < 3 {
		return fmt.Errorf("%w: %d peers, want 3 or more", ErrOptions, n)
	}
	c.truth = newHoldings(c.data.Keys(), c.data.Collections())
	h := summary.Seed{Network: "experiment"}.Hasher()
	all := make([]summary.Fingerprint, c.data.Keys())
	for i := range all {
		all[i] = h.Fingerprint(c.data.Key(uint32(i)))
	}
	for _, keys := range c.data.Collections() {
		fps := make([]summary.Fingerprint, len(keys))
		for i, k := range keys {
			fps[i] = all[k]
		}
		c.fps = append(c.fps, fps)
	}
	return nil
}

// prefix is the whole summary of a collection.
func (c *collections) prefix(fps []summary.Fingerprint) *summary.Prefix {
	s, err := summary.Build(fps, summary.Header{Origin: "peer", Epoch: summary.Epoch{Generation: 1}, Lifetime: time.Hour})
	return must(s, err).Prefix()
}

// prefixes are the whole summaries of all peers.
func (c *collections) prefixes() []*summary.Prefix {
	out := make([]*summary.Prefix, len(c.fps))
	parallel(len(out), func(i int) { out[i] = c.prefix(c.fps[i]) })
	return out
}

func (c *collections) add(what, by string, bytes int, quantity string, value float64) {
	k := rowKey{what, by, bytes, quantity}
	if c.sums[k] == nil {
		c.order = append(c.order, k)
	}
	c.sums[k] = append(c.sums[k], value)
}

func (c *collections) rows(name string) []CollectionRow {
	var out []CollectionRow
	for _, k := range c.order {
		xs := c.sums[k]
		row := CollectionRow{Experiment: name, Case: k.what, By: k.by, Bytes: k.bytes, Quantity: k.quantity, Value: xs[0], Trials: len(xs)}
		if len(xs) > 1 {
			s := sampleOf(xs)
			row.Value, row.Error = s.mean, s.standardError()
		}
		out = append(out, row)
	}
	return out
}

// write writes the rows as CSV and JSON, and, where there are sizes, a plot for each quantity.
func (c *collections) write(name string, rows []CollectionRow) (files []string, err error) {
	records := [][]string{{"case", "by", "bytes", "quantity", "value", "standard_error", "trials"}}
	for _, r := range rows {
		records = append(records, []string{r.Case, r.By, strconv.Itoa(r.Bytes), r.Quantity, number(r.Value), number(r.Error), strconv.Itoa(r.Trials)})
	}
	path := filepath.Join(c.options.Out, name+".csv")
	if err := writeCSV(path, records); err != nil {
		return nil, fmt.Errorf("experiment: %w", err)
	}
	files = append(files, path)
	for i, f := range collectionFigures(name, rows) {
		path := filepath.Join(c.options.Out, fmt.Sprintf("%s-%d.svg", name, i+1))
		if err := f.writeSVG(path); err != nil {
			return files, fmt.Errorf("experiment: %w", err)
		}
		files = append(files, path)
	}
	return files, nil
}

// collectionFigures has a figure for each quantity that is known by bytes, with a line for each case.
func collectionFigures(name string, rows []CollectionRow) []figure {
	var figures []figure
	for _, r := range rows {
		if r.Bytes == 0 {
			continue
		}
		title := r.Quantity
		if r.By != "" {
			title += ", " + r.By
		}
		i := slices.IndexFunc(figures, func(f figure) bool { return f.title == title })
		if i < 0 {
			i = len(figures)
			figures = append(figures, figure{name: name, title: title, x: "bytes", y: r.Quantity, logX: true})
		}
		f := &figures[i]
		j := slices.IndexFunc(f.lines, func(l line) bool { return l.name == r.Case })
		if j < 0 {
			j = len(f.lines)
			f.lines = append(f.lines, line{name: r.Case})
		}
		f.lines[j].add(float64(r.Bytes), r.Value)
	}
	return figures
}
