package runs

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

	"github.com/venn-p2p/venn/testnet/scenario"
)

// sweepOfEight has eight runs.
func sweepOfEight(t *testing.T) Options {
	t.Helper()
	o := routing(t, "loss=[0.0,0.1]")
	o.Trials = 2
	return o
}

// did does a part and returns the numbers of the runs that it did, from 1.
func did(ctx context.Context, t *testing.T, o Options) ([]int, error) {
	t.Helper()
	ran := map[int]bool{}
	o.Progress = func(s scenario.Status) { ran[s.Run] = true }
	r, err := Simulate(ctx, o)
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
	want, err := Simulate(t.Context(), whole)
	if err != nil || len(want.Runs) != 8 {
		t.Fatalf("%d rows, %v", len(want.Runs), err)
	}
	if h := traces(want.Runs); len(slices.Compact(slices.Sorted(slices.Values(h)))) != 8 {
		t.Fatalf("traces are no sign of runs: %v", h)
	}

	two := sweepOfEight(t)
	two.Jobs = 2
	if got, err := Simulate(t.Context(), two); err != nil || !slices.Equal(traces(got.Runs), traces(want.Runs)) {
		t.Errorf("two at a time: %v, want %v (%v)", traces(got.Runs), traces(want.Runs), err)
	}

	parts := sweepOfEight(t)
	for _, i := range []int{2, 0, 3, 1} {
		parts.Part = Part{i, 4}
		if ran, err := did(t.Context(), t, parts); err != nil || !slices.Equal(ran, []int{i + 1, i + 5}) {
			t.Fatalf("part %s did runs %v, %v", parts.Part, ran, err)
		}
		if ran, err := did(t.Context(), t, parts); err != nil || len(ran) > 0 {
			t.Errorf("part %s did runs %v again, %v", parts.Part, ran, err)
		}
	}
	parts.Part = Part{}
	ran := 0
	parts.Progress = func(scenario.Status) { ran++ }
	got, err := Simulate(t.Context(), parts)
	if err != nil || ran > 0 || len(got.Files) == 0 {
		t.Errorf("%d runs were missing, %d files, %v", ran, len(got.Files), err)
	}
	if !reflect.DeepEqual(plain(got.Runs), plain(want.Runs)) {
		t.Errorf("rows differ:\n%+v\n%+v", got.Runs, want.Runs)
	}
}

// A part that is killed, in the middle of a line, goes on where it was; the whole does what no part did.
func TestPartKilled(t *testing.T) {
	o := sweepOfEight(t)
	o.Part, o.Jobs = Part{1, 2}, 1
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stopped := o
	stopped.Progress = func(s scenario.Status) {
		if s.Run == 6 { // of 2, 4, 6 and 8
			cancel()
		}
	}
	if _, err := Simulate(ctx, stopped); !errors.Is(err, context.Canceled) {
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
	if ran, err := did(t.Context(), t, o); err != nil || !slices.Equal(ran, []int{4, 6, 8}) {
		t.Errorf("went on with runs %v, %v", ran, err)
	}
	o.Part = Part{}
	if ran, err := did(t.Context(), t, o); err != nil || !slices.Equal(ran, []int{1, 3, 5, 7}) {
		t.Errorf("the whole did runs %v, %v", ran, err)
	}
}

// Parts of other options, or of another program, do not mix.
func TestPartsOfOtherRuns(t *testing.T) {
	o := sweepOfEight(t)
	o.Part = Part{0, 4}
	if _, err := did(t.Context(), t, o); err != nil {
		t.Fatal(err)
	}
	ledger := filepath.Join(o.Out, "routing.runs.0-of-4.jsonl")
	refuses := func(what string, o Options) {
		t.Helper()
		ran, err := did(t.Context(), t, o)
		if !errors.Is(err, ErrOptions) || !strings.Contains(err.Error(), ledger) || len(ran) > 0 {
			t.Errorf("%s: did runs %v, %v", what, ran, err)
		}
	}
	for _, part := range []Part{{}, {0, 4}, {1, 4}, {0, 3}} {
		seed, trials := sweepOfEight(t), o
		seed.Part, trials.Part, seed.Out = part, part, o.Out
		for _, s := range seed.Scenarios {
			s.Seed++
		}
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
		if _, err := did(t.Context(), t, part); err != nil {
			t.Fatal(err)
		}
		log.WriteString("run 1 of 8: it goes well")
	}
	if err := os.WriteFile(filepath.Join(o.Out, "routing.runs.log.jsonl"), log.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	if ran, err := did(t.Context(), t, o); err != nil || len(ran) > 0 {
		t.Errorf("runs %v were missing, %v", ran, err)
	}
}

// A part is written as it is read.
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
		if err := w.Check(); !errors.Is(err, ErrOptions) {
			t.Errorf("%+v: %v", w, err)
		}
	}
}
