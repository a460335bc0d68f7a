// Package experiment runs experiments without a network. Some repeat the experiments of the four papers that venn is
// built on, with venn's own structures. They compare every number that the papers print with one computed or measured
// here. The others do a peer's work with collections and their summaries: they choose neighbours, estimate overlaps,
// fill a directory. List names all experiments. Networks are scenarios, which package runs plays.
//
// All rows follow from the options and their seed, except times and memory. With a folder, results of a run are kept
// there as soon as they are known. After an interruption, the same program with the same options and data goes on from
// there.
//
// Each comparison with a paper is a Row with a verdict. It is "agrees", "differs", or "paper misprints" when the number
// printed is known to be wrong and ours agrees with the right one. The numbers printed, with tolerances and known
// misprints, are in printed.json. A number that follows from a formula must agree within its tolerance there, nearly
// always half of the last digit printed. A number that is measured (its quantity says so) may be off by four standard
// errors of our own mean besides. A size may be off by 0.2 % and 16 bytes. Our coder may lose that against the entropy,
// and the paper's own coder added bytes to a message.
//
// Papers are cited by author:
//   - M. Mitzenmacher, Compressed Bloom Filters, IEEE/ACM Transactions on Networking 10(5), 2002.
//   - O. Papapetrou, W. Siberski, W. Nejdl, Cardinality estimation and dynamic length adaptation for Bloom filters,
//     Distributed and Parallel Databases 28, 2010.
//   - A. Kirsch, M. Mitzenmacher, Less Hashing, Same Performance: Building a Better Bloom Filter, Random Structures and
//     Algorithms 33(2), 2008.
//   - F. Bonomi, M. Mitzenmacher, R. Panigrahy, S. Singh, G. Varghese, An Improved Construction for Counting Bloom
//     Filters, ESA 2006.
package experiment

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/venn-p2p/venn/testnet/results"
	"github.com/venn-p2p/venn/testnet/results/report"
	"github.com/venn-p2p/venn/testnet/runs"
)

// ErrUnknown is matched when a name is neither All nor an experiment, or an experiment on collections is not alone.
var ErrUnknown = errors.New("experiment: unknown experiment")

// All is the name that stands for all experiments that repeat a paper.
const All = "papers"

// Info describes an experiment.
type Info struct {
	Name  string `json:"name"`
	Title string `json:"title"` // the result that it repeats
	Paper string `json:"paper"`
}

// Options of Run. The zero value runs the default trials with seed 0 and writes no files.
type Options struct {
	Trials  int    // 0: each paper number's own, in all some minutes, and 3 for collections; papers take 5 or more
	Seed    uint64 // seed of all random keys: the same seed and trials give the same rows
	Out     string // folder for rows (CSV), figures (SVG, CSV) and report, made when missing; empty for none
	Version string // version of the program, for the report
	Peers   int    // number of peers for collections; 0: all of the data; to more, its files are dealt again
	Data    string // data for collections: "" or "debian", or a table or folder as package workload reads
	Sweep   string // sweep, "name=value,value…", see Sweeps; "": bytes of Overlaps, share of Budget

	// Progress is called when a run begins and after each trial or so, never by two goroutines at once. what names the
	// experiment or its run; done is the part of the whole that is done, 0 to 1. It may be nil.
	Progress func(what string, done float64)
	runs.Work
}

// Verdict is the result of the comparison with a printed number.
type Verdict string

// The verdicts.
const (
	Agrees    Verdict = "agrees"
	Misprints Verdict = "paper misprints"
	Differs   Verdict = "differs"
)

// Row compares one number.
type Row struct {
	Experiment string  `json:"experiment"`
	Paper      string  `json:"paper"`
	Table      string  `json:"table"`
	Row        string  `json:"row"`
	Quantity   string  `json:"quantity"`
	Printed    float64 `json:"printed"`
	Measured   float64 `json:"measured"`
	Tolerance  float64 `json:"tolerance"` // greatest distance of the two, in the quantity's own unit
	Verdict    Verdict `json:"verdict"`
	Reason     string  `json:"reason,omitempty"` // the paper's error, if it misprints
}

// Result of a run.
type Result struct {
	Experiment string   `json:"experiment,omitempty"` // the experiment on collections; "": they repeat papers
	Version    string   `json:"version,omitempty"`    // Options.Version, if there is an experiment
	Rows       Rows     `json:"rows"`
	Files      []string `json:"files,omitempty"` // paths of the files written to Options.Out
}

// Rows are [PaperRows] or [CollectionRows].
type Rows interface {
	Len() int
	writeText(w io.Writer) error
	records() [][]string // with a heading
	outcomes() []results.Outcome
}

