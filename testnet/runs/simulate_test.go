package runs

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/venn-p2p/venn/testnet/results"
	"github.com/venn-p2p/venn/testnet/scenario"
	"github.com/venn-p2p/venn/testnet/sim"
	"github.com/venn-p2p/venn/testnet/strategies"
	"github.com/venn-p2p/venn/testnet/strategy"
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

// routing is a small network whose rows are trials, with a sweep if there is one, for flooding and the oracle.
func routing(t *testing.T, sweep string, strategies ...string) Options {
	t.Helper()
	if len(strategies) == 0 {
		strategies = []string{"flooding", "oracle"}
	}
	text := fmt.Sprintf("question=\"?\"\nstrategies=[\"%s\"]\nrows=\"trials\"\npeers=40\ntrials=1\nseed=4\npatience=\"30s\"\nupkeep_as=\"venn\"\n[links]\nwhole=true\n[collections]\nkeys=30\n[queries]\nnumber=100\n[sweep]\n%s", strings.Join(strategies, `","`), sweep)
	s, err := scenario.Parse("routing.toml", text)
	if err != nil {
		t.Fatal(err)
	}
	return options(t, s)
}

func options(t *testing.T, s *scenario.Scenario) Options {
	t.Helper()
	points, err := s.Points()
	if err != nil {
		t.Fatal(err)
	}
	return Options{Scenarios: points, Out: t.TempDir()}
}

