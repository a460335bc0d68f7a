package simrecord

import (
	"bytes"
	"context"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/venn-p2p/venn/cmd/venn/view"
	"github.com/venn-p2p/venn/testnet/sim"
	"github.com/venn-p2p/venn/testnet/sim/simtest"
	"github.com/venn-p2p/venn/testnet/strategy"
	"github.com/venn-p2p/venn/testnet/strategy/venn"
)

// simulate runs a small network and returns its report and, where wanted, its recording.
func simulate(t *testing.T, seed uint64, churn time.Duration, recorded bool) (*sim.Sim, *sim.Report, []byte) {
	t.Helper()
	const peers = 100
	data, err := sim.NewClusters(sim.Clusters{Peers: peers, Keys: 30, Size: 20}, rand.New(rand.NewPCG(seed, 1)))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	r, err := New(&out, "test")
	if err != nil {
		t.Fatal(err)
	}
	var s *sim.Sim
	look := func(now, end time.Duration) bool {
		if recorded {
			if err := r.Look(s, now, end); err != nil {
				t.Error(err)
			}
		}
		return true
	}
	s, err = sim.New(simtest.Draw(sim.Config{
		Strategy: venn.Strategy, Data: data, Seed: seed, Warmup: 20 * time.Second, Asking: 5 * time.Second, Patience: 5 * time.Second,
		Notes: recorded, Progress: look,
	}, 40, sim.Churn{Median: churn}))
	if err != nil {
		t.Fatal(err)
	}
	report, err := s.Run()
	if err != nil {
		t.Fatal(err)
	}
	end := time.Duration(report.Virtual) * time.Second
	look(end, end)
	return s, report, out.Bytes()
}

// line is a line of a recording of any kind.
type line struct {
	Type    string
	T       int64
	N       int
	Held    [][4]float64
	Links   json.RawMessage // a number in a status
	Learned [][4]int64
	Steps   []view.Step
	Found   []int
	Sent    uint64
	Group   string
}

func TestSimulationIsRecorded(t *testing.T) {
	s, report, recording := simulate(t, 1, 0, true)
	path := filepath.Join(t.TempDir(), "run.ndjson")
	if err := os.WriteFile(path, recording, 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := view.Open(path)
	if err != nil || file.Cut {
		t.Fatalf("the reader of views says %v, cut %v", err, file.Cut)
	}
	count := map[string]int{}
	held, links, heard, sent := map[[2]int]int{}, map[int]int{}, map[[2]int]bool{}, map[int]uint64{}
	kinds := map[string]int{}
	steps, last := 0, int64(0)
	err = file.Follow(context.Background(), func(lines [][]byte) error {
		for _, text := range lines {
			var l line
			if err := json.Unmarshal(text, &l); err != nil {
				return err
			}
			if l.T < last {
				t.Errorf("a line of %d ms after one of %d ms", l.T, last)
			}
			last = l.T
			count[l.Type]++
			switch l.Type {
			case "peer":
				if l.Group == "" {
					t.Errorf("peer %d has no group", l.N)
				}
			case "status":
				sent[l.N] = l.Sent
			case "held":
				for _, c := range l.Held {
					held[[2]int{l.N, int(c[0])}] = int(c[1])
				}
			case "links":
				var all [][]any
				if err := json.Unmarshal(l.Links, &all); err != nil {
					return err
				}
				links[l.N] = len(all)
				for _, x := range all {
					kinds[x[1].(string)]++
				}
			case "learned":
				for _, x := range l.Learned {
					heard[[2]int{l.N, int(x[0])}] = true
				}
			case "query":
				steps += len(l.Steps)
				for _, p := range l.Found {
					if p < 0 || p >= 100 {
						t.Errorf("a query found peer %d", p)
					}
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if count["peer"] != 100 || count["query"] != len(report.Queries) || count["epoch"] < 100 || steps == 0 {
		t.Errorf("lines %v and %d steps, want 100 peers, %d queries with steps, an epoch of each", count, steps, len(report.Queries))
	}
	if kinds["overlap"] == 0 || kinds["random"] == 0 {
		t.Errorf("kinds of links %v, want overlap and random among them", kinds)
	}
	pairs := 0
	for i := range 100 {
		id := strategy.ID(i)
		if links[i] != len(s.Links(id)) {
			t.Errorf("peer %d has %d links in the recording, %d in the network", i, links[i], len(s.Links(id)))
		}
		if sent[i] == 0 {
			t.Errorf("peer %d sent nothing", i)
		}
		for _, d := range s.Peer(id).(venn.Watched).Overlay().Directory() {
			of := int(venn.IDOf(d.Peer))
			if pairs++; held[[2]int{i, of}] != d.Parts || !heard[[2]int{i, of}] {
				t.Errorf("peer %d holds %d parts of %d's summary, the recording has %d, learned %v", i, d.Parts, of, held[[2]int{i, of}], heard[[2]int{i, of}])
			}
		}
	}
	if pairs < 5000 {
		t.Errorf("the peers hold %d summaries, too few to say anything", pairs)
	}
}

// Peers that leave take what they held along. The recording follows from the seed, and changes nothing of the run.
func TestSimulationIsRepeated(t *testing.T) {
	_, plain, _ := simulate(t, 2, 20*time.Second, false)
	_, first, a := simulate(t, 2, 20*time.Second, true)
	_, _, b := simulate(t, 2, 20*time.Second, true)
	_, _, other := simulate(t, 3, 20*time.Second, true)
	if !bytes.Equal(a, b) {
		t.Error("two runs of a seed are recorded differently")
	}
	if bytes.Equal(a, other) {
		t.Error("runs of two seeds are recorded alike")
	}
	if plain.Trace != first.Trace {
		t.Error("recording changes the run")
	}
	if !slices.ContainsFunc(bytes.Split(a, []byte("\n")), func(l []byte) bool {
		return bytes.Contains(l, []byte(`"type":"links"`)) && bytes.Contains(l, []byte(`"links":[]`))
	}) {
		t.Error("nobody who left is seen without links")
	}
}
