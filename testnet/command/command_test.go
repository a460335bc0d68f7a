package command_test

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/venn-p2p/venn/testnet/command"
	"github.com/venn-p2p/venn/testnet/sim"
	"github.com/venn-p2p/venn/testnet/sim/simtest"
	"github.com/venn-p2p/venn/testnet/strategy/flooding"
)

func run(t testing.TB, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	code = command.Run(context.Background(), append([]string{"own"}, args...), &out, &err)
	return code, out.String(), err.String()
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{
		{"run"},
		{"run", "nothing"},
		{"run", "nothing.toml"},
		{"run", "churn", "--strategy", "nothing"},
		{"run", "churn", "--part", "3"},
		{"run", "churn", "--part", "0/2"},
		{"run", "churn", "--hosts", "--out", "made"},
		{"run", "churn", "--hosts", "--trials", "2"},
		{"nothing"},
		{"run", "--what"},
		{"scenario", "show"},
		{"scenario", "show", "nothing"},
		{"scenario", "check"},
		{"scenario", "explain"},
		{"scenario", "list", "more"},
	} {
		if code, _, stderr := run(t, args...); code != 2 || stderr == "" {
			t.Errorf("%v: exit code %d, %q", args, code, stderr)
		}
	}
}

// A trace is printed a line a record, and what is no trace is said to be none.
func TestWriteTrace(t *testing.T) {
	data, err := sim.NewClusters(sim.Clusters{Peers: 20, Keys: 10}, rand.New(rand.NewPCG(1, 2)))
	if err != nil {
		t.Fatal(err)
	}
	var trace, out bytes.Buffer
	s, err := sim.New(simtest.Draw(sim.Config{Strategy: flooding.Strategy, Data: data, Asking: time.Second, Patience: time.Second, Trace: &trace}, 5))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Run(); err != nil {
		t.Fatal(err)
	}
	whole := trace.Len()
	cut := bytes.NewReader(trace.Bytes()[:whole-1])
	if err := command.WriteTrace(&out, &trace); err != nil || strings.Count(out.String(), "\n")*sim.RecordBytes != whole || whole == 0 {
		t.Errorf("%d lines of %d bytes: %v", strings.Count(out.String(), "\n"), whole, err)
	}
	for _, want := range []string{`"does":"sends to"`, `"does":"finds"`, `"at_ms":`, `"query":5`} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %s in the trace", want)
		}
	}
	lines := strings.Count(out.String(), "\n")
	out.Reset()
	if err := command.WriteTrace(&out, cut); !errors.Is(err, sim.ErrTrace) || strings.Count(out.String(), "\n") != lines-1 {
		t.Errorf("a trace without its last byte: %v", err)
	}
	out.Reset()
	for name, text := range map[string]string{
		"nothing": "", "text": strings.Repeat("venn ", sim.RecordBytes), "line breaks": strings.Repeat("\n", sim.RecordBytes), "bytes": strings.Repeat("\xff", sim.RecordBytes),
	} {
		if err := command.WriteTrace(&out, strings.NewReader(text)); !errors.Is(err, sim.ErrTrace) || out.Len() > 0 {
			t.Errorf("%s is a trace: %v, %q", name, err, out.String())
		}
	}
}

