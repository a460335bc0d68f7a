package experiment

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// runFew runs with few trials: the tolerances follow the standard errors.
func runFew(t *testing.T, names ...string) Result {
	t.Helper()
	r, err := Run(t.Context(), names, Options{Trials: 5, Seed: 1, Out: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Every number printed gets a row, none differs, and the misprints known are reported as such.
func TestEveryNumber(t *testing.T) {
	if testing.Short() {
		t.Skip("fills many filters")
	}
	result := runFew(t, All)
	seen := map[[4]string]bool{}
	for _, r := range result.Rows.(PaperRows) {
		quantity := r.Quantity
		for _, how := range []string{", measured", ", extrapolated", ", low", ", high"} {
			quantity = strings.TrimSuffix(quantity, how)
		}
		seen[[4]string{r.Experiment, r.Table, r.Row, quantity}] = true
		if r.Verdict == Differs {
			t.Errorf("%+v", r)
		}
		if math.IsNaN(r.Measured) || (r.Verdict == Misprints) != (r.Reason != "") {
			t.Errorf("%+v", r)
		}
	}
	for _, p := range printedNumbers() {
		if !seen[[4]string{p.Experiment, p.Table, p.Row, p.Quantity}] {
			t.Errorf("no row for %s", p.Name)
		}
	}
	if result.Count(Misprints) < 8 {
		t.Errorf("%d misprints found", result.Count(Misprints))
	}
}

func TestFiles(t *testing.T) {
	r := runFew(t, "compressed")
	for _, want := range []string{"compressed.csv", "compressed-figure1.svg", "compressed-figure1.csv", "compressed-figure2.svg"} {
		found := false
		for _, f := range r.Files {
			if info, err := os.Stat(f); filepath.Base(f) == want && err == nil && info.Size() > 100 {
				found = true
			}
		}
		if !found {
			t.Errorf("no %s among %v", want, r.Files)
		}
	}
	for _, row := range r.Rows.(PaperRows) {
		if strings.HasPrefix(row.Quantity, "greatest size") && row.Quantity != "greatest size, bytes, extrapolated" {
			t.Errorf("%s, though it comes from 2,000 trials' mean and deviation", row.Quantity)
		}
	}
	var text strings.Builder
	if err := r.WriteText(&text); err != nil || !strings.Contains(text.String(), fmt.Sprintf("\n%d numbers: ", r.Rows.Len())) || !strings.HasSuffix(text.String(), "report.html\n") {
		t.Errorf("%v: %s", err, text.String())
	}
}

func TestUnknown(t *testing.T) {
	for _, name := range []string{"nonsense", "routing", Neighbours} {
		if _, err := Run(t.Context(), []string{"dleft", name}, Options{}); !errors.Is(err, ErrUnknown) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	last := 0.0
	r, err := Run(ctx, []string{"countmin", "dleft"}, Options{Trials: 5, Progress: func(what string, done float64) {
		if done < last || done > 1 {
			t.Errorf("progress %v after %v", done, last)
		}
		last = done
		if what == "countmin" {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if r.Rows.Len() == 0 || r.Count(Differs) > 0 {
		t.Errorf("%d rows, %d differ", r.Rows.Len(), r.Count(Differs))
	}
}

// What was interrupted goes on, and comes to the same rows and figures as what wasn't.
func TestResumes(t *testing.T) {
	names := []string{"delta", "reduction", "countmin"}
	o := Options{Trials: 5, Seed: 1, Out: t.TempDir()}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	o.Progress = func(_ string, done float64) {
		if done > 0.3 {
			cancel()
		}
	}
	first, err := Run(ctx, names, o)
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("%d rows, %v", first.Rows.Len(), err)
	}
	o.Progress = nil
	got, err := Run(t.Context(), names, o)
	if err != nil {
		t.Fatal(err)
	}
	went := o.Out
	o.Out = t.TempDir()
	want, err := Run(t.Context(), names, o)
	if err != nil || !reflect.DeepEqual(got.Rows, want.Rows) {
		t.Errorf("rows differ (%v)", err)
	}
	for _, name := range []string{"reduction-figure1.svg", "report.html"} {
		a, errA := os.ReadFile(filepath.Join(went, name))
		b, errB := os.ReadFile(filepath.Join(o.Out, name))
		if errA != nil || errB != nil || len(a) < 1000 || !bytes.Equal(a, b) {
			t.Errorf("%s: %d and %d bytes, %v, %v", name, len(a), len(b), errA, errB)
		}
	}
}

// The verdict must be able to say "differs".
func TestVerdict(t *testing.T) {
	for _, c := range []struct {
		name  string
		value float64
		want  Verdict
	}{
		{"tableI_c14_z", 7.9231, Agrees},
		{"tableI_c14_z", 7.95, Differs},
		{"tableVI_c12_z", 1.65322, Misprints},
		{"tableVI_c12_z", 1.6607, Differs}, // the misprint itself is not what we should find
		{"tableVI_c12_z", 1.7, Differs},
	} {
		p := printedByName(c.name)
		if r := p.row(0, c.value, p.tolerance(0), ""); r.Verdict != c.want {
			t.Errorf("%s: %v is judged %q", c.name, c.value, r.Verdict)
		}
	}
}

// TestChurnTails: the tails of a trial are the parts of the buckets that hold so many members or more.
func TestChurnTails(t *testing.T) {
	c := churnTrial(rand.New(rand.NewPCG(1, 1)), 1000, 100)
	held := 0.0
	for i, tail := range c.tails {
		if i == 0 && tail != 1 || i > 0 && tail > c.tails[i-1] || tail < 0 {
			t.Errorf("tails %v", c.tails)
		}
		if i > 0 {
			held += tail * 8192
		}
	}
	if c.failed || held != 1000 {
		t.Errorf("%v members are in buckets, of 1000; failed: %v", held, c.failed)
	}
}
