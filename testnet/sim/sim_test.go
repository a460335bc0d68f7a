package sim_test

import (
	"bytes"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/venn-p2p/venn/testnet/sim"
	"github.com/venn-p2p/venn/testnet/sim/simtest"
	"github.com/venn-p2p/venn/testnet/strategies"
)

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
	data := simtest.Clusters(t, 60, 100)
	for _, s := range strategies.All() {
		trace := func(seed uint64, each func(int, func(int))) (string, []byte) {
			var b bytes.Buffer
			n, err := sim.New(simtest.Draw(sim.Config{
				Strategy: s, Data: data, Warmup: 10 * time.Second, Asking: 10 * time.Second, Patience: 5 * time.Second,
				Loss: 0.05, Seed: seed, Each: each, Trace: &b,
			}, 50, sim.Churn{Median: 20 * time.Second}))
			if err != nil {
				t.Fatal(err)
			}
			n.AlwaysEach()
			r, err := n.Run()
			if err != nil {
				t.Fatal(err)
			}
			return r.Trace, b.Bytes()
		}
		first, a := trace(1, nil)
		calls := 0
		again, b := trace(1, func(n int, do func(int)) {
			calls++
			parallel(n, do)
		})
		if calls < 2400 { // one in each of 2,500 windows
			t.Errorf("%s: other processors were asked %d times", s.Name, calls)
		}
		if !bytes.Equal(a, b) || first != again {
			t.Errorf("%s: one seed, two traces of %d and %d bytes", s.Name, len(a), len(b))
		}
		if other, _ := trace(2, nil); other == first {
			t.Errorf("%s: two seeds, one trace", s.Name)
		}
	}
}
