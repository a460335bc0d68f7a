package experiment

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// sweepOfEight has eight runs.
func sweepOfEight(t *testing.T) NetworkOptions {
	t.Helper()
	o := small(t)
	o.Sweeps, o.Trials = []string{"loss=0,0.1"}, 2
	return o
}

func traces(rows []NetworkRow) (hashes []string) {
	for _, r := range rows {
		hashes = append(hashes, r.TraceHash)
	}
	return hashes
}

// runs does a part and returns the numbers of the runs that it did, from 1.
func runs(ctx context.Context, t *testing.T, o NetworkOptions) ([]int, error) {
	t.Helper()
	ran := map[int]bool{}
	o.Progress = func(s NetworkStatus) { ran[s.Run] = true }
	r, err := RunNetwork(ctx, Routing, o)
	if o.Part != (Part{}) && len(r.Files) > 0 {
		t.Errorf("part %s wrote %v", o.Part, r.Files)
	}
	return slices.Sorted(maps.Keys(ran)), err
}

// Eight runs come to the same traces in one process, two at a time, and in four parts. The call without a part then
// only writes the report.
func TestPartsAreTheWhole(t *testing.T) {
	whole := sweepOfEight(t)
	whole.Jobs = 1
	want, err := RunNetwork(t.Context(), Routing, whole)
	if err != nil || len(want.Rows) != 8 {
		t.Fatalf("%d rows, %v", len(want.Rows), err)
	}
	if h := traces(want.Rows); len(slices.Compact(slices.Sorted(slices.Values(h)))) != 8 {
		t.Fatalf("traces are no sign of runs: %v", h)
	}

	two := sweepOfEight(t)
	two.Jobs = 2
	if got, err := RunNetwork(t.Context(), Routing, two); err != nil || !slices.Equal(traces(got.Rows), traces(want.Rows)) {
		t.Errorf("two at a time: %v, want %v (%v)", traces(got.Rows), traces(want.Rows), err)
	}

	parts := sweepOfEight(t)
	for _, i := range []int{2, 0, 3, 1} {
		parts.Part = Part{i, 4}
		if ran, err := runs(t.Context(), t, parts); err != nil || !slices.Equal(ran, []int{i + 1, i + 5}) {
			t.Fatalf("part %s did runs %v, %v", parts.Part, ran, err)
		}
		if ran, err := runs(t.Context(), t, parts); err != nil || len(ran) > 0 {
			t.Errorf("part %s did runs %v again, %v", parts.Part, ran, err)
		}
	}
	parts.Part = Part{}
	ran := 0
	parts.Progress = func(NetworkStatus) { ran++ }
	got, err := RunNetwork(t.Context(), Routing, parts)
	if err != nil || ran > 0 || len(got.Files) == 0 {
		t.Errorf("%d runs were missing, %d files, %v", ran, len(got.Files), err)
	}
	if !reflect.DeepEqual(forgetWall(got.Rows), forgetWall(want.Rows)) {
		t.Errorf("rows differ:\n%+v\n%+v", got.Rows, want.Rows)
	}
}

// A part that is killed, in the middle of a line, goes on where it was; the whole does what no part did.
func TestPartKilled(t *testing.T) {
	o := sweepOfEight(t)
	o.Part, o.Jobs = Part{1, 2}, 1
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stopped := o
	stopped.Progress = func(s NetworkStatus) {
		if s.Run == 6 { // of 2, 4, 6 and 8
			cancel()
		}
	}
	if _, err := RunNetwork(ctx, Routing, stopped); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	ledger := filepath.Join(o.Out, "routing.runs.1-of-2.jsonl")
	b, err := os.ReadFile(ledger)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(ledger, b[:len(b)-10], 0o666); err != nil {
		t.Fatal(err)
	}
	if ran, err := runs(t.Context(), t, o); err != nil || !slices.Equal(ran, []int{4, 6, 8}) {
		t.Errorf("went on with runs %v, %v", ran, err)
	}
	o.Part = Part{}
	if ran, err := runs(t.Context(), t, o); err != nil || !slices.Equal(ran, []int{1, 3, 5, 7}) {
		t.Errorf("the whole did runs %v, %v", ran, err)
	}
}

