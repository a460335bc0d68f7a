package testnet

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/venn-p2p/venn/node"
	"github.com/venn-p2p/venn/node/leaktest"
	"github.com/venn-p2p/venn/testnet/link"
	"github.com/venn-p2p/venn/testnet/workload"
)

func TestMain(m *testing.M) {
	leaktest.AtOnce(6)
	leaktest.Main(m)
}

const apartVariable = "VENN_TEST_APART"

// apart runs a test beside others, in a process of its own, for a run counts the goroutines of its process. It returns
// true there.
func apart(t *testing.T) bool {
	t.Helper()
	if os.Getenv(apartVariable) != "" {
		return true
	}
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", fmt.Sprint("-test.v=", testing.Verbose()), fmt.Sprint("-test.short=", testing.Short()))
	cmd.Env = append(os.Environ(), apartVariable+"=1")
	out, err := cmd.CombinedOutput()
	if t.Logf("%s", out); err != nil {
		t.Error(err)
	}
	return false
}

// TestNotStarted: a run that ends before its peers have been made says of none that they know each other.
func TestNotStarted(t *testing.T) {
	r := &run{stage: &stage{all: make([]peer.AddrInfo, 10)}}
	if r.known(nil); r.converged != 0 {
		t.Errorf("peers that never started know each other after %v", r.converged)
	}
}

// TestHeld: a peer that may keep few others is not expected to know everybody, and what one keeps beyond that does not
// stand in for another.
func TestHeld(t *testing.T) {
	all := make([]node.Status, 3)
	for i, f := range []node.Figures{{Origins: 9, Links: 4}, {Origins: 3, Links: 2}, {Origins: 7, Links: 8}} {
		all[i].Figures = f
	}
	for origins, want := range map[int][2]int{0: {19, 27}, 3: {7 + 3 + 7, 7 + 5 + 9}} {
		r := &run{stage: &stage{all: make([]peer.AddrInfo, 10), cfg: Config{Origins: origins}}}
		if held, wanted := r.held(all); held != want[0] || wanted != want[1] {
			t.Errorf("origins %d: %d pairs of %d, want %v", origins, held, wanted, want)
		}
	}
}

func few(transport Transport) Config {
	return Config{Peers: 6, Chunk: 1 << 20, Queries: 20, Transport: transport, Warmup: 3 * time.Second, Seed: 1}
}

// patient gives queries the time that they need on a busy machine.
func patient(c Config) Config {
	c.FindTimeout = time.Minute
	return c
}

// goodRun returns the report of the run that counts, and fails the test if it is not good. In a good run no link carries
// more than its budget. Short runs have few seconds: what a busy machine sends late adds up. That is no excuse for what
// must never happen, in any run.
func goodRun(t *testing.T, cfg Config, good func(*Report) bool) (rep *Report) {
	t.Helper()
	Judge(t, func() string {
		var err error
		if rep, err = Run(t.Context(), cfg); err != nil {
			t.Fatal(err)
		}
		never(t, rep)
		if *rep.GoroutinesLeft > 0 {
			t.Errorf("%d goroutines are left", *rep.GoroutinesLeft)
		}
		if good(rep) && budgeted(rep) {
			return ""
		}
		return fmt.Sprintf("%d queries, %d errors, find one %.3f, find all %.3f, %d epochs of %d peers, refused %v, budget use %.3f, adds %+v",
			rep.Queries, rep.QueryErrors, *rep.FindOne.Recall, *rep.FindAll.Recall, rep.EpochsPublished, rep.Peers, rep.Refused,
			rep.LinkBudgetUse, rep.Adds)
	})
	return rep
}

// budgeted says whether all links carried no more than their budgets.
func budgeted(rep *Report) bool {
	return rep.LinkBudgetUse <= 1 && (rep.Adds == nil || rep.Adds.All.BudgetUse <= 1)
}

// never holds a run to what must not happen on a busy machine either.
func never(t *testing.T, rep *Report) {
	t.Helper()
	if rep.WrongHolders > 0 {
		t.Errorf("%d peers were named as holders that hold nothing of the kind", rep.WrongHolders)
	}
	if rep.Wronged > 0 {
		t.Errorf("%d messages of honest peers were refused: %v", rep.Wronged, rep.Refused)
	}
	if rep.Adds != nil && rep.Adds.All.Wrong > 0 {
		t.Errorf("%d peers were named as holders of new keys that do not hold them", rep.Adds.All.Wrong)
	}
}

