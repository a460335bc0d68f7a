// Package experiment runs experiments without a network. Run repeats the experiments of the four papers that venn is
// built on, with venn's own structures. It compares every number that the papers print with one computed or measured
// here. RunCollection runs a peer's work with collections and their summaries: it chooses neighbours, estimates
// overlaps, fills a directory. List names all experiments. Networks are scenarios, which package runs plays.
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
	"slices"

	"github.com/venn-p2p/venn/testnet/results/report"
	"github.com/venn-p2p/venn/testnet/runs"
)

// ErrUnknown is matched when a name is neither All nor an experiment that repeats a paper.
var ErrUnknown = errors.New("experiment: unknown experiment")

// All is the name that stands for all experiments that repeat a paper.
const All = "papers"

// Info describes an experiment.
type Info struct {
	Name  string `json:"name"`
	Title string `json:"title"` // the result that it repeats
	Paper string `json:"paper"`
}

// Options of Run and RunCollection. The zero value runs the default trials with seed 0 and writes no files.
type Options struct {
	Trials   int            // 0: each paper number's own, in all some minutes, and 3 for collections; papers take 5 or more
	Seed     uint64         // seed of all random keys: the same seed and trials give the same rows
	Out      string         // folder for rows (CSV), figures (SVG, CSV) and report, made when missing; empty for none
	Version  string         // version of the program, for the report
	Peers    int            // number of peers for collections; 0: all of the data; to more, its files are dealt again
	Data     string         // data for collections: "" or "debian", or a table or folder as package workload reads
	Sweep    string         // sweep, "name=value,value…", see Sweeps; "": bytes of Overlaps, share of Budget
	Progress func(Progress) // called when a run begins and after each trial or so, never by two goroutines at once; may be nil
	runs.Work
}

// Progress of an experiment.
type Progress struct {
	What string  // name of the experiment, or of its run, that is under way
	Done float64 // part of the whole that is done, 0 to 1
}

// tell returns a function that passes the progress of pieces on to o.Progress; nil if that is nil.
func (o *Options) tell(of []runs.Piece) func(int, float64) {
	if o.Progress == nil {
		return nil
	}
	return func(i int, done float64) { o.Progress(Progress{of[i].Name, done}) }
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
	Rows  []Row    `json:"rows"`
	Files []string `json:"files,omitempty"` // paths of the files written to Options.Out
}

// Count returns the number of rows with a verdict.
func (r Result) Count(v Verdict) int {
	n := 0
	for _, row := range r.Rows {
		if row.Verdict == v {
			n++
		}
	}
	return n
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

// List lists the experiments: first the ones that repeat a paper, which Run runs, then Collections. The last is All.
func List() []Info {
	var list []Info
	for _, e := range experiments {
		list = append(list, e.Info)
	}
	list = append(list, Collections()...)
	return append(list, Info{Name: All, Title: "all that repeat a paper", Paper: "all four"})
}

// Run runs the experiments of the given names, each once, in the order of List, on all processors. The names are All,
// or experiments that repeat a paper. Another name, such as one of Collections, is an error that matches ErrUnknown,
// before anything has run. When ctx ends, Run returns its error and the rows finished by then. With a folder, a later
// call of the same program with the same options goes on from there.
func Run(ctx context.Context, names []string, o Options) (Result, error) {
	chosen, err := choose(names)
	if err != nil {
		return Result{}, err
	}
	if o.Trials < 0 {
		return Result{}, fmt.Errorf("experiment: %d trials, want 0 or more", o.Trials)
	}
	if err := o.Check(); err != nil {
		return Result{}, err
	}
	r := newRun(ctx, o, chosen)
	found, err := r.pieces.Do(ctx, o.Out, All, o.Work, 1, r.do)
	var result Result
	for i, f := range found {
		if f != nil {
			r.tasks[i].take(f)
		}
	}
	for _, s := range r.sessions {
		result.Rows = append(result.Rows, s.rows...)
	}
	if o.Reports() && o.Out != "" && len(result.Rows) > 0 {
		var writeErr error
		result.Files, writeErr = r.write()
		err = errors.Join(err, writeErr)
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
