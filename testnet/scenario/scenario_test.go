package scenario_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/venn-p2p/venn/testnet/holdings"
	"github.com/venn-p2p/venn/testnet/misdeed"
	"github.com/venn-p2p/venn/testnet/scenario"
	"github.com/venn-p2p/venn/testnet/sim"
	"github.com/venn-p2p/venn/testnet/strategy"
	"github.com/venn-p2p/venn/testnet/strategy/flooding"
	"github.com/venn-p2p/venn/testnet/strategy/planetp"
	"github.com/venn-p2p/venn/testnet/strategy/venn"
)

func parse(t testing.TB, text string) *scenario.Scenario {
	t.Helper()
	s, err := scenario.Parse("dir/name.toml", text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func plan(t testing.TB, s *scenario.Scenario) *scenario.Plan {
	t.Helper()
	p, err := s.Plan(0)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// A mistake is named with file, line and key.
func TestMistakes(t *testing.T) {
	const head = "question = \"?\"\npeers = 10\n"
	for text, want := range map[string]string{
		"peers = 10":                         "name.toml:1: question: a scenario says",
		head + "wamup = \"3s\"":              "name.toml:3: wamup: there is no such key",
		head + "warmup = \"3\"":              "name.toml:3: warmup:",
		head + "warmup = \"-3s\"":            "name.toml:3: warmup:",
		head + "[queries]\nrule = \"often\"": "name.toml:4: queries.rule: \"often\" is none of",
		head + "[queries]\nnumber = -1":      "name.toml:4: queries.number: -1",
		head + "[latency]\nmatrix = 3":       "line 4",
		head + "peers = 11":                  "toml:3: peers",
		head + "warmup = \"0s\"":             "name.toml:3: warmup: zero stands for the default, 1m0s: leave",
		head + "[collections]\noutside = 0":  "name.toml:4: collections.outside: zero stands for the default, 0.1:",
		head + "[queries]\nzipf = 0.0":       "name.toml:4: queries.zipf: zero stands",
		head + "[[lines]]\nup=\"1mbit\"\ndown=\"1mbit\"\n[[lines]]\nup=\"1mbit\"\ndown=\"1mbit\"\nshare=0": "name.toml:9: lines.1.share: zero stands",
		head + `latency = { most = "0s" }`: "name.toml:3: latency.most: zero stands",
		head + `"warmup" = "0s"`:           "warmup: zero stands",
		head + "[\"queries\"]\nzipf = 0.0": "queries.zipf: zero stands",
		head + `lines = [{ up="1mbit", down="1mbit" }, { up="1mbit", down="1mbit", share=0 }]`:            "name.toml:3: lines.1.share: zero stands",
		head + "[[lines]]\nup = \"1 mbit\"":                                                               "name.toml:4: lines.up:",
		head + "[[lines]]\nup = \"1mbit\"":                                                                "name.toml:3: lines.0.down: a line has a rate each way",
		head + "[parameters]\nbits = -1":                                                                  "name.toml:4: parameters.bits",
		head + "[answers.planetp]\nrecall=[]":                                                             "line 4",
		head + "[answers.planetp]\nrecall=[0.0, 1.0]":                                                     "name.toml:3: answers.planetp: the scenario does not run",
		head + "[answers.venn]\nrecal=[0.0, 1.0]":                                                         "name.toml:4: answers.venn.recal: is none of",
		head + "[[events]]\nat=\"2s\"\nkind=\"heal\"":                                                     "name.toml:5: events.0.kind: there is no partition",
		head + "[[events]]\nat=\"9s\"\nkind=\"partition\"\n[[events]]\nkind=\"heal\"":                     "name.toml:6: events.1.at: 0s comes before",
		head + "[[events]]\nkind=\"kill\"\nshare=0.1\n[[events]]\nkind=\"slow\"\nshare=.1":                "toml:8: ",
		head + "[[adversaries]]\nkind=\"liar\"\nnumber=10":                                                "name.toml:5: adversaries.0.number",
		head + "[collections]\nkeys = 5000000000000000000":                                                "name.toml:4: collections.keys: 5000000000000000000 is not from 1",
		head + "[[events]]\nkind=\"crowd\"\nqueries=1000000000":                                           "name.toml:5: events.0.queries: 1000000000 is not from 1",
		head + "[[events]]\nkind=\"crowd\"\nqueries=6000000\n[[events]]\nkind=\"crowd\"\nqueries=6000000": "name.toml:8: events.1.queries: 6000000",
		head + "[windows]\nlate=[\"1h\", \"2h\"]":                                                         "name.toml:4: windows.late: begins at 1h0m0s, after the end",
		head + "[windows]\ncut=[\"9s\", \"3s\"]":                                                          "name.toml:4: windows.cut",
		head + "warmup = \"2000000h\"\nasking = \"2000000h\"":                                             "name.toml:3: warmup: 2000000h0m0s",
		head + "[[events]]\nkind=\"crowd\"\nqueries=1000000000000":                                        "name.toml:5: events.0.queries",
		head + "[[events]]\nkind=\"clock\"\nshare=1.0\nby=\"2562047h\"":                                   "name.toml:6: events.0.by",
		head + "[[events]]\nkind=\"kill\"\nshare=1.0\nback=\"2562047h\"":                                  "name.toml:6: events.0.back",
		head + "[sessions]\nmedian=\"2562047h\"":                                                          "name.toml:4: sessions.median",
		head + strings.Repeat("[[adversaries]]\nkind=\"ghosts\"\nnumber=1\nidentities=600000\n", 2):       "adversaries.1.identities",
		head + strings.Repeat("[[adversaries]]\nkind=\"liar\"\nnumber=5\n", 2):                            "adversaries.1.number",
	} {
		_, err := scenario.Parse("dir/name.toml", text)
		if !errors.Is(err, scenario.ErrScenario) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	const oneShare = head + `lines = [{ up="1mbit", down="1mbit" }, { up="1mbit", down="1mbit", share=0.5 }]`
	if _, err := scenario.Parse("dir/name.toml", oneShare); err != nil {
		t.Errorf("one line says its share, the other does not: %v", err)
	}
}

// Files that a scenario names are checked when the plan is drawn, and errors name their lines.
func TestMistakesInFiles(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write("m.csv", "1,2\n3\n")
	write("n.csv", "1,2\n3,x\n")
	write("q.csv", "1,0,0\n2,nobody,0\n")
	write("k.csv", "1,0,0\n2,0,#99999999\n")
	write("t.csv", "1e9,0,0\n")
	write("zeros.csv", "1,0,0\n"+strings.Repeat("\x00", 1<<20)) // no table: refused before it fills the memory
	for text, want := range map[string]string{
		"[latency]\nmatrix=\"m.csv\"":         "m.csv: record on line 2",
		"[latency]\nmatrix=\"n.csv\"":         "n.csv: line 2: column 2: \"x\"",
		"[latency]\nmatrix=\"gone.csv\"":      "gone.csv",
		"[queries]\nlog=\"q.csv\"":            "q.csv: line 2: there is no peer \"nobody\"",
		"[queries]\nlog=\"k.csv\"":            "k.csv: line 2: there is no key \"#99999999\"",
		"[queries]\nlog=\"t.csv\"":            "t.csv: line 1: \"1e9\" is no time",
		"[queries]\nlog=\"zeros.csv\"":        "a line has more than 65536 bytes",
		"[collections]\ndata=\"nothing.tsv\"": "nothing.tsv",
	} {
		write("s.toml", "question=\"?\"\npeers=10\n"+text)
		s, err := scenario.Load(filepath.Join(dir, "s.toml"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err = s.Plan(0); !errors.Is(err, scenario.ErrScenario) || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "s.toml:4: ") {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// More changes than fit in memory are refused before they are drawn.
func TestTooManyChanges(t *testing.T) {
	const text = "question=\"?\"\npeers=4\nasking=\"900h\"\n[collections]\nkeys=10000\n[changes]\nshare=1.0\nnew=1.0\n"
	if _, err := parse(t, text).Plan(0); !errors.Is(err, scenario.ErrScenario) || !strings.Contains(err.Error(), "changes.share") {
		t.Error(err)
	}
}

// A plan follows from the seed; what one event draws does not change what others do.
func TestPlan(t *testing.T) {
	const text = "question=\"?\"\npeers=40\n[collections]\nkeys=50\n[sessions]\nmedian=\"1m\"\n[changes]\nshare=0.2\nnew=0.5\n"
	a, again := plan(t, parse(t, text)), plan(t, parse(t, text))
	if !reflect.DeepEqual(a.Script, again.Script) || !reflect.DeepEqual(a.Keys, again.Keys) {
		t.Error("one seed, two plans")
	}
	other := plan(t, parse(t, "seed=1\n"+text))
	if reflect.DeepEqual(a.Script.Asks, other.Script.Asks) {
		t.Error("two seeds, one plan")
	}
	crowd := plan(t, parse(t, text+"[[events]]\nat=\"70s\"\nkind=\"crowd\"\nqueries=30\nover=\"3s\"\n[[events]]\nat=\"90s\"\nkind=\"crowd\"\nqueries=30\n"))
	if !reflect.DeepEqual(a.Script.Moves, crowd.Script.Moves) || !reflect.DeepEqual(a.Script.Changes, crowd.Script.Changes) {
		t.Error("a crowd changes who is there or what they hold")
	}
	seen := map[sim.Ask]bool{}
	for _, q := range a.Script.Asks {
		seen[q] = true
	}
	keys := map[bool]map[uint32]int{true: {}, false: {}} // of the first crowd, and of the second
	same := 0
	for _, q := range crowd.Script.Asks {
		if seen[q] {
			same++
			continue
		}
		keys[q.At < 80*time.Second][q.Key]++
	}
	if same != len(a.Script.Asks) || len(keys[true]) != 1 || len(keys[false]) != 1 || reflect.DeepEqual(keys[true], keys[false]) {
		t.Errorf("%d of %d queries are as without crowds, which ask for %v", same, len(a.Script.Asks), keys)
	}
}

// Every query is one: the asker is there and lacks the key, which another that is there holds. Killed peers stay away.
func TestPlanIsSound(t *testing.T) {
	p := plan(t, parse(t, `question = "?"
peers = 60
[collections]
keys = 60
[sessions]
median = "90s"
[changes]
share = 0.3
new = 0.3
[[adversaries]]
kind = "liar"
number = 5
[[events]]
at = "80s"
kind = "kill"
share = 0.5
[[events]]
at = "90s"
kind = "crowd"
queries = 20
over = "2s"
`))
	online, held := make([]bool, 60), holdings.NewNow(p.Data.Table)
	for i := range online {
		online[i] = true
	}
	moves, changes, killed := p.Script.Moves, p.Script.Changes, 0
	for _, q := range p.Script.Asks {
		for ; len(moves) > 0 && moves[0].At <= q.At; moves = moves[1:] {
			online[moves[0].Peer] = moves[0].Online
		}
		for ; len(changes) > 0 && changes[0].At <= q.At; changes = changes[1:] {
			if !held.Change(changes[0].Peer, changes[0].Key, changes[0].Held) {
				t.Fatalf("%+v changes nothing", changes[0])
			}
		}
		findable := 0
		for _, h := range held.Holders(q.Key) {
			if online[h] && p.Adversaries[h] == "" {
				findable++
			}
		}
		if !online[q.Peer] || p.Adversaries[q.Peer] != "" || held.Holds(q.Peer, q.Key) || findable == 0 {
			t.Fatalf("%+v is no query: %v, %d findable", q, online[q.Peer], findable)
		}
	}
	for _, on := range online {
		if !on {
			killed++
		}
	}
	if len(p.Script.Asks) < 500 || len(p.Script.Changes) < 1000 || killed < 25 {
		t.Errorf("%d queries, %d changes, %d away at the end", len(p.Script.Asks), len(p.Script.Changes), killed)
	}
}

// The scenario that a newcomer writes in 20 lines: the partition is to be seen in the recall over time.
func TestNewcomer(t *testing.T) {
	s, err := scenario.Load("testdata/newcomer.toml")
	if err != nil {
		t.Fatal(err)
	}
	if lines := strings.Count(s.Text(), "\n"); lines > 20 {
		t.Errorf("%d lines", lines)
	}
	r := simulate(t, s, venn.Strategy)
	recall := func(from, to float64) float64 {
		var in []sim.Query
		for _, q := range r.Queries {
			if q.At >= from && q.At < to {
				in = append(in, q)
			}
		}
		return scenario.Recall(in)
	}
	before, cut, after := recall(30, 60), recall(62, 120), recall(140, 180)
	t.Logf("recall %.3f before, %.3f in the partition, %.3f after", before, cut, after)
	if before < 0.95 || cut > before-0.03 || after < 0.95 {
		t.Errorf("recall %.3f before, %.3f in the partition, %.3f after", before, cut, after)
	}
}

func simulate(t testing.TB, s *scenario.Scenario, by strategy.Strategy) *scenario.Run {
	t.Helper()
	r, err := scenario.Simulate(context.Background(), plan(t, s), by, scenario.SimulateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Each kind of adversary harms the peers that it is to harm. A clock that jumps and peers of the version before harm
// nobody.
func TestPeers(t *testing.T) {
	const head = "question=\"?\"\npeers=60\nwarmup=\"20s\"\nasking=\"40s\"\n[collections]\nkeys=60\n"
	run := func(text string, by strategy.Strategy) (*scenario.Run, map[string]float64) {
		s := parse(t, head+text)
		r := simulate(t, s, by)
		return r, s.Values(r)
	}
	adversary := func(kind string) string { return "[[adversaries]]\nkind=\"" + kind + "\"\nnumber=20\n" }
	good, plain := run("", venn.Strategy)
	if plain["recall"] < 0.99 || good.Wrong != 0 {
		t.Fatalf("recall %v, %d wrong", plain["recall"], good.Wrong)
	}
	if r, _ := run(adversary("liar"), venn.Strategy); r.Wrong == 0 {
		t.Error("nobody believes a liar")
	}
	if _, v := run(adversary("free-rider"), flooding.Strategy); v["messages"] >= 0.9*values(t, head, flooding.Strategy)["messages"] {
		t.Error("free riders pass queries on")
	}
	if _, v := run(adversary("silent"), flooding.Strategy); v["messages"] >= 0.9*values(t, head, flooding.Strategy)["messages"] {
		t.Error("silent peers pass queries on")
	}
	few := "all=true\n"
	full := values(t, few+head, flooding.Strategy)
	if v := values(t, few+head+adversary("censor"), flooding.Strategy); v["recall"] >= full["recall"] {
		t.Errorf("recall %v with censors, %v without", v["recall"], full["recall"])
	}
	for name, text := range map[string]string{
		"clocks": "[[events]]\nat=\"30s\"\nkind=\"clock\"\nshare=0.5\nby=\"10m\"\n", "older": "[[events]]\nkind=\"older\"\nshare=0.5\n",
	} {
		if _, v := run(text, venn.Strategy); v["recall"] < 0.98 {
			t.Errorf("%s: recall %v", name, v["recall"])
		}
	}
	if _, err := plan(t, parse(t, head+"[[events]]\nkind=\"older\"\nshare=0.5\n")).Strategy(flooding.Strategy); !errors.Is(err, scenario.ErrScenario) {
		t.Errorf("flooding has a version before: %v", err)
	}
	if _, err := plan(t, parse(t, head+"[changes]\nshare=0.5\n")).Strategy(planetp.Strategy); !errors.Is(err, scenario.ErrScenario) {
		t.Errorf("planetp follows changes: %v", err)
	}
}

// Adversaries of venn's own kinds misbehave in the simulator, the same way however many processors step them. Their
// messages are seen, and the others find what they look for.
func TestAdversaries(t *testing.T) {
	const head = "question=\"?\"\npeers=30\nwarmup=\"20s\"\nasking=\"20s\"\n[collections]\nkeys=40\n[queries]\nnumber=100\n[parameters]\norigins=100\n"
	quiet := values(t, head, venn.Strategy)
	for _, kind := range misdeed.Kinds {
		s := parse(t, head+"[[adversaries]]\nkind=\""+kind+"\"\nnumber=10\n")
		r := simulate(t, s, venn.Strategy)
		v := s.Values(r)
		t.Logf("%s: recall %.3f, %.0f kB, of a quiet network %.0f kB", kind, v["recall"], v["upkeep"], quiet["upkeep"])
		if v["recall"] < 0.95 || v["upkeep"] < 1.01*quiet["upkeep"] {
			t.Errorf("%s: recall %v, %v kB of upkeep, %v without", kind, v["recall"], v["upkeep"], quiet["upkeep"])
		}
		if _, err := plan(t, s).Strategy(flooding.Strategy); !errors.Is(err, scenario.ErrScenario) {
			t.Errorf("flooding has adversaries of kind %s: %v", kind, err)
		}
		both, err := scenario.Simulate(context.Background(), plan(t, s), venn.Strategy, scenario.SimulateOptions{Each: func(n int, do func(int)) {
			var group sync.WaitGroup
			for i := range n {
				group.Go(func() { do(i) })
			}
			group.Wait()
		}})
		if err != nil || both.Trace != r.Trace {
			t.Errorf("%s: other processors, another trace: %v", kind, err)
		}
	}
}

// A share of the peers that join later are not there before; those there from the start are linked all the same.
func TestJoin(t *testing.T) {
	s := parse(t, "question=\"?\"\npeers=60\nwarmup=\"30s\"\nasking=\"60s\"\n[collections]\nkeys=40\n[windows]\nbefore=[\"30s\",\"50s\"]\n"+
		"[[events]]\nat=\"50s\"\nkind=\"join\"\nshare=0.8\nover=\"5s\"\n")
	for _, by := range []strategy.Strategy{venn.Strategy, flooding.Strategy} {
		r := simulate(t, s, by)
		v := s.Values(r)
		if r.Seconds[49].Online != 12 || r.Seconds[56].Online != 60 || v["recall_before"] < 0.9 || v["recall"] < 0.95 {
			t.Errorf("%s: %d peers before, %d after; recall %v, before %v", by.Name, r.Seconds[49].Online, r.Seconds[56].Online, v["recall"], v["recall_before"])
		}
	}
}

func values(t testing.TB, text string, by strategy.Strategy) map[string]float64 {
	t.Helper()
	s := parse(t, text)
	return s.Values(simulate(t, s, by))
}

// Whatever a file says, it is refused or can be explained.
func FuzzParse(f *testing.F) {
	f.Add("question=\"?\"\npeers=10\n[[events]]\nkind=\"kill\"\nshare=0.5\n")
	f.Add("question=\"?\"\npeers=3\ntrials=1\n[latency]\nleast=\"1ms\"\n[windows]\na=[\"1s\",\"2s\"]\n")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := scenario.Parse("fuzz.toml", text)
		if err != nil {
			if !errors.Is(err, scenario.ErrScenario) {
				t.Fatal(err)
			}
			return
		}
		if s.Peers > 50 || s.Collections.Keys > 100 || s.Collections.Data != scenario.Clusters || s.Queries.Number > 1000 || s.End() > time.Hour ||
			s.Collections.Size > 100 || s.Latency.Matrix != "" || s.Queries.Log != "" || s.Changes.Share > 0.1 || len(s.Events) > 3 ||
			s.Sessions.Median > 0 && s.Sessions.Median < scenario.Duration(time.Minute) {
			return
		}
		for _, e := range s.Events {
			if e.Queries > 1000 {
				return
			}
		}
		if _, err := s.Explain(); err != nil && !errors.Is(err, scenario.ErrScenario) {
			t.Fatal(err)
		}
	})
}