// simulate runs, and fails the test where that fails.
func simulate(t *testing.T, o Options) results.Result {
	t.Helper()
	r, err := Simulate(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// plain are runs without what differs from time to time.
func plain(of []*scenario.Run) (out []scenario.Run) {
	for _, r := range of {
		run := *r
		run.Wall, run.State = 0, 0
		out = append(out, run)
	}
	return out
}

func traces(of []*scenario.Run) (hashes []string) {
	for _, r := range of {
		hashes = append(hashes, r.Trace)
	}
	return hashes
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
			r := simulate(t, Options{Scenarios: []*scenario.Scenario{load(t, dir, "s", key)}, Out: out})
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
	r := simulate(t, Options{
		Scenarios: []*scenario.Scenario{load(t, dir, "a", ""), load(t, dir, "a1", "seed=100")}, Trials: 12, Work: Work{Jobs: 1},
	})
	of := map[string]int{}
	for _, run := range r.Runs {
		of[run.Scenario]++
	}
	if of["a"] != 12 || of["a1"] != 12 {
		t.Errorf("runs of %v", of)
	}
}

// A folder has a row of every trial, the scenario's file, and a page that stands alone.
func TestRowsOfTrials(t *testing.T) {
	o := routing(t, "loss=[0.0,0.1]\nparameters.budget=[10,1000]", "flooding")
	o.Trials = 2
	r := simulate(t, o)
	if len(r.Runs) != 2*2*2 {
		t.Fatalf("%d runs, want one for each value and trial", len(r.Runs))
	}
	for _, run := range r.Runs {
		if len(run.Trace) != 64 || len(run.Queries) != 100 || run.Peers != 40 || run.Keys != 30 || run.Online != 40 || run.Components != 1 || run.Virtual != 150 || run.Connect == 0 {
			t.Errorf("%+v", run)
		}
	}
	var out struct {
		Experiment string
		Rows       []struct {
			Recall float64
			Trace  string `json:"trace_hash"`
			At     []struct {
				Name  string
				Value float64
			}
		}
	}
	b, err := json.Marshal(r)
	if err == nil {
		err = json.Unmarshal(b, &out)
	}
	if err != nil || out.Experiment != "routing" || len(out.Rows) != 8 || out.Rows[7].Trace != r.Runs[7].Trace || out.Rows[7].At[0].Value != 0.1 || out.Rows[7].At[1].Name != "budget" || out.Rows[7].Recall < 0.9 {
		t.Errorf("%+v, %v", out, err)
	}
	for file, wanted := range map[string][]string{
		"report.html":  {"<svg", r.Runs[0].Trace, "Gnutella", "loss=0,0.1", "flooding budget=1000", runtime.GOOS + "/" + runtime.GOARCH + ", "},
		"rows.csv":     {"strategy,peers,loss,budget,trial,recall,"},
		"kinds.csv":    {"scenario,strategy,engine,trial,seed,kind,messages,bytes", `"routing,loss=0.1,budget=10",flooding`},
		"routing.toml": {"[sweep]", "parameters.budget"},
	} {
		b, err := os.ReadFile(filepath.Join(o.Out, file))
		for _, want := range wanted {
			if err != nil || !strings.Contains(string(b), want) {
				t.Errorf("%s lacks %q: %v", file, want, err)
			}
		}
		for _, away := range []string{"http-equiv", "src=", "href=\"http"} {
			if strings.Contains(string(b), away) {
				t.Errorf("%s isn't self-contained: %q", file, away)
			}
		}
	}
	var text bytes.Buffer
	if err := r.WriteText(&text); err != nil || !strings.Contains(text.String(), "loss=0.1, budget=10 ") || strings.Count(text.String(), "\n") < 5 {
		t.Errorf("%s, %v", text.String(), err)
	}
}

// What was interrupted goes on where it was, and comes to the same as what wasn't.
func TestResumes(t *testing.T) {
	whole := routing(t, "")
	whole.Trials = 3
	want := simulate(t, whole)
	o := routing(t, "")
	o.Trials = 3
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	o.Progress = func(s scenario.Status) {
		if s.Run == 5 { // of 6: some are done, others not begun
			cancel()
		}
	}
	first, err := Simulate(ctx, o)
	if n := len(first.Runs); !errors.Is(err, context.Canceled) || n == 0 || n == 6 || len(first.Files) == 0 {
		t.Fatalf("%d runs, %d files, %v", n, len(first.Files), err)
	}
	if page, err := os.ReadFile(filepath.Join(o.Out, "report.html")); err != nil || !strings.Contains(string(page), " of 6 runs") {
		t.Errorf("the report doesn't say that it is not complete (%v)", err)
	}
	ran := map[int]bool{}
	o.Progress = func(s scenario.Status) { ran[s.Run] = true }
	got := simulate(t, o)
	if len(ran)+len(first.Runs) != 6 || !reflect.DeepEqual(plain(got.Runs), plain(want.Runs)) {
		t.Errorf("went on after %d runs with %v", len(first.Runs), ran)
	}
	o.Scenarios[0].Seed++
	clear(ran)
	if simulate(t, o); len(ran) != 6 {
		t.Errorf("another seed: ran %v", ran)
	}
}

// Runs beside each other find what they find alone.
func TestRunsAtOnce(t *testing.T) {
	if n := together(100_000); n != 1 {
		t.Errorf("%d runs of 100,000 peers at once", n)
	}
	o := routing(t, "peers=[20,30]", "venn", "planetp")
	o.Out = ""
	beside := simulate(t, o)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	if alone := simulate(t, o); !reflect.DeepEqual(plain(alone.Runs), plain(beside.Runs)) {
		t.Errorf("runs differ:\n%+v\n%+v", alone.Runs, beside.Runs)
	}
}

// What one strategy sends bounds the others, also where its run was done before, or is another part's. Slopes say how
// figures grow with the network.
func TestUpkeepAs(t *testing.T) {
	const sweep = "peers=[20,40]"
	o := routing(t, sweep, "venn", "kademlia", "planetp")
	o.Out = ""
	whole := simulate(t, o)
	paced := 0.0
	for i, run := range whole.Runs {
		v := o.Scenarios[i/3].Values(run)
		switch run.Strategy {
		case "venn":
			if paced = 1000 * v["upkeep"] / run.Virtual; run.Allowed != 0 || v["recall"] < 0.99 || run.Covered == nil || *run.Directory <= 0 {
				t.Errorf("%+v", v)
			}
		case "planetp":
			if sent := 1000*v["upkeep"] - run.Connect; sent > 1.2*paced*run.Virtual {
				t.Errorf("%v B/s allowed; %v bytes sent", run.Allowed, sent)
			}
			fallthrough
		default:
			if run.Allowed < 0.999*paced || run.Allowed > 1.001*paced {
				t.Errorf("%s: %v B/s allowed, venn sent %v", run.Strategy, run.Allowed, paced)
			}
		}
		if v["startup"] <= 0 || v["startup"] > v["upkeep"] || v["steady"] < 0 {
			t.Errorf("%s: %v", run.Strategy, v)
		}
	}
	var text bytes.Buffer
	if err := whole.WriteText(&text); err != nil || len(whole.Slopes) == 0 || !strings.Contains(text.String(), "slope ") {
		t.Errorf("%s, %v", text.String(), err)
	}
	o.Out = t.TempDir()
	for i := range 2 {
		o.Part = Part{i, 2}
		simulate(t, o)
	}
	o.Part = Part{}
	if parts := simulate(t, o); !reflect.DeepEqual(plain(parts.Runs), plain(whole.Runs)) {
		t.Errorf("in parts:\n%+v\n%+v", parts.Runs, whole.Runs)
	}
	page, err := os.ReadFile(filepath.Join(o.Out, "report.html"))
	if err != nil || !strings.Contains(string(page), "venn, slope +") || !strings.Contains(string(page), "as many bytes a second as venn sent") {
		t.Errorf("the report lacks slopes or what upkeep is bounded by: %v", err)
	}
	free := routing(t, "parameters.upkeep=[500]", "venn", "planetp")
	if r := simulate(t, free); r.Runs[1].Allowed != 500 {
		t.Errorf("%v B/s allowed, 500 said", r.Runs[1].Allowed)
	}
}

// What half of the peers send who are left is what each of the others' may send.
func TestUpkeepWhereManyAreGone(t *testing.T) {
	r := simulate(t, routing(t, "killed=[0.5]", "venn", "planetp"))
	sent := 1000 * r.Scenarios[0].Values(r.Runs[0])["upkeep"] * 40 / 20 / r.Runs[0].Virtual
	if allowed := r.Runs[1].Allowed; r.Runs[0].Online != 20 || allowed < 0.99*sent || allowed > 1.01*sent {
		t.Errorf("%v B/s allowed, those of venn who are left send %v; %v are online", allowed, sent, r.Runs[0].Online)
	}
}

// What makes searches harder takes more messages: peers that deny, keys outside of one's interest, and fewer who know
// everybody.
func TestHarderSearches(t *testing.T) {
	if testing.Short() {
		t.Skip("six runs of 100 peers that know a few each")
	}
	for _, sweep := range []string{"parameters.deny=[0,0.6]", "queries.outside=[0.01,1]", "strong=[1.0,0.02]"} {
		o := routing(t, sweep+"\nparameters.origins=[12]\npeers=[100]\nqueries.number=[200]\ncollections.keys=[20]", "venn")
		r := simulate(t, o)
		easy, hard := r.Scenarios[0].Values(r.Runs[0]), r.Scenarios[1].Values(r.Runs[1])
		t.Logf("%s: recall %v and %v, messages %v and %v", sweep, easy["recall"], hard["recall"], easy["messages"], hard["messages"])
		if hard["messages"] <= easy["messages"] || hard["recall"] < 0.9 {
			t.Errorf("%s: %v and %v", sweep, easy, hard)
		}
	}
}

// Strong peers have fast lines and know more. Where all lines are alike nothing is said of classes.
func TestLinesOfStrongPeers(t *testing.T) {
	r := simulate(t, routing(t, "strong=[0.2,0.0001]\nparameters.origins=[12]", "venn"))
	if l := r.Runs[0].Lines; len(l) != 2 || l[1].Rate != 100_000_000 || l[1].Covers < 0.9 || l[0].Covers > 0.6 {
		t.Errorf("strong peers have room for all, others for 12: %+v", l)
	}
	if l := r.Runs[1].Lines; len(l) != 1 || l[0].Rate != 1_000_000 {
		t.Errorf("by the rate of lines, where no strong peer is drawn: %+v", l)
	}
	if r := simulate(t, routing(t, "", "venn")); len(r.Runs[0].Lines) > 0 {
		t.Errorf("all lines are alike: %+v", r.Runs[0].Lines)
	}
}

// A network that falls apart is refused where the scenario wants it whole, before anything runs.
func TestWhole(t *testing.T) {
	for degree, want := range map[string]error{"8": nil, "1": scenario.ErrScenario} {
		if _, err := Simulate(t.Context(), routing(t, "links.degree=["+degree+"]", "oracle")); !errors.Is(err, want) {
			t.Errorf("degree %s: %v", degree, err)
		}
	}
	r := simulate(t, routing(t, "links.degree=[1]\nlinks.whole=[false]", "oracle"))
	if r.Runs[0].Components < 2 {
		t.Errorf("%d components", r.Runs[0].Components)
	}
}

// A strategy that panics loses its own run, which the error names; the others are done.
func TestPanicLeavesOtherRuns(t *testing.T) {
	broken := strategy.Strategy{Name: "broken", Open: func(strategy.World) (strategy.Factory, error) {
		return func(strategy.Host) strategy.Peer { panic("a fault of the strategy") }, nil
	}}
	o := routing(t, "loss=[0.0,0.1]", "broken", "oracle")
	o.Known = append(strategies.Named(), broken)
	r, err := Simulate(t.Context(), o)
	if !errors.Is(err, sim.ErrPanic) || len(r.Runs) != 2 || r.Runs[0].Strategy != "oracle" {
		t.Fatalf("%d runs, %v", len(r.Runs), err)
	}
	for _, want := range []string{"routing,loss=0.1", "seed 5641387450154430", "a fault of the strategy"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error lacks %q: %v", want, err)
		}
	}
}

// The memory of a run is of its own strategy, whatever ran before or is in use besides. Runs beside each other report
// none.
func TestStateIsOfTheStrategy(t *testing.T) {
	hoard := func(bytes int) strategy.Strategy {
		return strategy.Strategy{Name: fmt.Sprint("hoards ", bytes), Open: func(strategy.World) (strategy.Factory, error) {
			return func(strategy.Host) strategy.Peer { return &hoarder{memory: make([]byte, bytes)} }, nil
		}}
	}
	ballast := make([]byte, 100<<20)
	o := routing(t, "", "hoards 1048576", "hoards 0")
	o.Out, o.Known = "", []strategy.Strategy{hoard(1 << 20), hoard(0)}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	r := simulate(t, o)
	if got := r.Runs[0].State; got < 1<<20 || got > 1.2*(1<<20) {
		t.Errorf("%.0f bytes a peer of a strategy that has a mebibyte", got)
	}
	if got := r.Runs[1].State; got > 1<<17 {
		t.Errorf("%.0f bytes a peer of a strategy that has none", got)
	}
	runtime.GOMAXPROCS(2)
	if r := simulate(t, o); r.Runs[0].State != 0 {
		t.Errorf("%.0f bytes a peer of one of two runs beside each other", r.Runs[0].State)
	}
	runtime.KeepAlive(ballast)
}

type hoarder struct{ memory []byte }

func (*hoarder) Step(time.Duration, strategy.Input) {}

// A folder of traces has one for each run, which has the run's hash.
func TestTraces(t *testing.T) {
	o := routing(t, "loss=[0.0,0.1]")
	o.Traces, o.Trials = t.TempDir(), 2
	r := simulate(t, o)
	files, err := filepath.Glob(filepath.Join(o.Traces, "*"))
	if err != nil || len(files) != len(r.Runs) {
		t.Fatalf("%d traces of %d runs: %v, %v", len(files), len(r.Runs), files, err)
	}
	for _, run := range r.Runs {
		b, err := os.ReadFile(filepath.Join(o.Traces, fmt.Sprintf("%s,%s,seed=%d.trace", run.Scenario, run.Strategy, run.Seed)))
		if hash := fmt.Sprintf("%x", sha256.Sum256(b)); err != nil || hash != run.Trace {
			t.Errorf("%s: hash %s, want %s: %v", run.Scenario, hash, run.Trace, err)
		}
	}
}

// The data that the program holds is dealt anew to more peers than it is of.
func TestDebianDealtAnew(t *testing.T) {
	if testing.Short() {
		t.Skip("deals 59,083 holdings")
	}
	r := simulate(t, routing(t, "collections.data=[\"debian\"]\npeers=[200]", "oracle"))
	if run := r.Runs[0]; run.Peers != 200 || run.Keys < 200 || scenario.Recall(run.Queries) != 1 {
		t.Errorf("%d peers, %d keys each, recall %v", run.Peers, run.Keys, scenario.Recall(run.Queries))
	}
}

// Options that make no sense are refused before anything runs.
func TestRefuses(t *testing.T) {
	for name, spoil := range map[string]func(*Options){
		"no scenario":     func(o *Options) { o.Scenarios = nil },
		"twice":           func(o *Options) { o.Scenarios = append(o.Scenarios, o.Scenarios[0]) },
		"unknown":         func(o *Options) { o.Strategies = []string{"luck"} },
		"negative trials": func(o *Options) { o.Trials = -1 },
		"no part":         func(o *Options) { o.Part = Part{2, 2} },
		"look at two":     func(o *Options) { o.Look = func(*sim.Sim, time.Duration, time.Duration) error { return nil } },
	} {
		o := routing(t, "")
		o.Progress = func(scenario.Status) { t.Errorf("%s: something ran", name) }
		spoil(&o)
		if r, err := Simulate(t.Context(), o); !errors.Is(err, ErrOptions) || len(r.Rows) > 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	o := routing(t, "")
	o.Out = filepath.Join(o.Out, "file")
	if err := os.WriteFile(o.Out, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Simulate(t.Context(), o); err == nil {
		t.Error("a file was taken for a folder")
	}
}
