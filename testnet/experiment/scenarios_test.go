package experiment

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/venn-p2p/venn/testnet/scenario"
)

// load writes a scenario of ten peers to a folder and loads it.
func load(t *testing.T, dir, name, rest string) *scenario.Scenario {
	t.Helper()
	text := "question=\"?\"\nstrategies=[\"flooding\"]\npeers=10\ntrials=1\nwarmup=\"1s\"\nasking=\"2s\"\n" + rest
	path := filepath.Join(dir, name+".toml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := scenario.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A run is done again when a file has changed that the scenario names, and only then.
func TestScenarioFilesChange(t *testing.T) {
	for key, texts := range map[string][2]string{
		"[latency]\nmatrix=\"file\"\n": {"10,20\n20,10\n", "10,90\n90,10\n"},
		"[queries]\nlog=\"file\"\n":    {"1,0,30\n1,1,30\n1,2,30\n", "2,0,30\n2,1,30\n2,2,30\n"},
	} {
		dir, out := t.TempDir(), t.TempDir()
		var traces []string
		for _, text := range []string{texts[0], texts[0], texts[1]} {
			if err := os.WriteFile(filepath.Join(dir, "file"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			r, err := RunScenarios(t.Context(), ScenarioOptions{Scenarios: []*scenario.Scenario{load(t, dir, "s", key)}, Out: out})
			if err != nil {
				t.Fatal(err)
			}
			traces = append(traces, r.Runs[0].Trace)
		}
		if traces[0] != traces[1] || traces[1] == traces[2] {
			t.Errorf("%s: traces %.8s, %.8s, with another file %.8s", key, traces[0], traces[1], traces[2])
		}
	}
}

// Trials of scenarios whose names differ by a digit are their own.
func TestScenariosOfAlikeNames(t *testing.T) {
	dir := t.TempDir()
	r, err := RunScenarios(t.Context(), ScenarioOptions{
		Scenarios: []*scenario.Scenario{load(t, dir, "a", ""), load(t, dir, "a1", "seed=100")}, Trials: 12, Work: Work{Jobs: 1},
	})
	if err != nil {
		t.Fatal(err)
	}
	of := map[string]int{}
	for _, run := range r.Runs {
		of[run.Scenario]++
	}
	if of["a"] != 12 || of["a1"] != 12 {
		t.Errorf("runs of %v", of)
	}
}
