package runs

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strconv"
	"strings"
)

// ErrOptions is matched by the errors for invalid options, found before anything is run.
var ErrOptions = errors.New("experiment: bad options")

// Work sets which runs of an experiment are done, how many at one time, and where their results are noted. The zero
// value does all runs, as many at one time as processors and memory allow. The result of a run does not depend on
// its fields.
type Work struct {
	// Part is the part of the runs that is done; the zero value is all. A part writes no tables and no report. It
	// notes its results in a ledger of its own, NAME.runs.I-of-N.jsonl, in the folder Out. A call without a part
	// reads the ledgers of all parts there, does the missing runs, and reports.
	Part Part
	// Jobs is the number of runs at one time; if an experiment repeats a paper, of trials. 0: as many as processors
	// and memory allow.
	Jobs int
	// Lines, if not nil, receives the lines of a ledger in place of a file in Out. Then no results are known from
	// before.
	Lines io.Writer
}

// Check returns an error for invalid fields; it matches ErrOptions.
func (w Work) Check() error {
	if w.Jobs < 0 {
		return fmt.Errorf("%w: %d jobs, want 1 or more", ErrOptions, w.Jobs)
	}
	if p := w.Part; p != (Part{}) && (p.Of < 1 || p.I < 0 || p.I >= p.Of) {
		return fmt.Errorf("%w: part %d of %d", ErrOptions, p.I, p.Of)
	}
	return nil
}

// Reports reports whether tables and a report are written: w is no part, so that all results are known unless a run
// failed.
func (w Work) Reports() bool { return w.Part == Part{} }

// jobs returns w.Jobs, or the given number if w.Jobs is 0.
func (w Work) jobs(unset int) int { return cmp.Or(w.Jobs, unset) }

// Workers returns the number of trials done at one time, each on one processor.
func (w Work) Workers() int { return w.jobs(runtime.GOMAXPROCS(0)) }

// Part selects the runs k of an experiment with k mod Of = I. The zero value selects all runs.
type Part struct{ I, Of int }

// ParsePart reads "I/N", with I from 0 to N-1. Errors match ErrOptions.
func ParsePart(text string) (Part, error) {
	i, of, _ := strings.Cut(text, "/")
	var p Part
	var err, errOf error
	p.I, err = strconv.Atoi(i)
	p.Of, errOf = strconv.Atoi(of)
	if err != nil || errOf != nil || p.I < 0 || p.I >= p.Of {
		return Part{}, fmt.Errorf("%w: %q is no part, want I/N with I from 0 to N-1", ErrOptions, text)
	}
	return p, nil
}

// String returns the text that ParsePart reads; empty for the zero value.
func (p Part) String() string {
	if p.Of == 0 {
		return ""
	}
	return fmt.Sprintf("%d/%d", p.I, p.Of)
}

// Has reports whether run k belongs to the part.
func (p Part) Has(k int) bool { return p.Of == 0 || k%p.Of == p.I }

// file returns the name of the part's ledger.
func (p Part) file(experiment string) string {
	if p.Of == 0 {
		return experiment + ".runs.jsonl"
	}
	return fmt.Sprintf("%s.runs.%d-of-%d.jsonl", experiment, p.I, p.Of)
}

// sweepID returns a hash of the names of all runs. Parts of another experiment, of another program or with other
// options, have another hash.
func sweepID(runs []string) string {
	h := sha256.New()
	for _, r := range runs {
		fmt.Fprintln(h, r)
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}
