package scenario_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/venn-p2p/venn/testnet/scenario"
	"github.com/venn-p2p/venn/testnet/strategies"
	"github.com/venn-p2p/venn/testnet/strategy"
	"github.com/venn-p2p/venn/testnet/strategy/flooding"
	"github.com/venn-p2p/venn/testnet/strategy/oracle"
)

const swept = `question = "What varies?"
peers = 10
[collections]
keys = 5
[[lines]]
name = "a"
up = "1mbit"
down = "1mbit"
[queries]
number = 4
[answers.venn]
recall = [0.0, 1.0]
`

// A sweep makes a scenario of every combination, each named after its values.
func TestSweep(t *testing.T) {
	s, err := scenario.Parse("varied.toml", swept+"[sweep]\nloss = [0.0, 0.1]\nparameters.bits = [2, 4, 8]\nlines.0.up = [\"2mbit\"]\n")
	if err != nil {
		t.Fatal(err)
	}
	points, err := s.Points()
	if err != nil || len(points) != 6 {
		t.Fatalf("%d points, %v", len(points), err)
	}
	last := points[5]
	if last.Name != "varied,loss=0.1,bits=8,lines.0.up=2mbit" || last.Loss != 0.1 || last.Parameters["bits"] != 8 || last.Lines[0].Up != 2_000_000 || last.Lines[0].Down != 1_000_000 || len(last.Answers) > 0 {
		t.Errorf("%+v", last)
	}
	if again, err := scenario.Parse("again.toml", last.Text()); err != nil || again.Loss != 0.1 {
		t.Errorf("the text of a point is not its scenario: %v", err)
	}
	for name, text := range map[string]string{
		"no list": "loss = 1", "empty": "loss = []", "no such key": "lost = [0.1]", "bad value": "loss = [7.0]", "no element": "lines.3.up = [\"1mbit\"]", "into a value": "loss.x = [1]",
	} {
		head := ""
		if name == "into a value" {
			head = "loss = 0.1\n"
		}
		s, err := scenario.Parse("varied.toml", head+swept+"[sweep]\n"+text+"\n")
		if errors.Is(err, scenario.ErrScenario) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Points(); !errors.Is(err, scenario.ErrScenario) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Values of keys and other sweeps take the place of a scenario's own. The order of the sweeps stays.
func TestWith(t *testing.T) {
	s, err := scenario.Parse("varied.toml", swept+"[sweep]\nloss = [0.0, 0.1]\n")
	if err != nil {
		t.Fatal(err)
	}
	setting := func(text string) scenario.Setting {
		t.Helper()
		out, err := scenario.ParseSetting(scenario.Variables(strategies.Named()), text)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	w, err := s.With([]scenario.Setting{setting("killed=0.5"), setting("size=20"), setting("bits=8")}, []scenario.Setting{setting("churn=0,90s,1h"), setting("keys=5,6")})
	if err != nil {
		t.Fatal(err)
	}
	points, err := w.Points()
	if err != nil || len(points) != 6 {
		t.Fatalf("%d points, %v", len(points), err)
	}
	p := points[5]
	if p.Name != "varied,churn=1h,keys=6" || p.At[0].Value != 3600.0 || p.Whole != w || p.Peers != 20 || p.Parameters["bits"] != 8 || len(p.Answers) > 0 {
		t.Errorf("%+v", p)
	}
	if e := p.Events; len(e) != 1 || e[0].Kind != scenario.Kill || e[0].Share != 0.5 || e[0].At != p.Warmup/2 {
		t.Errorf("who is killed: %+v", e)
	}
	if points[0].At[0].Label() != "none" || points[2].At[0].Label() != "1m30s" {
		t.Errorf("labels %s and %s", points[0].At[0], points[2].At[0])
	}
	if own, err := s.With([]scenario.Setting{setting("peers=20")}, nil); err != nil || !own.Varies("loss") || own.Peers != 20 {
		t.Errorf("its own sweep is lost: %v", err)
	}
	for name, settings := range map[string][2][]scenario.Setting{
		"given twice":     {{setting("loss=0.1")}, {setting("loss=0,0.2")}},
		"two values":      {{setting("loss=0,0.1")}},
		"too much":        {{setting("loss=0.9")}},
		"half a peer":     {{setting("size=40.5")}},
		"no number":       {{setting("peers=many")}},
		"no small world":  {{setting("rewire=0.5")}},
		"classes twice":   {{setting("strong=0.5")}},
		"keys of data":    {{setting("keys=5"), {Key: "collections.data", Values: []any{"debian"}}}},
		"outside of data": {{setting("outside=1"), {Key: "collections.data", Values: []any{"debian"}}}},
		"outside of zipf": {{setting("outside=1"), {Key: "queries.rule", Values: []any{"zipf"}}}},
	} {
		if _, err := s.With(settings[0], settings[1]); !errors.Is(err, scenario.ErrScenario) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for text, want := range map[string]string{"luck=1": "there are peers", "bits=": "has no points", "budget": "has no points", "churn=60s,1m": "twice", "outside=0": "not above 0"} {
		if _, err := scenario.ParseSetting(scenario.Variables(strategies.Named()), text); !errors.Is(err, scenario.ErrScenario) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// A list of links, a log of sessions and a matrix of latencies are played as they are.
func TestTraces(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	file("links.csv", "# a chain\n0,1\npeer-1,2\n2,3\n")
	file("sessions.csv", "0,0,100\n1,0,100\n2,0,12.5\n2,20,100\n3,5,100\n")
	file("latency.csv", "0,1.5\n2,0\n")
	const text = `question = "Is it as it was?"
peers = 4
warmup = "10s"
asking = "10s"
[collections]
keys = 5
size = 4
[links]
file = "links.csv"
[sessions]
log = "sessions.csv"
[latency]
matrix = "latency.csv"
`
	plan := func(text string) (*scenario.Plan, *scenario.Scenario, error) {
		s, err := scenario.Parse(filepath.Join(dir, "traced.toml"), text)
		if err != nil {
			t.Fatal(err)
		}
		p, err := s.Plan(0)
		return p, s, err
	}
	p, s, err := plan(text)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Edges) != 3 || p.Edges[1] != [2]strategy.ID{1, 2} {
		t.Errorf("links %v", p.Edges)
	}
	away := map[strategy.ID][]time.Duration{}
	for _, m := range p.Script.Moves {
		away[m.Peer] = append(away[m.Peer], m.At)
	}
	if len(away[0])+len(away[1]) > 0 || len(away[2]) != 2 || away[2][0] != 12500*time.Millisecond || away[2][1] != 20*time.Second || len(away[3]) != 2 {
		t.Errorf("moves %v", p.Script.Moves)
	}
	lats := map[time.Duration]bool{p.Latency(0, 1): true, p.Latency(1, 0): true}
	if !lats[1500*time.Microsecond] || !lats[2*time.Millisecond] {
		t.Errorf("latencies %v, want those of the file", lats)
	}
	for _, by := range []strategy.Strategy{flooding.Strategy, oracle.Strategy} {
		if _, err := scenario.Simulate(context.Background(), p, by, scenario.SimulateOptions{}); err != nil {
			t.Error(err)
		}
	}
	if words, err := s.Explain(); err != nil || strings.Contains(words, "raised") {
		t.Errorf("%v, %s", err, words)
	}
	_, s, err = plan(strings.Replace(text, "[latency]\n", "[latency]\nleast = \"1.8ms\"\n", 1))
	if words, explained := s.Explain(); err != nil || explained != nil || !strings.Contains(words, "1 below 1.8ms are raised") {
		t.Errorf("%v, %v, %s", err, explained, words)
	}
	for name, bad := range map[string]string{"links.csv": "0,0\n", "sessions.csv": "0,5,2\n", "latency.csv": "1,2\n"} {
		was, _ := os.ReadFile(filepath.Join(dir, name))
		file(name, bad)
		if _, _, err := plan(text); !errors.Is(err, scenario.ErrScenario) {
			t.Errorf("%s: %v", name, err)
		}
		file(name, string(was))
	}
}
