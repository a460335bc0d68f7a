package sim_test

import (
	"bytes"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/venn-p2p/venn/testnet/sim"
	"github.com/venn-p2p/venn/testnet/strategy"
)

func clusters(t testing.TB, peers, keys int) *sim.Data {
	t.Helper()
	d, err := sim.NewClusters(sim.Clusters{Peers: peers, Keys: keys}, rand.New(rand.NewPCG(1, 2)))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func run(t testing.TB, cfg sim.Config) *sim.Report {
	t.Helper()
	s, err := sim.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Run()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// parallel runs all at once, in an order of chance.
func parallel(n int, do func(i int)) {
	var all sync.WaitGroup
	for _, i := range rand.Perm(n) {
		all.Go(func() { do(i) })
	}
	all.Wait()
}

// Every strategy: the same seed gives the same trace, in whatever order peers are stepped; another seed gives another.
func TestSameSeedSameTrace(t *testing.T) {
	data := clusters(t, 60, 100)
	for _, s := range strategy.All() {
		trace := func(seed uint64, each func(int, func(int))) (string, []byte) {
			var b bytes.Buffer
			r := run(t, sim.Config{
				Strategy: s, Data: data, Queries: 50, Warmup: 10 * time.Second, Asking: 10 * time.Second, Patience: 5 * time.Second,
				Churn: sim.Churn{Median: 20 * time.Second}, Loss: 0.05, Seed: seed, Each: each, Trace: &b,
			})
			return r.TraceHash, b.Bytes()
		}
		first, a := trace(1, nil)
		again, b := trace(1, parallel)
		if d, err := sim.Diff(bytes.NewReader(a), bytes.NewReader(b)); err != nil || d != nil || first != again {
			t.Errorf("%s: one seed, two traces: %v, %v", s.Name, d, err)
		}
		if other, _ := trace(2, nil); other == first {
			t.Errorf("%s: two seeds, one trace", s.Name)
		}
	}
}

func TestOracleAndFlooding(t *testing.T) {
	for _, s := range []strategy.Strategy{strategy.Oracle, strategy.Flooding} {
		r := run(t, sim.Config{Strategy: s, Data: clusters(t, 100, 100), Queries: 500, Seed: 3})
		t.Logf("%+v", r)
		if r.Recall != 1 || r.Wrong != 0 || r.Queries != 500 {
			t.Errorf("%s: recall %v of %d queries, %d wrong", s.Name, r.Recall, r.Queries, r.Wrong)
		}
		if s.Name == "oracle" && (r.MessagesPerQuery != 2 || r.WastedProbesPerQuery != 0 || r.UpkeepBytesPerPeer != r.ConnectBytes) {
			t.Errorf("oracle: %+v", r)
		}
		if s.Name == "flooding" && (r.MessagesPerQuery < 90 || r.Hops < 1) {
			t.Errorf("flooding: %+v", r)
		}
	}
}
