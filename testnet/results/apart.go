package results

import "github.com/venn-p2p/venn/testnet/scenario"

// Apart compares the runs of one plan on both engines.
type Apart struct {
	Recall [2]float64 // recall in the simulator and on real hosts
	Ratios []Ratio
}

// Ratio has a quantity's values on both engines.
type Ratio struct {
	Name            string
	Simulated, Real float64
}

// Apart returns the simulated value over the real one, minus 1.
func (r Ratio) Apart() float64 { return r.Simulated/r.Real - 1 }

// Engines compares two runs of one plan: by recall, messages and bytes of a query, upkeep of a peer, and latency
// until the first holder is found.
func Engines(simulated, onHosts *scenario.Run) Apart {
	upkeep := func(r *scenario.Run) float64 {
		sum := int64(0)
		for _, k := range r.Kinds {
			sum += k.Bytes
		}
		return float64(sum) / float64(max(1, r.Peers)) / 1000
	}
	latency := func(r *scenario.Run, share float64) float64 {
		var all []float64
		for _, q := range r.Queries {
			if q.Latency >= 0 {
				all = append(all, q.Latency)
			}
		}
		return scenario.Quantile(all, share)
	}
	return Apart{
		Recall: [2]float64{scenario.Recall(simulated.Queries), scenario.Recall(onHosts.Queries)},
		Ratios: []Ratio{
			{"messages a query", simulated.Messages, onHosts.Messages},
			{"bytes a query", simulated.Bytes, onHosts.Bytes},
			{"upkeep of a peer, kB", upkeep(simulated), upkeep(onHosts)},
			{"latency, median, ms", latency(simulated, 0.5), latency(onHosts, 0.5)},
			{"latency, 99th percentile, ms", latency(simulated, 0.99), latency(onHosts, 0.99)},
		},
	}
}
