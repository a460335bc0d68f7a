package experiment

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/venn-p2p/venn/testnet/strategy"
	"github.com/venn-p2p/venn/testnet/strategy/flooding"
	"github.com/venn-p2p/venn/testnet/strategy/oracle"
)

// TestCompare runs an experiment with two seeds, and one of them again: the same seed shows no difference, another one
// some, with an interval.
func TestCompare(t *testing.T) {
	run := func(seed uint64, trials int) string {
		dir := t.TempDir()
		_, err := RunNetwork(t.Context(), Routing, NetworkOptions{
			Peers: 20, Keys: 20, Queries: 50, Seed: seed, Trials: trials, Strategies: []strategy.Strategy{flooding.Strategy, oracle.Strategy}, Out: dir,
		})
		if err != nil {
			t.Fatal(err)
		}
		return dir
	}
	a, again, b, single := run(1, 3), run(1, 3), run(10, 3), run(1, 1)
	same, err := Compare(a, again)
	const unsaid = 2 // quantities that neither of the strategies tells: coverage, and the size of a directory
	if err != nil || len(same.Differences) != 2*(len(networkMeasures)-unsaid) || same.OnlyA+same.OnlyB > 0 {
		t.Fatalf("%+v, %v", same, err)
	}
	for _, d := range same.Differences {
		if d.Value != 0 || d.Apart() {
			t.Errorf("the same seed: %+v", d)
		}
	}
	other, err := Compare(a, b)
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
	one, err := Compare(a, single)
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
	if _, err := Compare(a, t.TempDir()); !errors.Is(err, ErrNoRows) {
		t.Errorf("an empty folder: %v", err)
	}
	if err := os.WriteFile(filepath.Join(single, rowsFile), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Compare(a, single); !errors.Is(err, ErrNoRows) || strings.Contains(err.Error(), "\n") {
		t.Errorf("a broken file: %v", err)
	}
}

// TestAddRun adds runs of two cases: trials of one have an interval, and what is no number is left out.
func TestAddRun(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made")
	add := func(of string, seed uint64, recall float64) []string {
		t.Helper()
		files, err := AddRun(dir, "testnet", "a testnet", "v1", Measured{of, seed, []Figure{{"all", "recall", recall}, {"all", "nothing", math.NaN()}}})
		if err != nil {
			t.Fatal(err)
		}
		return files
	}
	add("5 peers", 1, 0.1)
	add("5 peers", 1, 0.5) // in its place
	add("5 peers", 2, 0.7)
	if files := add("9 peers", 1, 0.9); len(files) != 5 {
		t.Errorf("wrote %v", files)
	}
	all, err := readOutcomes(dir)
	if err != nil || len(all) != 2 || math.Abs(all[0].Value-0.6) > 1e-9 || all[0].Half == 0 || all[0].Trials != 2 || all[1].Half != 0 {
		t.Errorf("%+v, %v", all, err)
	}
	html, err := os.ReadFile(filepath.Join(dir, "report.html"))
	if err != nil || !strings.Contains(string(html), "<svg") || strings.Contains(string(html), "src=") {
		t.Errorf("the report does not stand alone: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "testnet.runs.jsonl"), []byte("nonsense\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := AddRun(dir, "testnet", "a testnet", "v1", Measured{}); err == nil || !strings.Contains(err.Error(), "line 1") {
		t.Errorf("a broken file: %v", err)
	}
}
