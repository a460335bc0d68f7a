package sim_test

import (
	"testing"
	"time"

	"github.com/venn-p2p/venn/testnet/sim"
	"github.com/venn-p2p/venn/testnet/sim/simtest"
	"github.com/venn-p2p/venn/testnet/strategy"
	"github.com/venn-p2p/venn/testnet/strategy/flooding"
	"github.com/venn-p2p/venn/testnet/strategy/kademlia"
	"github.com/venn-p2p/venn/testnet/strategy/oracle"
	"github.com/venn-p2p/venn/testnet/strategy/venn"
)

// sides puts every other peer on the other side.
func sides(n int) []uint8 {
	out := make([]uint8, n)
	for i := range out {
		out[i] = uint8(i % 2)
	}
	return out
}

// While a network is cut in two, what only the other side holds is not found; when the cut is healed, it is again. A
// strategy that chooses its links has to find its way back by itself.
func TestCut(t *testing.T) {
	data := simtest.Clusters(t, 60, 60)
	for _, s := range []strategy.Strategy{flooding.Strategy, venn.Strategy, kademlia.Strategy} {
		r := simtest.Run(t, sim.Config{
			Strategy: s, Data: data, Warmup: 30 * time.Second, Asking: 230 * time.Second, Script: sim.Script{
				Asks: simtest.Asks(data, 900, 30*time.Second, 250*time.Millisecond),
				Cuts: []sim.Cut{{From: 80 * time.Second, To: 140 * time.Second, Side: sides(60)}},
			},
		})
		before, cut := simtest.RecallBetween(r.Report, 0, 75*time.Second), simtest.RecallBetween(r.Report, 85*time.Second, 135*time.Second)
		after := simtest.RecallBetween(r.Report, 200*time.Second, time.Hour)
		t.Logf("%s: recall %.3f, %.3f in the cut, %.3f a minute after", s.Name, before, cut, after)
		if before < 0.95 || cut > before-0.05 || after < 0.95 {
			t.Errorf("%s: recall %.3f, %.3f in the cut, %.3f a minute after", s.Name, before, cut, after)
		}
	}
}

// A key that a peer takes in is found there, and one that it drops is not any more.
func TestChanges(t *testing.T) {
	data := simtest.Clusters(t, 40, 60)
	var script sim.Script
	const taken, dropped = 30 * time.Second, 100 * time.Second
	key := data.Collection(1)[0]
	for _, p := range data.Holders(key) {
		script.Changes = append(script.Changes, sim.Change{At: time.Second, Peer: p, Key: key})
	}
	script.Changes = append(script.Changes, sim.Change{At: taken, Peer: 5, Key: key, Held: true}, sim.Change{At: dropped, Peer: 5, Key: key})
	for _, at := range []time.Duration{20 * time.Second, 90 * time.Second, 150 * time.Second} {
		script.Asks = append(script.Asks, sim.Ask{At: at, Peer: 2, Key: key})
	}
	for _, s := range []strategy.Strategy{flooding.Strategy, oracle.Strategy, venn.Strategy} {
		r := simtest.Run(t, sim.Config{Strategy: s, Data: data, Asking: 160 * time.Second, Script: script})
		q := r.Queries
		if q[0].Findable != 0 || q[1].Findable != 1 || q[2].Findable != 0 || q[1].Found != 1 || q[2].Found != 0 {
			t.Errorf("%s: %+v", s.Name, q)
		}
	}
}

// A line that becomes slow makes what goes over it late.
func TestRates(t *testing.T) {
	data := simtest.Clusters(t, 30, 60)
	latency := func(script sim.Script) float64 {
		script.Asks = simtest.Asks(data, 200, 10*time.Second, 100*time.Millisecond)
		return simtest.Run(t, sim.Config{Strategy: oracle.Strategy, Data: data, Asking: time.Minute, Script: script}).Latency
	}
	var slow sim.Script
	for p := range strategy.ID(30) {
		slow.Rates = append(slow.Rates, sim.Rate{At: time.Second, Peer: p, Up: 8000, Down: 8000})
	}
	if fast, late := latency(sim.Script{}), latency(slow); late < 2*fast {
		t.Errorf("%v over slow lines, %v over fast ones", late, fast)
	}
}

// What is seen in detail adds up to what the report says.
func TestDetail(t *testing.T) {
	r := simtest.Run(t, simtest.Draw(sim.Config{Strategy: venn.Strategy, Data: simtest.Clusters(t, 40, 60)}, 100))
	var upkeep, kinds, messages, bytes int64
	for _, s := range r.Seconds {
		upkeep += s.Upkeep
	}
	for _, k := range r.Kinds {
		kinds += k.Bytes
	}
	for _, q := range r.Queries {
		messages, bytes = messages+int64(q.Messages), bytes+int64(q.Bytes)
	}
	// What is under way at the end is in no second.
	if upkeep > kinds || upkeep < kinds-kinds/1000 {
		t.Errorf("upkeep %d by second, %d by kind", upkeep, kinds)
	}
	if float64(messages)/100 != r.Messages || float64(bytes)/100 != r.Bytes {
		t.Errorf("%d messages and %d bytes of queries: %+v", messages, bytes, r)
	}
}
