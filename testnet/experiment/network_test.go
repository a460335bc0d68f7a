package experiment

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/venn-p2p/venn/testnet/holdings"
	"github.com/venn-p2p/venn/testnet/sim"
	"github.com/venn-p2p/venn/testnet/strategy"
	"github.com/venn-p2p/venn/testnet/strategy/flooding"
	"github.com/venn-p2p/venn/testnet/strategy/oracle"
	"github.com/venn-p2p/venn/testnet/strategy/planetp"
	"github.com/venn-p2p/venn/testnet/strategy/venn"
)

func small(t *testing.T) NetworkOptions {
	t.Helper()
	return NetworkOptions{
		Peers: 40, Keys: 30, Queries: 100, Trials: 1, Seed: 4, Strategies: []strategy.Strategy{flooding.Strategy, oracle.Strategy}, Out: t.TempDir(),
	}
}

// forgetWall takes out what differs from run to run.
func forgetWall(rows []NetworkRow) []NetworkRow {
	for i := range rows {
		rows[i].WallSeconds, rows[i].StateBytes = 0, 0
	}
	return rows
}

func TestNetworkRows(t *testing.T) {
	o := small(t)
	o.Sweeps, o.Trials = []string{"loss=0,0.1"}, 2
	r, err := RunNetwork(t.Context(), Routing, o)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Rows) != 2*2*2 {
		t.Fatalf("%d rows, want one for each strategy, value and trial", len(r.Rows))
	}
	for _, row := range r.Rows {
		if row.Recall < 0.99 || len(row.TraceHash) != 64 || row.Queries != 100 || row.Peers != 40 || row.Point() != "loss="+row.At[0].label() {
			t.Errorf("%+v", row)
		}
	}
	page, err := os.ReadFile(filepath.Join(o.Out, "report.html"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"<svg", r.Rows[0].TraceHash, "Gnutella", "loss=0,0.1"} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the report lacks %q", want)
		}
	}
	for _, away := range []string{"http-equiv", "src=", "href=\"http"} {
		if strings.Contains(string(page), away) {
			t.Errorf("the report isn't self-contained: %q", away)
		}
	}
}

// What was interrupted goes on where it was, and comes to the same rows as what wasn't.
func TestNetworkResumes(t *testing.T) {
	whole := small(t)
	whole.Trials = 3
	want, err := RunNetwork(t.Context(), Routing, whole)
	if err != nil {
		t.Fatal(err)
	}
	o := small(t)
	o.Trials = 3
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	o.Progress = func(s NetworkStatus) {
		if s.Run == 5 { // of 6: some are done, others not begun
			cancel()
		}
	}
	first, err := RunNetwork(ctx, Routing, o)
	if n := len(first.Rows); !errors.Is(err, context.Canceled) || n == 0 || n == 6 || len(first.Files) == 0 {
		t.Fatalf("%d rows, %d files, %v", n, len(first.Files), err)
	}
	if page, err := os.ReadFile(filepath.Join(o.Out, "report.html")); err != nil || !strings.Contains(string(page), " of 6 runs") {
		t.Errorf("the report doesn't say that it is not complete (%v)", err)
	}
	ran := map[int]bool{}
	o.Progress = func(s NetworkStatus) { ran[s.Run] = true }
	got, err := RunNetwork(t.Context(), Routing, o)
	if err != nil || len(ran)+len(first.Rows) != 6 {
		t.Fatalf("went on after %d rows with runs %v, %v", len(first.Rows), ran, err)
	}
	if !reflect.DeepEqual(forgetWall(got.Rows), forgetWall(want.Rows)) {
		t.Errorf("rows differ:\n%+v\n%+v", got.Rows, want.Rows)
	}
	o.Seed++
	clear(ran)
	if _, err := RunNetwork(t.Context(), Routing, o); err != nil || len(ran) != 6 {
		t.Errorf("another seed: ran %v, %v", ran, err)
	}
}