func TestScenarioCommands(t *testing.T) {
	code, text, _ := run(t, "scenario", "show", "partition")
	if code != 0 || !strings.Contains(text, "kind = \"heal\"") {
		t.Errorf("%d, %s", code, text)
	}
	file := filepath.Join(t.TempDir(), "mine.toml")
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	if code, out, stderr := run(t, "scenario", "check", file); code != 0 || out != "" {
		t.Errorf("%d, %q, %q", code, out, stderr)
	}
	for bad, want := range map[string]string{
		"question = \"?\"\npeers = 10\nstrategies = [\"nothing\"]":      "unknown strategy \"nothing\"",
		"question = \"?\"\npeers = 10\n[parameters]\nnothing = 1":       ":4: parameters.nothing: is none of",
		"question = \"?\"\npeers = 10\n[collections]\nkeys = 100000000": "at most",
	} {
		other := filepath.Join(t.TempDir(), "bad.toml")
		if err := os.WriteFile(other, []byte(bad), 0o666); err != nil {
			t.Fatal(err)
		}
		if code, _, stderr := run(t, "scenario", "check", other); code != 2 || !strings.Contains(stderr, want) {
			t.Errorf("%s: %d, %q, want %s", bad, code, stderr, want)
		}
	}
	bad := filepath.Join(t.TempDir(), "bad.toml")
	if err := os.WriteFile(bad, []byte("peers = 7\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	code, out, stderr := run(t, "scenario", "check", "--json", bad, file)
	if lines := strings.Split(out, "\n"); code != 2 || len(lines) != 3 || !strings.Contains(lines[0], `"error":`) || strings.Contains(lines[1], `"error":`) || stderr == "" {
		t.Errorf("%d, %q, %q", code, out, stderr)
	}
	if code, out, _ := run(t, "scenario", "explain", "--json", file); code != 0 || !strings.Contains(out, `"explanation":"mine: `) {
		t.Errorf("%d, %s", code, out)
	}
	if code, out, _ := run(t, "scenario", "explain", file); code != 0 || !strings.Contains(out, "falls into 2 parts") {
		t.Errorf("%d, %s", code, out)
	}
	if code, out, _ := run(t, "scenario", "list"); code != 0 || strings.Count(out, "?\n") < 14 {
		t.Errorf("%d, %s", code, out)
	}
}

// requiresOf returns the blocks of a go.mod that say what its module requires.
func requiresOf(t *testing.T, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(regexp.MustCompile(`(?ms)^require \(.*?^\)\n`).FindAllString(string(b), -1), "")
}

// A strategy of one's own, from another module, runs on both engines, with intervals, plots and rows.
func TestOwnModule(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program")
	}
	dir := filepath.Join("testdata", "own")
	lines := 0
	for _, name := range []string{"go.mod", "main.go", "own.toml"} {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		lines += bytes.Count(b, []byte("\n"))
	}
	if lines > 60 {
		t.Errorf("%d lines, want at most 60", lines)
	}
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	module := t.TempDir()
	copyTo := func(from, name string, change func(string) string) {
		b, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(module, name), []byte(change(string(b))), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	same := func(s string) string { return s }
	// What go mod tidy would add, so that go build wants no modules but those that are here.
	requires := requiresOf(t, filepath.Join(root, "go.mod"))
	copyTo(filepath.Join(dir, "go.mod"), "go.mod", func(s string) string { return strings.ReplaceAll(s, "../../../..", root) + requires })
	copyTo(filepath.Join(dir, "main.go"), "main.go", same)
	copyTo(filepath.Join(dir, "own.toml"), "own.toml", same)
	copyTo(filepath.Join(root, "go.sum"), "go.sum", same)
	program := func(name string, args ...string) string {
		cmd := exec.Command(name, args...)
		cmd.Dir = module
		cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOPROXY=off", "GOWORK=off")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %v: %v\n%s", name, args, err, out)
		}
		return string(out)
	}
	program("go", "build", "-o", "own", ".")
	simulated := program("./own", "run", "own.toml", "--out", "made")
	for _, want := range []string{"neighbours", "flooding", "±", "recall by when queries began"} {
		if !strings.Contains(simulated, want) {
			t.Errorf("no %q in\n%s", want, simulated)
		}
	}
	for _, name := range []string{"rows.csv", "queries.csv", "queries.ndjson", "seconds.csv", "kinds.csv", "own-recall.svg", "own-recall.vl.json", "own-latency-cdf.svg", "report.html"} {
		if i, err := os.Stat(filepath.Join(module, "made", name)); err != nil || i.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	if on := program("./own", "run", "own.toml", "--hosts"); !strings.Contains(on, "real hosts") || !strings.Contains(on, "neighbours") {
		t.Errorf("on real hosts:\n%s", on)
	}
}
