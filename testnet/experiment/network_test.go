package experiment

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/venn-p2p/venn/testnet/sim"
	"github.com/venn-p2p/venn/testnet/strategy"
)

func small(t *testing.T) NetworkOptions {
	t.Helper()
	return NetworkOptions{
		Peers: 40, Keys: 30, Queries: 100, Seed: 4, Strategies: []strategy.Strategy{strategy.Flooding, strategy.Oracle}, Out: t.TempDir(),
	}
}

// forgetWall takes out what differs from run to run.
func forgetWall(rows []NetworkRow) []NetworkRow {
	for i := range rows {
		rows[i].WallSeconds, rows[i].MemoryBytes = 0, 0
	}
	return rows
}

func TestNetworkRows(t *testing.T) {
	o := small(t)
	o.Sweep, o.Trials = "loss=0,0.1", 2
	r, err := RunNetwork(t.Context(), Routing, o)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Rows) != 2*2*2 {
		t.Fatalf("%d rows, want one for each strategy, value and trial", len(r.Rows))
	}
	for _, row := range r.Rows {
		if row.Recall < 0.99 || len(row.TraceHash) != 64 || row.Queries != 100 || row.Peers != 40 || row.Sweep != "loss" {
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

// A run that was interrupted goes on where it was, and comes to the same rows as one that wasn't.
func TestNetworkResumes(t *testing.T) {
	whole := small(t)
	want, err := RunNetwork(t.Context(), Routing, whole)
	if err != nil {
		t.Fatal(err)
	}
	o := small(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	o.Progress = func(s NetworkStatus) {
		if s.Run == 2 {
			cancel()
		}
	}
	first, err := RunNetwork(ctx, Routing, o)
	if !errors.Is(err, context.Canceled) || len(first.Rows) != 1 {
		t.Fatalf("%d rows, %v", len(first.Rows), err)
	}
	var ran []int
	o.Progress = func(s NetworkStatus) { ran = append(ran, s.Run) }
	got, err := RunNetwork(t.Context(), Routing, o)
	if err != nil || len(ran) == 0 || ran[0] != 2 {
		t.Fatalf("went on with runs %v, %v", ran, err)
	}
	if !reflect.DeepEqual(forgetWall(got.Rows), forgetWall(want.Rows)) {
		t.Errorf("rows differ:\n%+v\n%+v", got.Rows, want.Rows)
	}
}

func TestNetworkRefuses(t *testing.T) {
	for name, spoil := range map[string]func(*NetworkOptions){
		"zero peers":       func(o *NetworkOptions) { o.Peers = -1 },
		"one peer":         func(o *NetworkOptions) { o.Peers = 1 },
		"empty sweep":      func(o *NetworkOptions) { o.Sweep = "bits=" },
		"unknown sweep":    func(o *NetworkOptions) { o.Sweep = "luck=1" },
		"sweep of what":    func(o *NetworkOptions) { o.Sweep = "peers=many" },
		"sweep too far":    func(o *NetworkOptions) { o.Sweep = "loss=0.1,0.9" },
		"twice":            func(o *NetworkOptions) { o.Strategies = append(o.Strategies, strategy.Oracle) },
		"no strategy":      func(o *NetworkOptions) { o.Strategies = []strategy.Strategy{} },
		"topology":         func(o *NetworkOptions) { o.Topology.Kind = "ring" },
		"falls apart":      func(o *NetworkOptions) { o.Topology.Split = 2 },
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
	o.Topology.Split, o.Split = 2, true
	if r, err := RunNetwork(t.Context(), Routing, o); err != nil || r.Rows[0].Components != 2 {
		t.Errorf("a split that is wanted: %v", err)
	}
}

func TestScale(t *testing.T) {
	o := NetworkOptions{Peers: 60, Keys: 20, Queries: 50, Sweep: "peers=30,60"}
	r, err := RunNetwork(t.Context(), Scale, o)
	if err != nil || len(r.Rows) != 2 || r.Rows[1].Peers != 60 || r.Rows[1].Strategy != "venn" || r.Rows[1].Recall < 0.99 {
		t.Errorf("%+v, %v", r.Rows, err)
	}
	o = NetworkOptions{Peers: 10_000}
	points, err := o.points(Scale)
	if err != nil || len(points) != 4 || points[0].Peers != 1000 || points[3].Peers != 10_000 {
		t.Errorf("%v, %v", points, err)
	}
}

func TestDebianDealtAnew(t *testing.T) {
	if testing.Short() {
		t.Skip("deals 59,083 holdings")
	}
	o := NetworkOptions{Peers: 200, Data: "debian", Queries: 100, Strategies: []strategy.Strategy{strategy.Oracle}, Topology: sim.Topology{}}
	r, err := RunNetwork(t.Context(), Routing, o)
	if err != nil || r.Rows[0].Recall != 1 || r.Rows[0].Keys < 200 {
		t.Errorf("%+v, %v", r.Rows, err)
	}
}
