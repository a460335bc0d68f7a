package testnet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/venn-p2p/venn/testnet/judge"
	"github.com/venn-p2p/venn/testnet/runs"
	"github.com/venn-p2p/venn/testnet/sim"
)

// freePorts is a loopback address with n free ports from its own on, far from those of a process that begins beside
// this one.
func freePorts(t *testing.T, n int) string {
	t.Helper()
	for first := 12000 + 101*os.Getpid()%17000; first < 30000; first += n {
		free := 0
		for ; free < n; free++ {
			l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", first+free))
			if err != nil {
				break
			}
			l.Close()
		}
		if free == n {
			return fmt.Sprintf("127.0.0.1:%d", first)
		}
	}
	t.Fatal("no free ports")
	return ""
}

// runParts runs a testnet in parts, all in this process.
func runParts(t *testing.T, cfg Config, of int, ctx func(i int) context.Context, change func(i int, c *Config)) []*Report {
	t.Helper()
	at := freePorts(t, of*(cfg.Peers+2))
	reports := make([]*Report, of)
	var all sync.WaitGroup
	for i := range of {
		all.Go(func() {
			c := cfg
			c.Part = Part{runs.Part{I: i, Of: of}, at}
			change(i, &c)
			rep, err := Run(ctx(i), c)
			if err != nil {
				t.Errorf("part %d: %v", i, err)
			}
			reports[i] = rep
		})
	}
	all.Wait()
	if t.Failed() {
		t.FailNow()
	}
	return reports
}

func unchanged(int, *Config) {}

// Parts find together what one process finds, and part 0 tells of all.
func TestParts(t *testing.T) {
	if !apart(t) {
		return
	}
	cfg := patient(few(TCP))
	cfg.Peers = 8 // of three parts, two have one more
	whole, err := newRun(cfg)
	if err != nil {
		t.Fatal(err)
	}
	peers := map[string]int{} // by class
	for _, class := range whole.plan.Class {
		peers[whole.cfg.Links[class].Name]++
	}
	var reports []*Report
	found := func(rep *Report) bool {
		return rep.QueryErrors == 0 && *rep.FindOne.Recall >= 0.9 && *rep.FindAll.Recall >= 0.9
	}
	Judge(t, func() string {
		reports = runParts(t, cfg, 3, func(int) context.Context { return t.Context() }, unchanged)
		for _, rep := range reports {
			never(t, rep)
		}
		if found(reports[0]) {
			return ""
		}
		return fmt.Sprintf("%+v", reports[0])
	})
	rep := reports[0]
	if rep.Parts != 3 || rep.Part != "" || rep.Interrupted != "" || rep.Phase != Closing {
		t.Errorf("%d parts, part %q, interrupted %q while %s", rep.Parts, rep.Part, rep.Interrupted, rep.Phase)
	}
	if rep.Peers != 8 || rep.Queries != len(queries(whole.plan)) || rep.FindAll.Queries != cfg.Queries {
		t.Errorf("%d peers, %d queries, %d errors, want what one process has", rep.Peers, rep.Queries, rep.QueryErrors)
	}
	if rep.PubsubBytes == 0 || rep.SummaryBytes == 0 || rep.EpochsPublished < 8 {
		t.Errorf("%+v", rep)
	}
	for name, c := range rep.Classes {
		if c.Peers != peers[name] || c.PartsHeld == 0 {
			t.Errorf("%s: %+v, want %d peers", name, c, peers[name])
		}
	}
	checkTable(t, rep)
	checkJSON(t, rep)
	queries := 0
	for i, r := range reports {
		if i > 0 && (r.Part != fmt.Sprintf("%d/3", i) || !r.Merged || r.Interrupted != "") {
			t.Errorf("part %d: %q, merged %v, interrupted %q", i, r.Part, r.Merged, r.Interrupted)
		}
		if i > 0 {
			queries += r.Queries
		}
	}
	if queries == 0 || queries >= rep.Queries {
		t.Errorf("parts 1 and 2 asked %d of %d queries", queries, rep.Queries)
	}
}