// A network of a few peers, whatever carries it, finds nearly everything and leaves nothing behind. Peers that misbehave
// in every way that they know do no harm, and what they sent is refused by name.
func TestRun(t *testing.T) {
	if !apart(t) {
		return
	}
	for _, transport := range Transports {
		t.Run(string(transport), func(t *testing.T) {
			var phases []Phase
			cfg := patient(few(transport))
			if transport == TCP { // a false claim costs an ask, which ends after 4 s
				cfg.Faulty, cfg.Warmup, cfg.Observer = 4, 10*time.Second, missed{t}
			}
			cfg.Progress = func(p Progress) {
				if p.Phase == Starting {
					phases = phases[:0]
				}
				if len(phases) == 0 || phases[len(phases)-1] != p.Phase {
					phases = append(phases, p.Phase)
				}
			}
			found := func(rep *Report) bool {
				return rep.QueryErrors == 0 && *rep.FindOne.Recall >= 0.9 && *rep.FindAll.Recall >= 0.9
			}
			missing := func(rep *Report) (reasons []string) {
				for _, reason := range []string{"rpc malformed", "rpc over the limit", "unasked"} {
					if cfg.Faulty > 0 && rep.Refused[reason] == 0 {
						reasons = append(reasons, reason)
					}
				}
				return reasons
			}
			rep := goodRun(t, cfg, func(rep *Report) bool { return found(rep) && len(missing(rep)) == 0 })
			if reasons := missing(rep); len(reasons) > 0 {
				t.Errorf("nothing was refused as %q: %v", reasons, rep.Refused)
			}
			if want := []Phase{Starting, Meshing, Spreading, Querying, Closing}; !slices.Equal(phases, want) {
				t.Errorf("phases %q, want %q", phases, want)
			}
			if rep.Queries != 40 || !found(rep) {
				t.Errorf("%d queries, find one %+v, find all %+v", rep.Queries, rep.FindOne, rep.FindAll)
			}
			if rep.LinkBudgetUse <= 0 || rep.PubsubBytes == 0 || rep.ConnectionsMax < 2 {
				t.Errorf("budget use %v, %d bytes by pubsub, %d connections", rep.LinkBudgetUse, rep.PubsubBytes, rep.ConnectionsMax)
			}
			checkTable(t, rep)
			checkJSON(t, rep)
		})
	}
}

// missed logs the queries that found nobody.
type missed struct{ t *testing.T }

func (missed) Started(Running) {}

func (m missed) Answered(a Answered) {
	if len(a.Found) == 0 {
		m.t.Logf("peer %d found nobody, all %v: %+v, %v", a.Asker, a.All, a.Stats, a.Err)
	}
}

// watchedHost says when it is closed.
type watchedHost struct {
	host.Host
	closing func()
}

func (h watchedHost) Close() error {
	h.closing()
	return h.Host.Close()
}

// All nodes end before a host does: those that run would dial the peers that they lose, and others in their place.
func TestNodesCloseFirst(t *testing.T) {
	r, err := newRun(few(TCP))
	if err != nil {
		t.Fatal(err)
	}
	if err := r.peers(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, m := range r.members {
		m.host = watchedHost{m.host, func() {
			for _, other := range r.members {
				if other.node.Ready() {
					t.Errorf("a host closes while node %d runs", other.number)
				}
			}
		}}
	}
	r.close()
}

// Peers that keep summaries of a few others never know everybody, and find what they look for through others.
func TestRanges(t *testing.T) {
	if testing.Short() {
		t.Skip("takes half a minute")
	}
	if !apart(t) {
		return
	}
	cfg := patient(few(TCP))
	cfg.Warmup = 12 * time.Second
	cfg.Peers, cfg.Connections, cfg.Origins, cfg.Memory = 16, MinConnections, 4, 1<<20
	found := func(rep *Report) bool { return *rep.FindOne.Recall >= 0.9 }
	rep := goodRun(t, cfg, found)
	if rep.ConvergenceSeconds != nil {
		t.Errorf("every peer knows every other after %v s", *rep.ConvergenceSeconds)
	}
	if rep.Queries != 40 || !found(rep) {
		t.Errorf("%d queries, find one %+v", rep.Queries, rep.FindOne)
	}
}

// checkTable holds the table to 80 columns.
func checkTable(t *testing.T, rep *Report) {
	t.Helper()
	var b bytes.Buffer
	if err := rep.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(b.String()) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 80 {
			t.Errorf("a line of %d columns: %q", n, line)
		}
	}
}

// checkJSON holds the names that scripts rely on.
func checkJSON(t *testing.T, rep *Report) {
	t.Helper()
	b, err := json.Marshal(rep)
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]any
	if err := json.Unmarshal(b, &fields); err != nil {
		t.Fatal(err)
	}
	has := func(of any, names ...string) {
		t.Helper()
		object, _ := of.(map[string]any)
		for _, n := range names {
			if _, ok := object[n]; !ok {
				t.Errorf("the report has no field %q", n)
			}
		}
	}
	has(fields, "peers", "keys", "holdings", "seed", "transport", "wall_seconds", "convergence_seconds", "queries", "find_one", "find_all",
		"probes_per_query", "false_probes_per_query", "messages_per_query", "latency_ms", "classes", "summary_bytes_per_peer",
		"pubsub_bytes", "direct_bytes", "delta_bytes", "full_bytes", "epochs_published", "refused", "link_budget_use_max", "connections_max", "neighbours", "goroutines_left")
	has(fields["find_one"], "queries", "answered", "recall")
	has(fields["find_all"], "queries", "recall")
	has(fields["latency_ms"], "p50", "p99")
	has(fields["neighbours"], "mean_overlap", "random_overlap", "best_overlap")
	classes, _ := fields["classes"].(map[string]any)
	has(classes, "256kbit", "2mbit", "10mbit")
	has(classes["2mbit"], "peers", "parts_held", "bytes_held", "expected_false_matches", "find_one_recall", "find_all_recall",
		"probes_per_query", "false_probes_per_query", "messages_per_query")
}

