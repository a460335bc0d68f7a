package runs

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/venn-p2p/venn/testnet/results"
)

// TestCompare runs an experiment with two seeds, and one of them again: the same seed shows no difference, another one
// some, with an interval.
func TestCompare(t *testing.T) {
	run := func(seed uint64, trials int) string {
		o := routing(t, "")
		o.Trials, o.Scenarios[0].Seed = trials, seed
		return filepath.Dir(simulate(t, o).Files[0])
	}
	a, again, b, single := run(1, 3), run(1, 3), run(10, 3), run(1, 1)
	same, err := results.Compare(a, again)
	const told = 14 // figures that both strategies tell
	if err != nil || len(same.Differences) != 2*told || same.OnlyA+same.OnlyB > 0 {
		t.Fatalf("%+v, %v", same, err)
	}
	for _, d := range same.Differences {
		if d.Value != 0 || d.Apart() {
			t.Errorf("the same seed: %+v", d)
		}
	}
	other, err := results.Compare(a, b)
	if err != nil {
		t.Fatal(err)
	}
	known := 0
	for _, d := range other.Differences {
		if d.Half > 0 {
			known++
		}
		if d.A.Trials != 3 || math.Abs(d.B.Value-d.A.Value-d.Value) > 1e-9 {
			t.Errorf("%+v", d)
		}
	}
	if known < len(other.Differences)/2 {
		t.Errorf("%d of %d differences have an interval", known, len(other.Differences))
	}
	one, err := results.Compare(a, single)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range one.Differences {
		if d.Half != 0 || d.Apart() {
			t.Errorf("one trial has no interval: %+v", d)
		}
	}
	svg, err := os.ReadFile(filepath.Join(a, "routing-messages.svg"))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := os.ReadFile(filepath.Join(single, "routing-messages.svg"))
	if err != nil || strings.Count(string(svg), "<path") <= strings.Count(string(plain), "<path") {
		t.Errorf("three trials draw no intervals: %v", err)
	}
	if _, err := results.Compare(a, t.TempDir()); !errors.Is(err, results.ErrNoRows) {
		t.Errorf("an empty folder: %v", err)
	}
	if err := os.WriteFile(filepath.Join(single, "rows.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := results.Compare(a, single); !errors.Is(err, results.ErrNoRows) || strings.Contains(err.Error(), "\n") {
		t.Errorf("a broken file: %v", err)
	}
}