// Parts of other options, or of another program, do not mix.
func TestPartsOfOtherRuns(t *testing.T) {
	o := sweepOfEight(t)
	o.Part = Part{0, 4}
	if _, err := runs(t.Context(), t, o); err != nil {
		t.Fatal(err)
	}
	ledger := filepath.Join(o.Out, "routing.runs.0-of-4.jsonl")
	refuses := func(what string, o NetworkOptions) {
		t.Helper()
		ran, err := runs(t.Context(), t, o)
		if !errors.Is(err, ErrOptions) || !strings.Contains(err.Error(), ledger) || len(ran) > 0 {
			t.Errorf("%s: did runs %v, %v", what, ran, err)
		}
	}
	for _, part := range []Part{{}, {0, 4}, {1, 4}, {0, 3}} {
		seed, trials := o, o
		seed.Part, trials.Part = part, part
		seed.Seed++
		trials.Trials++
		refuses("another seed, part "+part.String(), seed)
		refuses("more trials, part "+part.String(), trials)
	}
	b, err := os.ReadFile(ledger)
	if err != nil {
		t.Fatal(err)
	}
	// Another program has another name in every run, and so stands for another sweep.
	if err := os.WriteFile(ledger, bytes.ReplaceAll(b, []byte(`"sweep":"`), []byte(`"sweep":"0`)), 0o666); err != nil {
		t.Fatal(err)
	}
	refuses("another program", o)
}

// Lines that went elsewhere, mixed with what else a log holds, are a ledger when they come into the folder.
func TestPartToLines(t *testing.T) {
	o := sweepOfEight(t)
	var log bytes.Buffer
	for i := range 2 {
		part := o
		part.Out, part.Part, part.Lines = "", Part{i, 2}, &log
		if _, err := runs(t.Context(), t, part); err != nil {
			t.Fatal(err)
		}
		log.WriteString("run 1 of 8: it goes well")
	}
	if err := os.WriteFile(filepath.Join(o.Out, "routing.runs.log.jsonl"), log.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	if ran, err := runs(t.Context(), t, o); err != nil || len(ran) > 0 {
		t.Errorf("runs %v were missing, %v", ran, err)
	}
}

// Collections and papers have parts, too.
func TestPartsOfOtherExperiments(t *testing.T) {
	whole := CollectionOptions{Peers: 4, Trials: 2, Sweep: "share=0.5,1"}
	want, err := RunCollection(t.Context(), Budget, whole)
	if err != nil {
		t.Fatal(err)
	}
	o := whole
	o.Out = t.TempDir()
	for i := range 3 {
		o.Part = Part{i, 3}
		if _, err := RunCollection(t.Context(), Budget, o); err != nil {
			t.Fatal(err)
		}
	}
	begun := 0
	o.Part, o.Progress = Part{}, func(s CollectionStatus) {
		if s.Begun != "" {
			begun++
		}
	}
	if got, err := RunCollection(t.Context(), Budget, o); err != nil || begun > 0 || !reflect.DeepEqual(got.Rows, want.Rows) {
		t.Errorf("%d runs missing, %v, rows\n%v\n%v", begun, err, got.Rows, want.Rows)
	}

	names := []string{"countmin", "delta"}
	papers, err := Run(t.Context(), names, Options{Trials: 5})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	rows := 0
	for i := range 2 {
		r, err := Run(t.Context(), names, Options{Trials: 5, Out: dir, Work: Work{Part: Part{i, 2}, Jobs: 1}})
		if err != nil || len(r.Files) > 0 {
			t.Fatalf("%v, %v", r.Files, err)
		}
		if i == 0 {
			rows = len(r.Rows)
		}
	}
	if rows == 0 || rows == len(papers.Rows) {
		t.Errorf("the first part has %d of %d rows", rows, len(papers.Rows))
	}
	got, err := Run(t.Context(), names, Options{Trials: 5, Out: dir})
	if err != nil || !reflect.DeepEqual(got.Rows, papers.Rows) || len(got.Files) == 0 {
		t.Errorf("%d files, %v, rows\n%v\n%v", len(got.Files), err, got.Rows, papers.Rows)
	}
	ledgers, err := filepath.Glob(filepath.Join(dir, "papers.runs*"))
	if err != nil || len(ledgers) != 3 {
		t.Fatal(ledgers, err)
	}
	for _, l := range ledgers {
		if b, err := os.ReadFile(l); err != nil || (len(b) == 0) != (filepath.Base(l) == "papers.runs.jsonl") {
			t.Errorf("%s has %d bytes, %v", l, len(b), err)
		}
	}
}

func TestParsePart(t *testing.T) {
	if p, err := ParsePart("3/8"); err != nil || p != (Part{3, 8}) || p.String() != "3/8" {
		t.Error(p, err)
	}
	for _, text := range []string{"", "/", "1", "8/8", "-1/8", "0/0", "1/2/3", "1/2 ", "a/b", "1:2"} {
		if p, err := ParsePart(text); !errors.Is(err, ErrOptions) {
			t.Errorf("%q: %v, %v", text, p, err)
		}
	}
	for _, w := range []Work{{Jobs: -1}, {Part: Part{2, 2}}, {Part: Part{1, 0}}, {Part: Part{-1, 2}}} {
		if _, err := RunNetwork(t.Context(), Routing, NetworkOptions{Peers: 20, Work: w}); !errors.Is(err, ErrOptions) {
			t.Errorf("%+v: %v", w, err)
		}
	}
}
