package results

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestAddRun adds runs of two cases: trials of one have an interval, and what is no number is left out.
func TestAddRun(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made")
	add := func(of string, seed uint64, recall float64) []string {
		t.Helper()
		figures := []Figure{{"all", "recall", recall}, {"all", "nothing", math.NaN()}}
		if recall == 0.1 {
			figures[1].Value = 1 // the run that takes this one's place lacks it
		}
		files, err := AddRun(dir, "testnet", "a testnet", "v1", Measured{of, seed, figures})
		if err != nil {
			t.Fatal(err)
		}
		return files
	}
	add("5 peers", 1, 0.1)
	add("5 peers", 1, 0.5) // in its place
	add("5 peers", 2, 0.7)
	files := add("9 peers", 1, 0.9)
	there, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) != 5 || len(there) != len(files) {
		t.Errorf("wrote %v; there are %v, %v", files, there, err)
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
