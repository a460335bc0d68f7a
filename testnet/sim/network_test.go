package sim_test

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/venn-p2p/venn/summary"
	"github.com/venn-p2p/venn/testnet/sim"
	"github.com/venn-p2p/venn/testnet/sim/simtest"
	"github.com/venn-p2p/venn/testnet/strategy"
	"github.com/venn-p2p/venn/testnet/strategy/flooding"
	"github.com/venn-p2p/venn/testnet/strategy/oracle"
)

func TestBadData(t *testing.T) {
	if _, err := sim.NewData(make([]summary.Fingerprint, 2), [][]uint32{{1, 0}}); !errors.Is(err, sim.ErrData) {
		t.Errorf("keys out of order: %v", err)
	}
	if _, err := sim.NewData(make([]summary.Fingerprint, 2), [][]uint32{{0}, {}}); !errors.Is(err, sim.ErrData) {
		t.Errorf("an empty collection: %v", err)
	}
}

func TestTopologies(t *testing.T) {
	const n, degree = 2000, 8
	for _, kind := range []sim.Kind{sim.Random, sim.SmallWorld, sim.PowerLaw} {
		edges := sim.Topology{Kind: kind, Degree: degree}.Edges(n, rand.New(rand.NewPCG(1, 1)))
		links, pairs := make([]int, n), map[[2]strategy.ID]bool{}
		for _, e := range edges {
			links[e[0]]++
			links[e[1]]++
			pair := [2]strategy.ID{min(e[0], e[1]), max(e[0], e[1])}
			if e[0] == e[1] || pairs[pair] {
				t.Errorf("%s: %v again, or of one peer", kind, e)
			}
			pairs[pair] = true
		}
		most := 0
		for _, l := range links {
			most = max(most, l)
		}
		if mean := 2 * float64(len(edges)) / n; math.Abs(mean-degree) > 0.2*degree {
			t.Errorf("%s: %.2f links on average, want %d", kind, mean, degree)
		}
		if hubs := most > 10*degree; hubs != (kind == sim.PowerLaw) {
			t.Errorf("%s: the most links of a peer are %d", kind, most)
		}
		if components := sim.Components(n, edges); components != 1 {
			t.Errorf("%s: %d components", kind, components)
		}
	}
}

// A topology in two parts is said to be so, and what is in the other part isn't found.
func TestDisconnected(t *testing.T) {
	var edges [][2]strategy.ID
	for _, e := range (sim.Topology{}).Edges(50, rand.New(rand.NewPCG(1, 1))) {
		edges = append(edges, e, [2]strategy.ID{e[0] + 50, e[1] + 50})
	}
	r := simtest.Run(t, simtest.Draw(sim.Config{Strategy: flooding.Strategy, Data: simtest.Clusters(t, 100, 50), Edges: edges}, 200))
	if r.Components != 2 || r.Recall > 0.98 || r.Recall < 0.3 {
		t.Errorf("%d components, recall %v", r.Components, r.Recall)
	}
}

// Half of the sessions are shorter than the median, and as many peers are there as sessions and absences say.
func TestChurn(t *testing.T) {
	var trace bytes.Buffer
	r := simtest.Run(t, simtest.Draw(sim.Config{
		Strategy: oracle.Strategy, Data: simtest.Clusters(t, 400, 20),
		Warmup: time.Minute, Trace: &trace,
	}, 300, sim.Churn{Median: time.Minute, Shape: 1, Away: time.Minute}))
	if share := r.Online / 400; share < 0.42 || share > 0.58 {
		t.Errorf("%.2f of the peers are there, want half", share)
	}
	if r.Recall < 0.97 {
		t.Errorf("the oracle's recall is %v", r.Recall)
	}
}

type stepper func(time.Duration, strategy.Input)

func (s stepper) Step(now time.Duration, in strategy.Input) { s(now, in) }

func TestStopped(t *testing.T) {
	s, err := sim.New(simtest.Draw(sim.Config{
		Strategy: oracle.Strategy, Data: simtest.Clusters(t, 20, 20),
		Progress: func(now, _ time.Duration) bool { return now < 30*time.Second },
	}, 100))
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Run()
	if !errors.Is(err, sim.ErrStopped) || r.Virtual < 30 || r.Virtual > 32 || simtest.Of(r).Answered == 0 {
		t.Errorf("%v s, %v", r.Virtual, err)
	}
}