// PaperRows are the rows of experiments that repeat papers.
type PaperRows []Row

// Len returns the number of rows.
func (r PaperRows) Len() int { return len(r) }

// Count returns the number of rows with a verdict.
func (r Result) Count(v Verdict) int {
	n := 0
	rows, _ := r.Rows.(PaperRows)
	for _, row := range rows {
		if row.Verdict == v {
			n++
		}
	}
	return n
}

// WriteText writes the rows as tables, and the names of files.
func (r Result) WriteText(w io.Writer) error {
	if err := r.Rows.writeText(w); err != nil {
		return err
	}
	return results.WriteFiles(w, r.Files)
}

// experiments in the order of List.
var experiments = []experiment{
	compressed, delta, reduction, dynamic, cardinality, intersection, hashing, dleft, countmin,
}

// experiment is a list of tasks. Each adds rows or points of a figure to a session.
type experiment struct {
	Info
	tasks   func(*session) []task
	figures func(*session) []report.Figure // makes the figures after the tasks; may be nil
}

type task struct {
	cost float64 // estimated seconds, for the progress alone
	do   func()
}

// List lists the experiments: first the ones that repeat a paper, then those on collections, which have Sweeps. The last
// is All.
func List() []Info {
	var list []Info
	for _, e := range experiments {
		list = append(list, e.Info)
	}
	for _, k := range collectionKinds {
		list = append(list, k.Info)
	}
	return append(list, Info{Name: All, Title: "all that repeat a paper", Paper: "all four"})
}

// work is all that a call of Run does, in pieces.
type work interface {
	do(ctx context.Context, piece int) (found, error)
	// rows takes what the pieces found; nil: not done.
	rows(of []*found) Rows
	// page returns the report, and writes files that go with it.
	page(out *report.Folder) report.Page
}

// found has the rows and curves of a task of an experiment that repeats a paper, or the measures of a trial.
type found struct {
	Rows     []Row                   `json:",omitempty"`
	Curves   map[string]*report.Line `json:",omitempty"`
	Measures []Measure               `json:",omitempty"`
}

// Run runs one experiment on collections, or experiments that repeat papers: each once, in the order of List, on all
// processors. The name All stands for the latter. Other names are an error that matches ErrUnknown. Errors of options
// match runs.ErrOptions, or come from package workload or the file system. All come before anything long is done. When
// ctx ends, Run returns its error and the rows that are known by then. With a folder, a later call of the same program
// with the same options and data goes on from there.
func Run(ctx context.Context, names []string, o Options) (Result, error) {
	result := Result{Rows: PaperRows(nil)}
	if o.Trials < 0 {
		return result, fmt.Errorf("%w: %d trials, want 0 or more", runs.ErrOptions, o.Trials)
	}
	if err := o.Check(); err != nil {
		return result, err
	}
	var of runs.Pieces[found]
	var w work
	var err error
	name, atOnce := All, 1
	if len(names) == 1 && Sweeps(names[0]) != nil {
		name, atOnce = names[0], o.Workers()
		result.Experiment, result.Version = name, o.Version
		w, err = newTrials(name, o, &of)
	} else {
		w, err = newRun(ctx, names, o, &of)
	}
	if err != nil {
		return result, err
	}
	if o.Progress != nil {
		of.Tell = func(i int, done float64) { o.Progress(of.Of[i].Name, done) }
	}
	got, err := of.Do(ctx, o.Out, name, o.Work, atOnce, w.do)
	result.Rows = w.rows(got)
	if o.Reports() && o.Out != "" && result.Rows.Len() > 0 {
		missing := slices.DeleteFunc(slices.Clone(got), func(f *found) bool { return f != nil })
		out := report.Folder{Dir: o.Out}
		page := w.page(&out)
		page.Version = o.Version
		page.Parameters = append(page.Parameters, report.Unfinished(len(got)-len(missing), len(got))...)
		results.Found{Experiment: page.Name, Version: o.Version, Rows: result.Rows, Outcomes: result.Rows.outcomes()}.Write(&out)
		out.CSV("rows.csv", result.Rows.records())
		out.Report(page)
		result.Files, err = out.Files, errors.Join(err, out.Err)
	}
	return result, err
}

// choose returns the experiments of these names, each once, in the order of List.
func choose(names []string) ([]experiment, error) {
	for _, name := range names {
		if name != All && !slices.ContainsFunc(experiments, func(e experiment) bool { return e.Name == name }) {
			return nil, fmt.Errorf("%w %q", ErrUnknown, name)
		}
	}
	var chosen []experiment
	for _, e := range experiments {
		if slices.Contains(names, e.Name) || slices.Contains(names, All) {
			chosen = append(chosen, e)
		}
	}
	return chosen, nil
}