// Wherever a run is cut off, it ends soon, leaves nothing behind, and reports what is known.
func TestRunCutOff(t *testing.T) {
	if !apart(t) {
		return
	}
	for _, phase := range []Phase{Starting, Meshing, Spreading, Querying} {
		t.Run(string(phase), func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			cfg := few(TCP)
			cfg.Queries, cfg.Warmup = 100_000, time.Second
			cfg.Progress = func(p Progress) {
				if p.Phase == phase && (phase == Meshing || phase == Spreading || p.Done > 0) {
					cancel(errors.New("enough"))
				}
			}
			rep, err := Run(ctx, cfg)
			if err != nil {
				t.Fatal(err)
			}
			if rep.Phase != phase || rep.Interrupted != "enough" || *rep.GoroutinesLeft != 0 {
				t.Errorf("phase %q, interrupted %q, %d goroutines left", rep.Phase, rep.Interrupted, *rep.GoroutinesLeft)
			}
			var text strings.Builder
			if err := rep.WriteText(&text); err != nil || phase == Starting && (rep.ConvergenceSeconds != nil || !regexp.MustCompile(`10mbit +0 +– +– +– (?s:.*)own keys +–\n`).MatchString(text.String())) {
				t.Errorf("%v; knows what cannot be known yet:\n%s", err, &text)
			}
			if phase == Querying {
				if rep.Queries == 0 || rep.Queries >= 200_000 || rep.FindOne.Recall == nil {
					t.Errorf("%d queries, find one %+v", rep.Queries, rep.FindOne)
				}
			} else if rep.Queries != 0 || rep.FindOne.Recall != nil {
				t.Errorf("%d queries, find one %+v before there were any", rep.Queries, rep.FindOne)
			}
			checkTable(t, rep)
			checkJSON(t, rep)
		})
	}
}

func TestTimeout(t *testing.T) {
	cfg := few(TCP)
	cfg.Timeout, cfg.Warmup = time.Second, time.Hour
	rep, err := Run(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if rep.Interrupted != "timeout" || rep.Phase == Querying || rep.Queries != 0 {
		t.Errorf("interrupted %q in phase %q after %d queries", rep.Interrupted, rep.Phase, rep.Queries)
	}
	if text, err := json.Marshal(rep); err != nil || !bytes.Contains(text, []byte(`"latency_ms":{"p50":null,"p99":null}`)) ||
		bytes.Count(text, []byte(`"messages_per_query":null`)) != 1+len(rep.Classes) {
		t.Errorf("figures of no queries are not null in %s, %v", text, err)
	}
}

func TestHold(t *testing.T) {
	cfg := few(TCP)
	cfg.Queries, cfg.Warmup = 1, -1
	var held *Report
	cfg.Hold = func(rep *Report, all []Address) {
		held = rep
		if len(all) != 6 || all[0].Name != "web-nginx" || !strings.HasPrefix(all[0].Multiaddr, "/ip4/127.0.0.1/tcp/") {
			t.Errorf("addresses %v", all)
		}
		if rep.GoroutinesLeft != nil {
			t.Error("goroutines are counted while the peers run")
		}
	}
	if rep, err := Run(t.Context(), cfg); err != nil || rep != held {
		t.Errorf("held %p, got %p, %v", held, rep, err)
	}
}

func TestBadConfig(t *testing.T) {
	for what, cfg := range map[string]Config{
		"peers":     {Peers: 1},
		"too many":  {Peers: workload.MaxPeers + 1},
		"negative":  {Peers: -1},
		"queries":   {Queries: -1},
		"like":      {QueriesLike: "nothing.csv"},
		"slow":      {Links: link.Mix{{Name: "7999bit", Rate: leastRate - 1, Weight: 1}}},
		"transport": {Transport: "pigeon"},
		"shape":     {Shape: true, Transport: QUIC},
		"share":     {SummaryShare: 1.5},
		"no share":  {SummaryShare: -0.5},
		"timeout":   {Timeout: -1},
		"find":      {FindTimeout: -1},
		"few lines": {Connections: MinConnections - 1},
		"origins":   {Origins: -1},
		"memory":    {Memory: MinMemory - 1},
		"churn":     {Churn: 1.5},
		"minutes":   {Churn: 0.5, Minutes: -1},
		"adds":      {Adds: -1},
		"many adds": {Adds: MaxAdds + 1},
		"no adds":   {Adds: math.NaN()},
	} {
		if rep, err := Run(t.Context(), cfg); rep != nil || !errors.Is(err, ErrConfig) {
			t.Errorf("%s: %v, %v", what, rep, err)
		}
	}
	if rep, err := Run(t.Context(), Config{Data: "testdata/none"}); rep != nil || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing data: %v, %v", rep, err)
	}
}