func TestNetworkRefuses(t *testing.T) {
	for name, spoil := range map[string]func(*NetworkOptions){
		"zero peers":        func(o *NetworkOptions) { o.Peers = -1 },
		"one peer":          func(o *NetworkOptions) { o.Peers = 1 },
		"empty sweep":       func(o *NetworkOptions) { o.Sweeps = []string{"bits="} },
		"unknown sweep":     func(o *NetworkOptions) { o.Sweeps = []string{"luck=1"} },
		"sweep of what":     func(o *NetworkOptions) { o.Sweeps = []string{"peers=many"} },
		"sweep too far":     func(o *NetworkOptions) { o.Sweeps = []string{"loss=0.1,0.9"} },
		"no value":          func(o *NetworkOptions) { o.Sweeps = []string{"budget"} },
		"a point twice":     func(o *NetworkOptions) { o.Sweeps = []string{"churn=60s,1m"} },
		"fixed at two":      func(o *NetworkOptions) { o.Fixed = []string{"loss=0,0.1"} },
		"fixed at none":     func(o *NetworkOptions) { o.Fixed = []string{""} },
		"fixed and swept":   func(o *NetworkOptions) { o.Fixed, o.Sweeps = []string{"loss=0.1"}, []string{"loss=0,0.2"} },
		"half a peer":       func(o *NetworkOptions) { o.Sweeps = []string{"size=40.5"} },
		"sweep falls apart": func(o *NetworkOptions) { o.Sweeps = []string{"degree=8,1"} },
		"twice":             func(o *NetworkOptions) { o.Strategies = append(o.Strategies, oracle.Strategy) },
		"no strategy":       func(o *NetworkOptions) { o.Strategies = []strategy.Strategy{} },
		"topology":          func(o *NetworkOptions) { o.Topology.Kind = "ring" },
		"falls apart":       func(o *NetworkOptions) { o.Topology.Split = 2 },
		"no classes":        func(o *NetworkOptions) { o.Links = "fast:1" },
		"classes twice":     func(o *NetworkOptions) { o.Links, o.Fixed = "1mbit:1", []string{"strong=0.1"} },
		"classes and space": func(o *NetworkOptions) { o.Links, o.Fixed = "1mbit:1", []string{" strong = 0.1"} },
		"nobody is strong":  func(o *NetworkOptions) { o.Sweeps = []string{"strong=0,0.1"} },
		"nothing rewired": func(o *NetworkOptions) {
			o.Topology.Kind, o.Sweeps = sim.SmallWorld, []string{"rewire=0,0.1"}
		},
		"keys of data":     func(o *NetworkOptions) { o.Data, o.Sweeps = debian, []string{"keys=10,20"} },
		"no interests":     func(o *NetworkOptions) { o.Data, o.Fixed = debian, []string{"outside=1"} },
		"other queries":    func(o *NetworkOptions) { o.Like, o.Sweeps = holdings.Zipf, []string{"outside=0.1,1"} },
		"no small world":   func(o *NetworkOptions) { o.Sweeps = []string{"rewire=0.1,0.5"} },
		"free of nothing":  func(o *NetworkOptions) { o.Free = true },
		"negative trials":  func(o *NetworkOptions) { o.Trials = -1 },
		"negative queries": func(o *NetworkOptions) { o.Queries = -1 },
	} {
		o := small(t)
		o.Progress = func(NetworkStatus) { t.Errorf("%s: something ran", name) }
		spoil(&o)
		if r, err := RunNetwork(t.Context(), Routing, o); !errors.Is(err, ErrOptions) || len(r.Rows) > 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	o := small(t)
	o.Out = filepath.Join(o.Out, "file")
	if err := os.WriteFile(o.Out, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := RunNetwork(t.Context(), Routing, o); err == nil {
		t.Error("a file was taken for a folder")
	}
	o = small(t)
	o.Fixed = []string{"peers=20", "keys=10"}
	if r, err := RunNetwork(t.Context(), Routing, o); err != nil || r.Rows[0].Peers != 20 || r.Rows[0].Keys != 10 || r.Rows[0].Point() != "" {
		t.Errorf("%+v, %v", r.Rows, err)
	}
	o = small(t)
	o.Topology.Split, o.Split = 2, true
	if r, err := RunNetwork(t.Context(), Routing, o); err != nil || r.Rows[0].Components != 2 {
		t.Errorf("a split that is wanted: %v", err)
	}
}

// The three that networks are compared by: their size, a query's budget, and churn.
func TestNetworkSweeps(t *testing.T) {
	for sweep, want := range map[string][]string{
		"size=30,40":     {"peers=30", "peers=40"},
		"budget=1,1000":  {"budget=1", "budget=1000"},
		"churn=0,90s,2m": {"churn=none", "churn=1m30s", "churn=2m"},
		"killed=0,0.5":   {"killed=0", "killed=0.5"},
	} {
		o := small(t)
		o.Strategies, o.Sweeps = []strategy.Strategy{flooding.Strategy}, []string{sweep}
		r, err := RunNetwork(t.Context(), Routing, o)
		if err != nil {
			t.Fatalf("%s: %v", sweep, err)
		}
		var got []string
		for _, row := range r.Rows {
			got = append(got, row.Point())
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: rows of %v, want %v", sweep, got, want)
		}
		first, last := r.Rows[0], r.Rows[len(r.Rows)-1]
		switch first.At[0].Name {
		case "peers":
			if first.Peers != 30 || last.Peers != 40 {
				t.Errorf("%d and %d peers", first.Peers, last.Peers)
			}
		case "budget":
			if first.MessagesPerQuery >= last.MessagesPerQuery {
				t.Errorf("%v messages a query with a budget of 1, %v with 1000", first.MessagesPerQuery, last.MessagesPerQuery)
			}
		case "killed":
			if first.Online != 40 || last.Online != 20 || last.Recall != 1 {
				t.Errorf("%v peers online if nobody is killed, %v if half are, who find %v", first.Online, last.Online, last.Recall)
			}
		case "churn":
			if first.Online != 40 || last.Online >= 40 {
				t.Errorf("%v peers online without churn, %v with", first.Online, last.Online)
			}
		}
	}
}

// What makes searches harder takes more messages: peers that deny, keys outside of one's interest, and fewer who know
// everybody.
func TestHarderSearches(t *testing.T) {
	if testing.Short() {
		t.Skip("six runs of 100 peers that know a few each")
	}
	for _, sweep := range []string{"deny=0,0.6", "outside=0.01,1", "strong=1,0.02"} {
		r, err := RunNetwork(t.Context(), Scale, NetworkOptions{
			Peers: 100, Keys: 20, Queries: 200, Trials: 1, Seed: 2, Sweeps: []string{sweep}, Fixed: []string{"origins=12"}, Strategies: []strategy.Strategy{venn.Strategy},
		})
		if err != nil {
			t.Fatalf("%s: %v", sweep, err)
		}
		easy, hard := r.Rows[0], r.Rows[1]
		t.Logf("%s: recall %v and %v, messages %v and %v", sweep, easy.Recall, hard.Recall, easy.MessagesPerQuery, hard.MessagesPerQuery)
		if hard.MessagesPerQuery <= easy.MessagesPerQuery || hard.Recall < 0.9 {
			t.Errorf("%s: recall %v and %v, messages %v and %v", sweep, easy.Recall, hard.Recall, easy.MessagesPerQuery, hard.MessagesPerQuery)
		}
	}
}

// Runs beside each other find what they find alone.
func TestRunsAtOnce(t *testing.T) {
	if n := runsAtOnce([]setting{{Peers: 100}, {Peers: 100_000}}); n != 1 {
		t.Errorf("%d runs of 100,000 peers at once", n)
	}
	o := small(t)
	o.Out, o.Strategies, o.Sweeps = "", []strategy.Strategy{venn.Strategy, planetp.Strategy}, []string{"peers=20,30"}
	together, err := RunNetwork(t.Context(), Routing, o)
	if err != nil {
		t.Fatal(err)
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	alone, err := RunNetwork(t.Context(), Routing, o)
	if err != nil || !reflect.DeepEqual(forgetWall(alone.Rows), forgetWall(together.Rows)) {
		t.Errorf("rows differ (%v):\n%+v\n%+v", err, alone.Rows, together.Rows)
	}
}

// Scale runs venn and, in the same networks, others that may send as much for upkeep. Slopes say how each quantity
// grows.
func TestScale(t *testing.T) {
	o := NetworkOptions{Keys: 20, Queries: 200, Trials: 2, Sweeps: []string{"peers=30,60"}, Out: t.TempDir()}
	r, err := RunNetwork(t.Context(), Scale, o)
	if err != nil || len(r.Rows) != 2*2*5 {
		t.Fatalf("%d rows, %v", len(r.Rows), err)
	}
	var paced float64
	for _, row := range r.Rows {
		switch row.Strategy {
		case "venn":
			if row.Allowed != 0 || row.Recall < 0.99 || row.Covered == nil || *row.Covered < 0.5 || *row.Covered > 1 {
				t.Errorf("%+v", row)
			}
			paced = row.pace()
		case "kademlia":
			if row.Allowed != paced || row.Covered != nil {
				t.Errorf("%d peers: %v B/s allowed, venn sent %v; covered %v", row.Peers, row.Allowed, paced, row.Covered)
			}
		case "planetp":
			if sent := row.UpkeepBytesPerPeer - row.ConnectBytesPerPeer; row.Allowed != paced || sent > 1.2*paced*row.VirtualSeconds {
				t.Errorf("%d peers: %v B/s allowed, venn sent %v; %v bytes sent", row.Peers, row.Allowed, paced, sent)
			}
		}
		if row.StartupBytesPerPeer <= 0 || row.StartupBytesPerPeer > row.UpkeepBytesPerPeer || row.UpkeepRate < 0 {
			t.Errorf("%s: %v of %v bytes before the first query, then %v a second", row.Strategy, row.StartupBytesPerPeer, row.UpkeepBytesPerPeer, row.UpkeepRate)
		}
		if s := row.Strategy; s == "attenuated" || s == "qrp" {
			continue
		}
		if row.DirectoryBytes == nil || *row.DirectoryBytes <= 0 {
			t.Errorf("%s: a directory of %v bytes", row.Strategy, row.DirectoryBytes)
		}
	}
	_, lines := r.Table()
	if last := lines[len(lines)-5:]; len(lines) != 15 || last[0][0] != "venn" || last[0][1] != "slope" || last[1][9] != unknown {
		t.Errorf("%v", lines)
	}
	page, err := os.ReadFile(filepath.Join(o.Out, "report.html"))
	if err != nil || !strings.Contains(string(page), "venn, slope +") || !strings.Contains(string(page), "as many bytes a second as venn sent") {
		t.Errorf("the report lacks slopes or what upkeep is bounded by: %v", err)
	}
	o.Free, o.Trials, o.Out, o.Sweeps = true, 1, "", []string{"peers=30"}
	if r, err = RunNetwork(t.Context(), Scale, o); err != nil || r.Rows[1].Allowed != 0 || r.Rows[1].Recall < 0.95 || len(r.Slopes) > 0 {
		t.Errorf("free: %+v, %v", r.Rows, err)
	}
}

// What half of the peers send who are left is what each of the others' may send.
func TestScaleWhereManyAreGone(t *testing.T) {
	o := NetworkOptions{Keys: 20, Queries: 50, Trials: 1, Sweeps: []string{"peers=40"}, Fixed: []string{"killed=0.5", "churn=0"}}
	o.Strategies = []strategy.Strategy{venn.Strategy, planetp.Strategy}
	r, err := RunNetwork(t.Context(), Scale, o)
	if err != nil {
		t.Fatal(err)
	}
	sent := r.Rows[0].UpkeepBytesPerPeer * 40 / 20 / r.Rows[0].VirtualSeconds
	if allowed := r.Rows[1].Allowed; r.Rows[0].Online != 20 || allowed < 0.99*sent || allowed > 1.01*sent {
		t.Errorf("%v B/s allowed, those of venn who are left send %v; %v are online", allowed, sent, r.Rows[0].Online)
	}
}

// The report says that venn bounds upkeep where it does, and not where a number is given.
func TestWhatBoundsUpkeep(t *testing.T) {
	rows := []NetworkRow{{Allowed: 500}}
	for _, test := range []struct {
		name  string
		fixed []string
		want  bool
	}{{Scale, nil, true}, {Scale, []string{"upkeep=500"}, false}, {Routing, []string{"upkeep=500"}, false}} {
		o := NetworkOptions{Fixed: test.fixed, Data: clustered}
		said := slices.ContainsFunc(o.parameters(NetworkResult{Experiment: test.name, Rows: rows}), func(p [2]string) bool { return strings.Contains(p[1], "as venn") })
		if said != test.want {
			t.Errorf("%s, %v: said %v", test.name, test.fixed, said)
		}
	}
}

// The report does not say how many queries there are where a log says it.
func TestQueriesInReport(t *testing.T) {
	for like, want := range map[string]string{holdings.Zipf: "50 of every run, for one holder, like zipf", "log.csv": "those of the log log.csv, for one holder"} {
		o := NetworkOptions{Like: like, Queries: 50, Data: clustered}
		if p := o.parameters(NetworkResult{Rows: []NetworkRow{{}}}); !slices.Contains(p, [2]string{"queries", want}) {
			t.Errorf("%v, want %q", p, want)
		}
	}
}

// A run that finds nothing has neither hops nor latencies: 0 would be the best of all.
func TestNothingFound(t *testing.T) {
	trials := []NetworkRow{{Recall: 0}, {Recall: 1, Hops: 2, LatencyP50: 100, LatencyP99: 300}}
	for _, m := range networkMeasures {
		if want := map[string]string{"hops": "2.00", "latency-p50": "100", "latency-p99": "300"}[m.name]; want != "" && (m.mean(trials) != want || m.mean(trials[:1]) != unknown) {
			t.Errorf("%s: %s of both, %s of the one that finds nothing", m.name, m.mean(trials), m.mean(trials[:1]))
		}
	}
}

// What venn sends bounds the others also where its run was done before, or is another part's.
func TestScaleInParts(t *testing.T) {
	o := NetworkOptions{Keys: 20, Queries: 50, Trials: 1, Sweeps: []string{"peers=20,30"}}
	whole, err := RunNetwork(t.Context(), Scale, o)
	if err != nil {
		t.Fatal(err)
	}
	o.Out = t.TempDir()
	for i := range 2 {
		o.Part = Part{i, 2}
		if _, err := RunNetwork(t.Context(), Scale, o); err != nil {
			t.Fatal(err)
		}
	}
	o.Part = Part{}
	parts, err := RunNetwork(t.Context(), Scale, o)
	if err != nil || !reflect.DeepEqual(forgetWall(parts.Rows), forgetWall(whole.Rows)) {
		t.Errorf("rows differ (%v):\n%+v\n%+v", err, parts.Rows, whole.Rows)
	}
}

// Classes of lines are drawn as in a testnet: slow ones carry less. Strong peers cover more.
func TestScaleLinks(t *testing.T) {
	run := func(links string, fixed ...string) NetworkRow {
		r, err := RunNetwork(t.Context(), Scale, NetworkOptions{
			Keys: 100, Queries: 50, Trials: 1, Sweeps: []string{"peers=30"}, Strategies: []strategy.Strategy{venn.Strategy}, Links: links, Fixed: fixed,
		})
		if err != nil {
			t.Fatal(err)
		}
		return r.Rows[0]
	}
	fast, slow := run("10mbit:1"), run("10mbit:1,4kbit:9")
	if l := slow.Lines; len(fast.Lines) > 0 || len(l) != 2 || l[0].Rate != 4000 || l[1].Rate != 10_000_000 || l[0].DirectoryBytes >= *fast.DirectoryBytes {
		t.Errorf("by the rate of lines: %+v, and %+v where all are fast", l, fast.Lines)
	}
	if l := run("", "strong=0.2", "origins=12").Lines; len(l) != 2 || l[1].Covers < 0.9 || l[0].Covers > 0.6 {
		t.Errorf("strong peers have room for all, others for 12: %+v", l)
	}
	if l := run("", "strong=0.0001").Lines; len(l) != 1 || l[0].Rate != weakRate {
		t.Errorf("by the rate of lines, where no strong peer is drawn: %+v", l)
	}
	if fast.TraceHash != run("").TraceHash || *slow.DirectoryBytes >= *fast.DirectoryBytes {
		t.Errorf("%v bytes of directory on fast lines, %v on slow ones", *fast.DirectoryBytes, *slow.DirectoryBytes)
	}
}

// Trials may have peers of other classes. The table has all classes, each with the means of the trials that have it.
func TestLinesOfTrials(t *testing.T) {
	weak, strong := sim.Known{Rate: 1000, Peers: 10, Covers: 0.25, DirectoryBytes: 1000}, sim.Known{Rate: 9000, Peers: 4, Covers: 0.5, DirectoryBytes: 5000}
	more := weak
	more.Peers, more.DirectoryBytes = 6, 3000
	r := NetworkResult{Rows: []NetworkRow{
		{Strategy: "venn", Peers: 10, Lines: []sim.Known{strong}},
		{Strategy: "venn", Peers: 10, Trial: 1, Lines: []sim.Known{weak}},
		{Strategy: "venn", Peers: 10, Trial: 2, Lines: []sim.Known{more, strong}},
		{Strategy: "venn", Peers: 10, Trial: 3, Lines: []sim.Known{{Rate: 9000, Peers: 4, Covers: -1, DirectoryBytes: 5000}}},
	}}
	_, lines := r.Lines()
	if want := [][]string{{"venn", "10", "", "1", "4", "0.2500", "2.0"}, {"venn", "10", "", "9", "3", "0.5000", "5.0"}}; !reflect.DeepEqual(lines, want) {
		t.Errorf("%v, not %v", lines, want)
	}
}

// Scale's own sweep has three points to a decade, ends with the peers asked for and has no point twice.
func TestScalePoints(t *testing.T) {
	for peers, want := range map[int][]float64{
		60: {60}, 100: {100}, 101: {100, 101}, 200: {100, 200}, 1000: {100, 200, 500, 1000}, 2160: {100, 200, 500, 1000, 2160},
		2201: {100, 200, 500, 1000, 2200, 2201}, 10_000: {100, 200, 500, 1000, 2200, 4600, 10_000},
	} {
		places, err := (&NetworkOptions{Peers: peers}).places(Scale)
		var got []float64
		for _, p := range places {
			got = append(got, p[0].x)
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%d peers: %v, %v, want %v", peers, got, err, want)
		}
	}
}

func TestDebianDealtAnew(t *testing.T) {
	if testing.Short() {
		t.Skip("deals 59,083 holdings")
	}
	o := NetworkOptions{Peers: 200, Data: "debian", Queries: 100, Trials: 1, Strategies: []strategy.Strategy{oracle.Strategy}, Topology: sim.Topology{}}
	r, err := RunNetwork(t.Context(), Routing, o)
	if err != nil || r.Rows[0].Recall != 1 || r.Rows[0].Keys < 200 {
		t.Errorf("%+v, %v", r.Rows, err)
	}
}

// A strategy that panics loses its own run, which the error names; the others are done.
func TestPanicLeavesOtherRuns(t *testing.T) {
	broken := strategy.Strategy{Name: "broken", Open: func(strategy.World) (strategy.Factory, error) {
		return func(strategy.Host) strategy.Peer { panic("a fault of the strategy") }, nil
	}}
	o := small(t)
	o.Strategies = []strategy.Strategy{broken, oracle.Strategy}
	o.Sweeps = []string{"loss=0,0.1"}
	r, err := RunNetwork(t.Context(), Routing, o)
	if !errors.Is(err, sim.ErrPanic) || len(r.Rows) != 2 || r.Rows[0].Strategy != "oracle" {
		t.Fatalf("%d rows, %v", len(r.Rows), err)
	}
	for _, want := range []string{"broken, 40 peers, loss 0.1", "seed 5641387450154430", "a fault of the strategy"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error lacks %q: %v", want, err)
		}
	}
}

// The memory of a row is of its own strategy, whatever ran before or is in use besides. Runs beside each other report
// none.
func TestStateIsOfTheStrategy(t *testing.T) {
	hoard := func(bytes int) strategy.Strategy {
		return strategy.Strategy{Name: fmt.Sprint("hoards ", bytes), Open: func(strategy.World) (strategy.Factory, error) {
			return func(strategy.Host) strategy.Peer { return &hoarder{memory: make([]byte, bytes)} }, nil
		}}
	}
	ballast := make([]byte, 100<<20)
	o := small(t)
	o.Out, o.Strategies = "", []strategy.Strategy{hoard(1 << 20), hoard(0)}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	r, err := RunNetwork(t.Context(), Routing, o)
	if err != nil {
		t.Fatal(err)
	}
	if got := r.Rows[0].StateBytes; got < 1<<20 || got > 1.2*(1<<20) {
		t.Errorf("%.0f bytes a peer of a strategy that has a mebibyte", got)
	}
	if got := r.Rows[1].StateBytes; got > 1<<17 {
		t.Errorf("%.0f bytes a peer of a strategy that has none", got)
	}
	runtime.GOMAXPROCS(2)
	if r, err = RunNetwork(t.Context(), Routing, o); err != nil || r.Rows[0].StateBytes != 0 {
		t.Errorf("%.0f bytes a peer of one of two runs beside each other, %v", r.Rows[0].StateBytes, err)
	}
	runtime.KeepAlive(ballast)
}

type hoarder struct{ memory []byte }

func (*hoarder) Step(time.Duration, strategy.Input) {}

// A grid has all combinations of its sweeps, a column for each, and a line of a plot for each value of the second.
func TestGrid(t *testing.T) {
	o := small(t)
	o.Strategies, o.Trials, o.Sweeps = []strategy.Strategy{flooding.Strategy}, 2, []string{"loss=0,0.1", "budget=10,1000"}
	r, err := RunNetwork(t.Context(), Routing, o)
	if err != nil {
		t.Fatal(err)
	}
	head, lines := r.Table()
	var got []string
	for _, l := range lines {
		if len(l) != len(head) || l[len(l)-1] != "2" || !strings.Contains(l[3], "±") {
			t.Errorf("%v: %v", head, l)
		}
		got = append(got, l[2])
	}
	want := []string{"loss=0, budget=10", "loss=0, budget=1000", "loss=0.1, budget=10", "loss=0.1, budget=1000"}
	if !slices.Equal(got, want) || len(r.Rows) != 8 {
		t.Errorf("%d rows, lines %v", len(r.Rows), got)
	}
	for file, has := range map[string]string{
		"rows.csv": "strategy,peers,loss,budget,trial,", "kinds.csv": "strategy,peers,loss,budget,trial,seed,kind,messages,bytes",
		"report.html": "flooding budget=1000",
	} {
		if b, err := os.ReadFile(filepath.Join(o.Out, file)); err != nil || !strings.Contains(string(b), has) {
			t.Errorf("%s lacks %q: %v", file, has, err)
		}
	}
	if b, err := os.ReadFile(filepath.Join(o.Out, "report.html")); err != nil || !strings.Contains(string(b), runtime.GOOS+"/"+runtime.GOARCH+", ") {
		t.Errorf("report.html does not say which machine made it: %v", err)
	}
}

// A sweep is of what all strategies heed; what is fixed, one of them has to.
func TestIgnoredParameters(t *testing.T) {
	mine := oracle.Strategy
	mine.Name, mine.Parameters = "mine", []strategy.Parameter{{Name: "luck", Unit: "clovers", Default: "none", High: 7, Whole: true}}
	for name, test := range map[string]struct {
		set  func(*NetworkOptions)
		want string // of the error; "": there is none
	}{
		"all heed it":       {func(o *NetworkOptions) { o.Strategies, o.Sweeps = o.Strategies[:1], []string{"budget=10"} }, ""},
		"one ignores it":    {func(o *NetworkOptions) { o.Sweeps = []string{"budget=10"} }, "which oracle ignore: name strategies that do not, as flooding"},
		"nobody has it":     {func(o *NetworkOptions) { o.Sweeps = []string{"luck=1"} }, `"luck"`},
		"fixed, one heeds":  {func(o *NetworkOptions) { o.Fixed = []string{"budget=10"} }, ""},
		"fixed, none heeds": {func(o *NetworkOptions) { o.Fixed = []string{"bits=10"} }, `"bits"`},
		"one's own":         {func(o *NetworkOptions) { o.Strategies, o.Sweeps = []strategy.Strategy{mine}, []string{"luck=1,7"} }, ""},
		"out of range":      {func(o *NetworkOptions) { o.Strategies, o.Sweeps = []strategy.Strategy{mine}, []string{"luck=8"} }, "not from 0 to 7"},
		"links chosen": {func(o *NetworkOptions) {
			o.Strategies, o.Sweeps = []strategy.Strategy{venn.Strategy}, []string{"degree=6,8"}
		}, "degree, which venn ignore"},
		"swept twice": {func(o *NetworkOptions) { o.Sweeps = []string{"loss=0", "loss=0.1"} }, "twice"},
	} {
		o := small(t)
		test.set(&o)
		_, err := RunNetwork(t.Context(), Routing, o)
		if (err == nil) != (test.want == "") || err != nil && (!errors.Is(err, ErrOptions) || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
}

// A folder of traces has one for each run, which has the row's hash.
func TestTraces(t *testing.T) {
	o := small(t)
	o.Traces, o.Trials, o.Sweeps = t.TempDir(), 2, []string{"loss=0,0.1"}
	r, err := RunNetwork(t.Context(), Routing, o)
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(o.Traces, "*"))
	if err != nil || len(files) != len(r.Rows) {
		t.Fatalf("%d traces of %d runs: %v, %v", len(files), len(r.Rows), files, err)
	}
	for _, row := range r.Rows {
		b, err := os.ReadFile(filepath.Join(o.Traces, fmt.Sprintf("routing,%s,%s,seed=%d.trace", row.Strategy, row.Point(), row.Seed)))
		if hash := fmt.Sprintf("%x", sha256.Sum256(b)); err != nil || hash != row.TraceHash {
			t.Errorf("%s, %s: hash %s, want %s: %v", row.Strategy, row.Point(), hash, row.TraceHash, err)
		}
	}
}

// Queries are drawn by a rule, or replayed from a log; what is neither is refused. A run is another one when its log
// changes.
func TestQueriesLike(t *testing.T) {
	run := func(like string) (NetworkRow, error) {
		r, err := RunNetwork(context.Background(), Routing, NetworkOptions{
			Peers: 20, Keys: 30, Trials: 1, Queries: 50, Asking: 5 * time.Second, Warmup: time.Second, Strategies: []strategy.Strategy{flooding.Strategy}, Like: like,
		})
		if err != nil {
			return NetworkRow{}, err
		}
		return r.Rows[0], nil
	}
	traces := map[string]bool{}
	for _, rule := range append([]string{""}, holdings.Rules...) {
		r, err := run(rule)
		if err != nil || r.Queries != 50 || r.Recall < 0.9 {
			t.Errorf("%q: %d queries, recall %v, %v", rule, r.Queries, r.Recall, err)
		}
		traces[r.TraceHash] = true
	}
	if len(traces) != 4 { // interest is what is drawn by unless said otherwise
		t.Errorf("%d traces, want 4", len(traces))
	}
	log := filepath.Join(t.TempDir(), "log.csv")
	text := ""
	for p := range 20 { // who holds the key asks nothing
		text += fmt.Sprintf("%d,%d,100\n", 1+p%5, p)
	}
	for text, good := range map[string]bool{text: true, text + "99,0,1\n": false, "": false, "# nothing\n": false} {
		if err := os.WriteFile(log, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if r, err := run(log); (err == nil) != good || good && (r.Queries < 1 || r.Queries >= 20) {
			t.Errorf("%q: %d queries, %v", text, r.Queries, err)
		}
	}
	if _, err := run("nothing.csv"); !errors.Is(err, ErrOptions) {
		t.Errorf("nothing to replay: %v", err)
	}
}
