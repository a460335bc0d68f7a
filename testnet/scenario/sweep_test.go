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
	if last.Name != "varied,lines.0.up=2mbit,loss=0.1,parameters.bits=8" || last.Loss != 0.1 || last.Parameters["bits"] != 8 || last.Lines[0].Up != 2_000_000 || last.Lines[0].Down != 1_000_000 || len(last.Answers) > 0 {
		t.Errorf("%+v", last)
	}
	if again, err := scenario.Parse("again.toml", last.Text()); err != nil || again.Loss != 0.1 {
		t.Errorf("the text of a point is not its scenario: %v", err)
	}
	for name, text := range map[string]string{
		"no list": "loss = 1", "empty": "loss = []", "no such key": "lost = [0.1]", "bad value": "loss = [7.0]", "no element": "lines.3.up = [\"1mbit\"]", "into a value": "loss.x = [1]",
	} {
		s, err := scenario.Parse("varied.toml", swept+"[sweep]\n"+text+"\n")
		if err != nil {
			t.Fatal(err)
		}
		if name == "into a value" {
			s, err = scenario.Parse("varied.toml", "loss = 0.1\n"+swept+"[sweep]\n"+text+"\n")
			if err != nil {
				t.Fatal(err)
			}
		}
		if _, err := s.Points(); !errors.Is(err, scenario.ErrScenario) {
			t.Errorf("%s: %v", name, err)
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