// A part that is interrupted ends all, and part 0 tells what is known.
func TestPartInterrupted(t *testing.T) {
	if !apart(t) {
		return
	}
	for _, i := range []int{0, 1} {
		ended, cancel := context.WithCancelCause(t.Context())
		var spread [2]atomic.Bool // in each part
		cfg := few(TCP)
		cfg.Warmup = time.Hour
		reports := runParts(t, cfg, 2, func(j int) context.Context {
			if i == j {
				return ended
			}
			return t.Context()
		}, func(j int, c *Config) {
			c.Progress = func(p Progress) {
				if p.Phase == Spreading && p.Done == p.Total {
					spread[j].Store(true)
				}
				if i == j && spread[0].Load() && spread[1].Load() {
					cancel(errors.New("enough"))
				}
			}
		})
		rep := reports[0]
		if rep.Parts != 2 || !strings.Contains(rep.Interrupted, "enough") || rep.Phase != Spreading || rep.PubsubBytes == 0 || rep.Queries > 0 {
			t.Errorf("part %d: interrupted %q while %s, %d bytes, %d queries", i, rep.Interrupted, rep.Phase, rep.PubsubBytes, rep.Queries)
		}
		if other := reports[1]; !strings.Contains(other.Interrupted, "enough") || !other.Merged {
			t.Errorf("part 1: interrupted %q, merged %v", other.Interrupted, other.Merged)
		}
		cancel(nil)
	}
}

// pretend is a part that only says how far it is.
type pretend struct {
	server *http.Server
	mu     sync.Mutex
	state  any
}

func newPretend(t *testing.T, at string, state any) *pretend {
	t.Helper()
	l, err := net.Listen("tcp", at)
	if err != nil {
		t.Fatal(err)
	}
	p := &pretend{state: state}
	p.server = &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		p.mu.Lock()
		defer p.mu.Unlock()
		_ = json.NewEncoder(w).Encode(p.state)
	})}
	go func() { _ = p.server.Serve(l) }()
	t.Cleanup(func() { p.server.Close() })
	return p
}

// A part that was started again, with the same options, or that gives no answer any more ends the run, with what is known
// of the others. Started again, it would go on as if it had been there from the beginning.
func TestPartLost(t *testing.T) {
	defer func(d time.Duration) { partLost = d }(partLost)
	partLost = time.Second
	for why, lose := range map[string]func(*pretend, partState){
		"it was started again": func(p *pretend, s partState) {
			p.mu.Lock()
			defer p.mu.Unlock()
			s.Start, s.Step = 2, arrived
			p.state = s
		},
		"": func(p *pretend, _ partState) { p.server.Close() },
	} {
		cfg := few(TCP)
		cfg.Warmup = time.Hour
		cfg.Part = Part{runs.Part{I: 0, Of: 2}, freePorts(t, 12)}
		r, err := newRun(cfg)
		if err != nil {
			t.Fatal(err)
		}
		places, err := r.cfg.Part.places(cfg.Peers)
		if err != nil {
			t.Fatal(err)
		}
		state := partState{Run: r.id(), Part: 1, Start: 1, Step: meshFormed}
		other := newPretend(t, places[1].String(), state)
		cfg.Progress = func(p Progress) {
			if p.Phase == Spreading && p.Done > 0 {
				lose(other, state)
			}
		}
		rep, err := Run(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(rep.Interrupted, "part 1 is lost: "+why) || rep.Phase != Spreading || rep.SummaryBytes == 0 || !slices.ContainsFunc(rep.Notes, func(n string) bool {
			return strings.Contains(n, "part 1 is lost: its peers and their queries are left out")
		}) {
			t.Errorf("%q: interrupted %q while %s, notes %q", why, rep.Interrupted, rep.Phase, rep.Notes)
		}
	}
}

// A part that is slow is given more time than one that is not there; none is missed before it has come.
func TestPatience(t *testing.T) {
	refused, slow := &net.OpError{Op: "dial", Err: errors.New("refused")}, &net.OpError{Op: "read", Err: os.ErrDeadlineExceeded}
	if a, b, c := patience(true, refused), patience(true, slow), patience(false, refused); a != partLost || b != partSlow || c != partsCome {
		t.Error(a, b, c)
	}
}

// Parts of other options, and what is no part, are not waited for.
func TestPartOfAnotherRun(t *testing.T) {
	cfg := few(TCP)
	cfg.Part = Part{runs.Part{I: 1, Of: 2}, freePorts(t, 12)}
	newPretend(t, cfg.Part.At, partState{Run: "another", Step: warmedUp})
	rep, err := Run(t.Context(), cfg)
	if err != nil || !strings.Contains(rep.Interrupted, "part 0 is lost: it has other options or other data") || rep.Merged || rep.Part != "1/2" {
		t.Errorf("%+v, %v", rep, err)
	}
	if _, err := Run(t.Context(), cfg); err != nil {
		t.Errorf("the ports are taken after the run: %v", err)
	}
}

// Every peer is in one part, and each part counts its own.
func TestPartPeers(t *testing.T) {
	for _, all := range []int{1, 7, 121} {
		for _, of := range []int{0, 1, 3, 7} {
			for i := range max(1, of) {
				p, here := Part{Part: runs.Part{I: i, Of: of}}, 0
				for peer := range all {
					if p.Has(peer) {
						here++
					}
				}
				if got := p.peers(all); got != here {
					t.Errorf("part %v of %d peers has %d, counts %d", p, all, here, got)
				}
			}
		}
	}
}

func TestPlaces(t *testing.T) {
	for _, c := range []struct {
		part  Part
		peers int
		want  string
	}{
		{Part{runs.Part{I: 0, Of: 3}, "10.0.0.1:9400"}, 10, "10.0.0.1:9400 10.0.0.1:9405 10.0.0.1:9410"},
		{Part{runs.Part{I: 0, Of: 3}, "venn-%d.venn:9400"}, 9, "venn-0.venn:9400 venn-1.venn:9400 venn-2.venn:9400"},
		{Part{runs.Part{I: 0, Of: 4}, "a:1000, b:2000"}, 4, "a:1000 b:2000 a:1002 b:2002"},
		{Part{runs.Part{I: 0, Of: 2}, "node%03d:9%d00"}, 4, "node000:9000 node001:9100"},
		{Part{runs.Part{I: 0, Of: 2}, "[::1]:70"}, 2, "[::1]:70 [::1]:72"},
	} {
		all, err := c.part.places(c.peers)
		if got := strings.Trim(fmt.Sprint(all), "[]"); err != nil || strings.ReplaceAll(got, "[[", "[") != strings.Trim(c.want, "[]") {
			t.Errorf("%+v: %s, %v, want %s", c.part, got, err, c.want)
		}
	}
	for _, c := range []struct {
		part  Part
		peers int
	}{
		{Part{runs.Part{I: 0, Of: 5}, DefaultAt}, 4},
		{Part{runs.Part{I: 0, Of: 2}, "host"}, 4},
		{Part{runs.Part{I: 0, Of: 2}, ":9400"}, 4},
		{Part{runs.Part{I: 0, Of: 2}, "host:0"}, 4},
		{Part{runs.Part{I: 0, Of: 2}, "host:65536"}, 4},
		{Part{runs.Part{I: 0, Of: 2}, "host:65530"}, 10},
		{Part{runs.Part{I: 0, Of: 2}, "host:9400,"}, 4},
		{Part{runs.Part{I: 0, Of: 2}, "host:%x"}, 4},
	} {
		if all, err := c.part.places(c.peers); !errors.Is(err, ErrConfig) {
			t.Errorf("%+v: %v, %v", c.part, all, err)
		}
	}
}

func TestBadPart(t *testing.T) {
	for what, cfg := range map[string]Config{
		"none":     {Part: Part{Part: runs.Part{I: 1}}},
		"too far":  {Part: Part{runs.Part{I: 2, Of: 2}, ""}},
		"negative": {Part: Part{runs.Part{I: -1, Of: 2}, ""}},
		"too many": {Part: Part{runs.Part{I: 0, Of: MaxParts + 1}, ""}},
		"sim":      {Part: Part{runs.Part{I: 0, Of: 2}, ""}, Transport: Sim},
		"churn":    {Part: Part{runs.Part{I: 0, Of: 2}, ""}, Churn: 0.1},
		"adds":     {Part: Part{runs.Part{I: 0, Of: 2}, ""}, Adds: 1},
		"faulty":   {Part: Part{runs.Part{I: 0, Of: 2}, ""}, Faulty: 1},
		"hold":     {Part: Part{runs.Part{I: 0, Of: 2}, ""}, Hold: func(*Report, []Address) {}},
		"nowhere":  {Part: Part{runs.Part{I: 0, Of: 2}, "here"}, Chunk: 1 << 24},
		"few":      {Part: Part{runs.Part{I: 0, Of: 9}, ""}, Peers: 3, Chunk: 1 << 24},
	} {
		if rep, err := Run(t.Context(), cfg); rep != nil || !errors.Is(err, ErrConfig) {
			t.Errorf("%s: %v, %v", what, rep, err)
		}
		if slices.Contains([]string{"churn", "adds", "faulty", "hold"}, what) { // a comparison has none of them either
			cfg.Part = Part{}
		}
		if c, err := Compare(t.Context(), cfg, VennSystem()); c != nil || !errors.Is(err, ErrConfig) {
			t.Errorf("%s: %v, %v of a comparison", what, c, err)
		}
	}
}

// aPartial has all its fields set, to different values.
func aPartial(k int) *partial {
	queries := []asked{
		{Query: sim.Query{Asker: k, Key: 3, Findable: 1, Latency: 5}},
		{Query: sim.Query{At: 1, Findable: 41 * k, Found: 30 * k, Probes: 30, Wasted: 2 * k, Messages: 60, Latency: float64(k)}, All: true, Wrong: k},
	}
	return &partial{
		Phase: Querying, Interrupted: "why", Notes: []string{"note"}, Members: 3 * k, Converged: time.Duration(k) * time.Second, Failed: k, Asking: time.Minute,
		Classes:   []classSums{{2 * k, 10, 2000, 0.5, queries}, {k, 20, 4000, 0.25, queries}},
		Summaries: 100,
		Sums: Sums{
			PubsubBytes: 50, DirectBytes: 40, ProtocolBytes: map[string]uint64{"/a": 1, fmt.Sprint("/", k): 2}, LinkBudgetUse: 0.5, ConnectionsMax: 4 + k,
			Neighbours:      judge.Neighbours{Peers: k, Mean: 0.5, Random: 0.25, Best: 0.75},
			EpochsPublished: 3, Deltas: 2, DeltaBytes: 10, FullBytes: 20, Refused: map[string]uint64{"x": 1}, Dropped: map[string]uint64{"y": 2}, Wronged: uint64(k), MemoryBytes: 1000,
		},
	}
}

// What a part tells comes to the others as it is, and adds up.
func TestPartialsAddUp(t *testing.T) {
	var a partial
	b, err := json.Marshal(aPartial(1))
	if err == nil {
		err = json.Unmarshal(b, &a)
	}
	if err != nil || !reflect.DeepEqual(&a, aPartial(1)) {
		t.Fatalf("%+v, %v, want %+v", a, err, aPartial(1))
	}
	a.merge(aPartial(3))
	got := a
	if got.Members != 12 || got.Converged != 3*time.Second || got.Failed != 4 || got.Asking != time.Minute || got.Summaries != 200 || got.ConnectionsMax != 7 ||
		got.ProtocolBytes["/a"] != 2 || got.ProtocolBytes["/1"] != 2 || got.ProtocolBytes["/3"] != 2 || got.MemoryBytes != 2000 || got.Refused["x"] != 2 || got.Wronged != 4 || got.Deltas != 4 {
		t.Errorf("%+v", got)
	}
	if c := got.Classes[0]; c.Peers != 8 || c.Parts != 20 || of(c.Asked, forAll).Found != 120 || len(c.Asked) != 4 || of(c.Asked, anyKind).wasted != 8 {
		t.Errorf("%+v", c)
	}
	if n := got.Neighbours; n.Peers != 4 || n.Mean != 0.5 {
		t.Errorf("%+v", n)
	}
	early := aPartial(1)
	early.Phase, early.Converged = Meshing, 0
	if got.merge(early); got.Phase != Meshing || got.Converged != 0 {
		t.Errorf("phase %s, converged after %v", got.Phase, got.Converged)
	}
}

// FuzzPartState reads what is no part, or says nonsense.
func FuzzPartState(f *testing.F) {
	p := &parts{run: "run", classes: 2}
	report, err := json.Marshal(aPartial(1))
	if err != nil {
		f.Fatal(err)
	}
	for _, s := range []partState{{Run: "run", Part: 1}, {Run: "run", Part: 1, Step: reported, Report: report}, {Run: "other"}} {
		b, err := json.Marshal(s)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add([]byte(`{"run":"run","part":1,"phase":"reported"}`))
	f.Add([]byte(`{"run":"run","part":1,"phase":"reported","report":null}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := p.parse(1, b)
		if err != nil {
			return
		}
		if s.Run != "run" || s.Part != 1 || s.Step < arrived || s.Step > merged {
			t.Errorf("%+v", s)
		}
		if s.Step >= reported {
			other, err := p.parseReport(s.Report)
			if err != nil {
				t.Fatal(err)
			}
			aPartial(2).merge(other)
		}
	})
}
